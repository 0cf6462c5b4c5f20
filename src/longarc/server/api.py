"""The JSON interface under `/api`: parse, draw, and walk through a parse step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from longarc.data.sentence import Sentence
from longarc.drawing.svg import svg_tree
from longarc.drawing.text import text_tree
from longarc.drawing.tikz import tikz_tree
from longarc.runtime.parsed import ParsedSentence
from longarc.runtime.parser import Parser
from longarc.runtime.steps import Arc, Choice, Derivation, model_steps, oracle_steps
from longarc.server.limits import Limits
from longarc.server.problem import Problem
from longarc.server.read_input import check_lengths, read_conllu, read_text, read_tokens
from longarc.server.served_models import acknowledgements
from longarc.server.service import Service
from longarc.trees.structure import find_cycle

Picture = Literal["svg", "text", "tikz"]
BESIDE = {"nl-covington": "covington"}
"""The system whose oracle is shown beside a model's own; for all others it is NL-Covington."""

MODEL = Field(None, description="One of `/api/models`; the default model unless given.", examples=["english"])


class Request(BaseModel):
    """What to work on: exactly one of `text`, `conllu` and `tokens`."""

    model_config = ConfigDict(extra="forbid")

    text: str | None = Field(None, description="Raw text.", examples=["She left. Nobody knew why."])
    conllu: str | None = Field(None, description="Sentences in CoNLL-U or CoNLL-X; predicted columns are replaced.")
    tokens: list[list[str]] | None = Field(None, description="Sentences as lists of words.")
    model: str | None = MODEL


class ParseRequest(Request):
    keep_tags: bool = Field(False, description="Leave the tags of the input as they are.")
    probabilities: bool = Field(False, description="Tell how probable each arc was.")
    pictures: list[Picture] = Field([], description="Drawings that are wanted with each tree.", max_length=3)


class StepsRequest(Request):
    sentence: Annotated[int, Field(description="Which sentence of the input to walk through, from 1.", ge=1)] = 1


class DrawRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    conllu: str = Field(description="Trees in CoNLL-U; nothing is parsed.")
    pictures: list[Picture] = Field(["svg"], min_length=1, max_length=3)
    theme: Literal["light", "dark", "auto"] = "auto"
    tags: bool = True
    features: bool = False


class Token(BaseModel):
    """A word, with the columns of CoNLL-U under the names that they have elsewhere in Longarc."""

    id: int
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int = Field(description="0 is the artificial root.")
    relation: str
    misc: str
    probability: float | None = Field(
        None, description="Of the transition that made the arc, among those that were legal then."
    )


class Tree(BaseModel):
    conllu: str = Field(description="The sentence with everything that was in the input.")
    tokens: list[Token]
    pictures: dict[Picture, str] = {}


class ParseAnswer(BaseModel):
    model: str
    acknowledgements: list[str]
    sentences: list[Tree]


class DrawAnswer(BaseModel):
    sentences: list[dict[Picture, str]]


class ArcOut(BaseModel):
    head: int
    dependent: int
    relation: str


class ChoiceOut(BaseModel):
    name: str = Field(description="As in the papers.", examples=["Left-Arc_2"])
    arc: ArcOut | None = Field(description="The arc that the transition makes.")
    probability: float | None = Field(description="With this relation; null where an oracle chose.")
    any_relation: float | None = Field(description="With whatever relation.")


class StepOut(BaseModel):
    taken: ChoiceOut
    alternatives: list[ChoiceOut] = Field(description="The next best choices, the best first.")
    lists: dict[str, list[int]] = Field(description="The configuration afterwards; its arcs are those made so far.")


class DerivationOut(BaseModel):
    system: str
    by: Literal["model", "oracle"]
    initial: dict[str, list[int]]
    steps: list[StepOut]
    attached: list[ArcOut] = Field(description="Arcs of words that no transition gave a head.")


class StepsAnswer(BaseModel):
    model: str
    words: list[str]
    derivations: list[DerivationOut]


class ModelOut(BaseModel):
    name: str
    system: str
    treebank: str
    licence: str
    tokenizer: bool = Field(description="Whether it has learnt to split text; if not, rules do it.")


class LimitsOut(BaseModel):
    request_bytes: int
    sentence_words: int
    drawn_words: int
    step_words: int


class ModelsAnswer(BaseModel):
    version: str
    default: str
    models: list[ModelOut]
    limits: LimitsOut


class Failure(BaseModel):
    """Why a request was not answered."""

    error: str
    hint: str
    line: int | None = Field(description="The line of the input, where one is at fault.")


FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure, "description": text}
    for status, text in {
        400: "The body cannot be read.",
        401: "The token is missing or wrong.",
        413: "The request or a sentence is too large.",
        422: "The input is not as it must be.",
        429: "Too much is waiting; try again.",
        503: "It took too long, or the server shuts down.",
    }.items()
}


def make_router(service: Service, version: str) -> APIRouter:
    """The routes for an application."""
    router = APIRouter(prefix="/api", tags=["JSON"], responses=FAILURES)

    @router.get("/models", summary="The models that are offered, and the limits")
    async def models() -> ModelsAnswer:
        offered = [_model(name, parser) for name, parser in service.models.parsers.items()]
        return ModelsAnswer(
            version=version, default=service.models.default, models=offered, limits=_limits(service.limits)
        )

    @router.post("/parse", summary="Parse text, CoNLL-U or words")
    async def parse(request: ParseRequest) -> ParseAnswer:
        name, parser = service.models.find(request.model)
        sentences = await service.run_in_thread(reader(request, parser))
        parsed = await service.parse(
            name, parser, sentences, keep_tags=request.keep_tags, probabilities=request.probabilities
        )
        trees = await service.run_in_thread(lambda: [_tree(tree, request.pictures, service.limits) for tree in parsed])
        return ParseAnswer(model=name, acknowledgements=acknowledgements(parser), sentences=trees)

    @router.post("/draw", summary="Draw trees that are there already")
    async def draw(request: DrawRequest) -> DrawAnswer:
        def work() -> list[dict[Picture, str]]:
            sentences = read_conllu(request.conllu)
            check_lengths(sentences, service.limits)
            for sentence in sentences:
                if cycle := find_cycle(sentence.heads):
                    around = " → ".join(map(str, [*cycle, cycle[0]]))
                    raise Problem(422, f"the heads form a cycle: {around}", line=sentence.line)
            return [
                pictures(s, request.pictures, service.limits, request.theme, request.tags, request.features)
                for s in sentences
            ]

        return DrawAnswer(sentences=await service.run_in_thread(work))

    @router.post("/steps", summary="Walk through the transitions that parse a sentence")
    async def steps(request: StepsRequest) -> StepsAnswer:
        name, parser = service.models.find(request.model)

        def work() -> StepsAnswer:
            sentences = reader(request, parser)()
            if request.sentence > len(sentences):
                raise Problem(422, f"there is no sentence {request.sentence}: the input has {len(sentences)}")
            sentence = sentences[request.sentence - 1]
            if len(sentence) > service.limits.step_words:
                limit = f"the longest that can be walked through has {service.limits.step_words}"
                raise Problem(413, f"the sentence has {len(sentence):,} words, {limit}")
            own = model_steps(parser, sentence)
            beside = oracle_steps(parser.parse(sentence), BESIDE.get(own.system, "nl-covington"))
            derivations = [_derivation(own, "model"), _derivation(beside, "oracle")]
            return StepsAnswer(model=name, words=sentence.forms, derivations=derivations)

        return await service.run_in_thread(work)

    return router


def reader(request: Request, parser: Parser) -> Callable[[], list[Sentence]]:
    """What will read the sentences of a request."""
    given = [key for key in ("text", "conllu", "tokens") if getattr(request, key) is not None]
    if len(given) != 1:
        found = f"found {' and '.join(given)}" if given else "found none of them"
        raise Problem(422, f"expected exactly one of text, conllu and tokens, {found}")
    if request.tokens is not None:
        tokens = request.tokens
        return lambda: read_tokens(tokens)
    if request.conllu is not None:
        conllu = request.conllu
        return lambda: list(read_conllu(conllu))
    text = request.text or ""
    return lambda: read_text(parser, text)


def pictures(
    sentence: Sentence,
    wanted: Sequence[Picture],
    limits: Limits,
    theme: Literal["light", "dark", "auto"] = "auto",
    tags: bool = True,
    features: bool = False,
) -> dict[Picture, str]:
    """Drawings of a tree; none where it is too large to be drawn."""
    if len(sentence) > limits.drawn_words:
        return {}
    found: dict[Picture, str] = {}
    for kind in wanted:
        match kind:
            case "svg":
                found[kind] = svg_tree(sentence, tags=tags, features=features, theme=theme)
            case "text":
                found[kind] = text_tree(sentence, tags=tags, features=features)
            case "tikz":
                found[kind] = tikz_tree(sentence, tags=tags, features=features)
    return found


def _tree(parsed: ParsedSentence, wanted: Sequence[Picture], limits: Limits) -> Tree:
    tokens = [Token.model_construct(**vars(token)) for token in parsed]
    return Tree.model_construct(conllu=parsed.to_conllu(), tokens=tokens, pictures=pictures(parsed, wanted, limits))


def _derivation(derivation: Derivation, by: Literal["model", "oracle"]) -> DerivationOut:
    steps = [
        StepOut(taken=_choice(step.taken), alternatives=list(map(_choice, step.alternatives)), lists=step.lists)
        for step in derivation.steps
    ]
    return DerivationOut(
        system=derivation.system,
        by=by,
        initial=derivation.initial,
        steps=steps,
        attached=[_arc(arc) for arc in derivation.attached],
    )


def _choice(choice: Choice) -> ChoiceOut:
    return ChoiceOut(
        name=choice.name,
        arc=_arc(choice.arc) if choice.arc else None,
        probability=choice.probability,
        any_relation=choice.any_relation,
    )


def _arc(arc: Arc) -> ArcOut:
    return ArcOut(head=arc.head, dependent=arc.dependent, relation=arc.relation)


def _model(name: str, parser: Parser) -> ModelOut:
    return ModelOut(
        name=name,
        system=parser.system.name,
        treebank=str(parser.card.get("treebank", "")),
        licence=str(parser.card.get("licence", "")),
        tokenizer=parser.description.tokenizer is not None,
    )


def _limits(limits: Limits) -> LimitsOut:
    return LimitsOut(
        request_bytes=limits.request_bytes,
        sentence_words=limits.sentence_words,
        drawn_words=limits.drawn_words,
        step_words=limits.step_words,
    )

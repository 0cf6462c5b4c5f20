"""The JSON interface under `/api`: parse sentences, draw and compare trees, step through the transitions of a parse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.responses import Response

from longarc import __version__
from longarc.data.characters import LineBreaks
from longarc.data.conllx import to_conllu
from longarc.data.sentence import Sentence
from longarc.data.word import Word
from longarc.drawing.svg import Theme, svg_tree
from longarc.drawing.text import text_tree
from longarc.drawing.tikz import tikz_tree
from longarc.runtime.auto_parser import words_in
from longarc.runtime.parser import Parser
from longarc.runtime.steps import NodeArc, Step, model_steps, oracle_steps
from longarc.server.limits import Limits
from longarc.server.problem import DESCRIPTIONS, Problem
from longarc.server.read_input import read_conllu, read_text, read_tokens
from longarc.server.served_models import card_text, get_acknowledgements
from longarc.server.service import Service
from longarc.server.tree_pairs import TreePair, read_pairs, read_trees
from longarc.server.work import Cancellation

Picture = Literal["svg", "text", "tikz"]
COMPARED_SYSTEMS = {"nl-covington": "covington"}
"""The system whose oracle is shown beside the model's own system; NL-Covington if not listed."""


# Without `fail_fast`, a list of a million wrong values would give a million error messages.
Pictures = Annotated[list[Picture], Field(max_length=3, fail_fast=True)]
SentencesOfWords = Annotated[list[Annotated[list[str], Field(fail_fast=True)]], Field(fail_fast=True)]
MAX_KEYS = 20


class RequestModel(BaseModel):
    """Base of the requests."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def check_size(cls, data: Any) -> Any:
        """Reject an object with many unknown keys, since each of them would give an error message."""
        if isinstance(data, dict) and len(data) > MAX_KEYS:
            raise ValueError(f"an object with more than {MAX_KEYS} keys")
        return data


class InputRequest(RequestModel):
    """The input: exactly one of `text`, `conllu` and `tokens`."""

    text: str | None = Field(None, description="Raw text.", examples=["She left. Nobody knew why."])
    conllu: str | None = Field(None, description="Sentences in CoNLL-U or CoNLL-X; predicted columns are replaced.")
    tokens: SentencesOfWords | None = Field(None, description="Sentences as lists of words.")
    line_breaks: LineBreaks = Field(
        "auto",
        description="What a single line break of `text` is: possibly the end of a sentence (auto), the end of a "
        "paragraph (paragraphs), or white space (spaces).",
    )
    model: str | None = Field(
        None,
        description="One of `/api/models`, or its language; `auto` recognizes the language; the default if missing.",
        examples=["en_ewt"],
    )

    @property
    def words(self) -> str:
        """The words of the input, by which its language is recognized."""
        forms = " ".join(form for sentence in (self.tokens or [])[:MAX_KEYS] for form in sentence)
        return self.text or forms or words_in(self.conllu or "")


class ParseRequest(InputRequest):
    keep_tags: bool = Field(False, description="Keep the tags of the input.")
    probabilities: bool = Field(False, description="Return the probability of each arc.")
    pictures: Pictures = Field([], description="Formats in which to draw each tree.")


class StepsRequest(InputRequest):
    sentence: int = Field(1, description="The number of the sentence to step through, from 1.", ge=1)


class DrawRequest(RequestModel):
    conllu: str = Field(description="Trees in CoNLL-U; they are not parsed again.")
    against: str | None = Field(None, description="Gold trees of the same sentences: show where they differ.")
    pictures: Pictures = Field(["svg"], min_length=1)
    theme: Theme = "auto"
    tags: bool = True
    features: bool = False


class CompareRequest(RequestModel):
    conllu: str = Field(description="Trees in CoNLL-U; they are not parsed again.")
    gold: str = Field(description="The gold trees of the same sentences, in CoNLL-U.")


class ResponseModel(BaseModel):
    """Base of the responses. Docstrings become descriptions, those of the dataclasses in a response included."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class WordResponse(ResponseModel):
    """The columns of a word, as in CoNLL-U."""

    id: int
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    """0 is the artificial root"""
    relation: str
    misc: str
    probability: float | None
    """The probability of the transition that added the word's arc, relation included, among the transitions that were
    legal; null for a word that no transition attached."""


class TreeResponse(ResponseModel):
    conllu: str
    """The sentence in CoNLL-U, with everything that was in the input."""
    tokens: list[WordResponse]
    pictures: dict[Picture, str] = {}


class ParseResponse(ResponseModel):
    model: str
    acknowledgements: list[str]
    sentences: list[TreeResponse]


class DrawResponse(ResponseModel):
    sentences: list[dict[Picture, str]]


class ComparedTreeResponse(ResponseModel):
    conllu: str
    gold: str
    words: int
    correct_heads: int
    correct_arcs: int
    """Words with the correct head and relation."""
    differing: list[int]
    """The numbers of the words whose head or relation differs."""


class CompareResponse(ResponseModel):
    sentences: list[ComparedTreeResponse]


class DerivationResponse(ResponseModel):
    system: str
    by: Literal["model", "oracle"]
    initial: dict[str, list[int]]
    steps: tuple[Step, ...]
    attached: tuple[NodeArc, ...]
    """The arcs of words to which no transition gave a head."""


class StepsResponse(ResponseModel):
    model: str
    words: list[str]
    derivations: list[DerivationResponse]


class ModelResponse(ResponseModel):
    name: str
    system: str
    treebank: str
    licence: str
    tokenizer: bool
    """Whether the model has a tokenizer of its own; if not, rules split text."""


class LimitsResponse(ResponseModel):
    request_bytes: int
    sentence_words: int
    drawn_words: int
    step_words: int


class ModelsResponse(ResponseModel):
    version: str
    default: str
    models: list[ModelResponse]
    limits: LimitsResponse


class ErrorResponse(ResponseModel):
    error: str
    hint: str
    line: int | None
    """The line of the input at fault, if known."""


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorResponse, "description": text} for status, text in DESCRIPTIONS.items()
}


def make_router(service: Service) -> APIRouter:
    """Return the routes of the JSON interface."""
    router = APIRouter(prefix="/api", tags=["JSON"], responses=ERRORS)

    @router.get("/models", summary="List the models and the limits")
    async def models() -> ModelsResponse:
        return ModelsResponse(
            version=__version__,
            default=service.models.default,
            models=[_describe_model(name, parser) for name, parser in service.models.parsers.items()],
            limits=LimitsResponse.model_validate(service.limits, from_attributes=True),
        )

    @router.post("/parse", summary="Parse text, CoNLL-U or words", response_model=ParseResponse)
    async def parse(request: ParseRequest) -> Response:
        name, parser = service.models.find(request.model, request.words)
        sentences = await service.run_in_thread(partial(read_sentences, request, parser))
        parsed = await service.parse(
            name, parser, sentences, keep_tags=request.keep_tags, probabilities=request.probabilities
        )
        response = ParseResponse(model=name, acknowledgements=get_acknowledgements(parser), sentences=[])
        return await service.run_in_thread(partial(_write_trees, response, parsed, request.pictures, service.limits))

    @router.post("/draw", summary="Draw trees")
    async def draw(request: DrawRequest) -> DrawResponse:
        def work(cancellation: Cancellation) -> list[dict[Picture, str]]:
            return [
                draw_pictures(
                    tree,
                    request.pictures,
                    service.limits,
                    theme=request.theme,
                    tags=request.tags,
                    features=request.features,
                    against=gold,
                )
                for tree, gold in cancellation.watch(_read_drawn(request, service.limits, cancellation))
            ]

        return DrawResponse(sentences=await service.run_in_thread(work))

    @router.post("/compare", summary="Compare trees with gold trees over the same words")
    async def compare(request: CompareRequest) -> CompareResponse:
        def work(cancellation: Cancellation) -> list[ComparedTreeResponse]:
            pairs = read_pairs(request.conllu, request.gold, service.limits, cancellation)
            return [_describe_pair(pair) for pair in cancellation.watch(pairs)]

        return CompareResponse(sentences=await service.run_in_thread(work))

    @router.post("/steps", summary="Step through the transitions that parse a sentence")
    async def steps(request: StepsRequest) -> StepsResponse:
        name, parser = service.models.find(request.model, request.words)

        def work(cancellation: Cancellation) -> StepsResponse:
            sentences = read_sentences(request, parser, cancellation)
            if request.sentence > len(sentences):
                raise Problem(422, f"there is no sentence {request.sentence}: the input has {len(sentences)}")
            sentence = sentences[request.sentence - 1]
            if len(sentence) > service.limits.step_words:
                limit = f"the maximum for stepping is {service.limits.step_words}"
                raise Problem(413, f"the sentence has {len(sentence):,} words, {limit}")
            model = model_steps(parser, sentence)
            cancellation.check()
            oracle = oracle_steps(parser.parse(sentence), COMPARED_SYSTEMS.get(model.system, "nl-covington"))
            derivations = [
                DerivationResponse(by="model", **vars(model)),
                DerivationResponse(by="oracle", **vars(oracle)),
            ]
            return StepsResponse(model=name, words=sentence.forms, derivations=derivations)

        return await service.run_in_thread(work)

    return router


def read_sentences(request: InputRequest, parser: Parser, cancellation: Cancellation) -> Sequence[Sentence]:
    """Read the sentences of a request."""
    inputs = [key for key in ("text", "conllu", "tokens") if getattr(request, key) is not None]
    if len(inputs) != 1:
        names = " and ".join(inputs) or "none of them"
        raise Problem(422, f"expected exactly one of text, conllu and tokens, found {names}")
    if request.tokens is not None:
        return read_tokens(request.tokens, cancellation)
    if request.conllu is not None:
        return read_conllu(request.conllu, cancellation)
    return read_text(parser, request.text or "", cancellation, line_breaks=request.line_breaks)


def draw_pictures(
    sentence: Sentence,
    formats: Sequence[Picture],
    limits: Limits,
    *,
    theme: Theme = "auto",
    tags: bool = True,
    features: bool = False,
    against: Sentence | None = None,
) -> dict[Picture, str]:
    """Draw a tree in each format, compared with a gold tree if there is one; return {} if it is too large to draw."""
    characters = sum(len(cell) for word in sentence.word_rows for cell in word)
    if len(sentence) > limits.drawn_words or characters > limits.drawn_characters:
        return {}
    functions: dict[Picture, Callable[..., str]] = {
        "svg": partial(svg_tree, theme=theme),
        "text": text_tree,
        "tikz": tikz_tree,
    }
    return {name: functions[name](sentence, tags=tags, features=features, against=against) for name in formats}


def _read_drawn(
    request: DrawRequest, limits: Limits, cancellation: Cancellation
) -> Sequence[tuple[Sentence, Sentence | None]]:
    """Return the trees to draw, each with its gold tree if the request has any."""
    if request.against is None:
        return [(tree, None) for tree in read_trees(request.conllu, limits, cancellation)]
    pairs = read_pairs(request.conllu, request.against, limits, cancellation)
    return [(pair.tree, pair.gold) for pair in pairs]


def _describe_pair(pair: TreePair) -> ComparedTreeResponse:
    words = len(pair.tree)
    return ComparedTreeResponse(
        conllu=to_conllu(pair.tree).to_conll(),
        gold=to_conllu(pair.gold).to_conll(),
        words=words,
        correct_heads=words - int(pair.diff.heads.sum()),
        correct_arcs=words - int(pair.diff.arcs.sum()),
        differing=np.flatnonzero(pair.diff.arcs).tolist(),
    )


def _write_trees(
    response: ParseResponse,
    parsed: list[Sentence],
    formats: Sequence[Picture],
    limits: Limits,
    cancellation: Cancellation,
) -> Response:
    """Add the trees to a response and write it as JSON, tree by tree, so that other threads can run in between."""
    trees = [_make_tree(sentence, formats, limits).model_dump_json() for sentence in cancellation.watch(parsed)]
    start = response.model_dump_json().removesuffix("]}")
    return Response(f"{start}{','.join(trees)}]}}", media_type="application/json")


def _make_tree(parsed: Sentence, formats: Sequence[Picture], limits: Limits) -> TreeResponse:
    pictures = draw_pictures(parsed, formats, limits)
    return TreeResponse.model_construct(
        conllu=parsed.to_conllu(), tokens=list(map(_describe_word, parsed)), pictures=pictures
    )


def _describe_word(word: Word) -> WordResponse:
    _, form, lemma, upos, xpos, feats, head, relation, _, misc = word.row
    return WordResponse.model_construct(
        id=word.id,
        form=form,
        lemma=lemma,
        upos=upos,
        xpos=xpos,
        feats=feats,
        head=int(head),
        relation=relation,
        misc=misc,
        probability=word.probability,
    )


def _describe_model(name: str, parser: Parser) -> ModelResponse:
    return ModelResponse(
        name=name,
        system=parser.system.name,
        treebank=card_text(parser, "treebank"),
        licence=card_text(parser, "licence"),
        tokenizer=parser.description.tokenizer is not None,
    )

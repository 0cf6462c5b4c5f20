"""The spaCy component in real pipelines: the parser's trees on spaCy's tokens, whatever the trees, texts and ways to
save, copy and share a pipeline."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Token

from longarc import LongarcError, Parser, Sentence, load
from longarc.data.raw_text import Span
from longarc.data.sentence import FEATS, LEMMA, UPOS, XPOS
from longarc.spacy_component import LongarcComponent
from tests.helpers.paths import ROOT
from tests.helpers.served_models import train_toy
from tests.helpers.tree_generators import RELATIONS, Heads, all_trees_up_to, as_heads, has_one_root, random_tree

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BLANK = spacy.blank("xx")
CHECKOUT = ROOT
INDICES = {"upos": UPOS, "xpos": XPOS, "feats": FEATS, "lemma": LEMMA}
CROSSING = "the dog sees the cat today which sleeps ."
CROSSING_HEADS = [1, 2, 2, 4, 2, 2, 7, 4, 2]
CROSSING_RELATIONS = ["det", "nsubj", "ROOT", "det", "obj", "advmod", "nsubj", "acl", "punct"]
TEXTS = [
    CROSSING,
    "",
    "The dog sees the cat. The bird hears the old child today!",
    "  ",
    "  the red dog   finds the house .\n\nthe cat likes the bird",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model that knows the toy language well, fine tags included."""
    return str(train_toy(tmp_path_factory.mktemp("spacy"), "toy", "--set=columns=['upos', 'xpos']"))


def pipeline(model: str, language: str = "en", **options: Any) -> Any:
    nlp = spacy.blank(language)
    nlp.add_pipe("longarc", config={"model": model, "threads": 1, **options})
    return nlp


@pytest.fixture(scope="module")
def nlp(model: str) -> Any:
    return pipeline(model)


def told(doc: Doc) -> list[tuple[Any, ...]]:
    """What spaCy was told of each token."""
    return [
        (t.text, t.head.i, t.dep_, t.pos_, t.tag_, str(t.morph), t.is_sent_start, [c.i for c in t.children])
        for t in doc
    ]


class Script:
    """Stands in for the parser, and gives the sentences of a script, one after the other."""

    def __init__(self, script: Iterable[tuple[Heads, list[str]]], **columns: str) -> None:
        self.script = iter(script)
        self.cells = columns
        self.columns = {
            name: SimpleNamespace(index=INDICES[name], labels=SimpleNamespace(names=[cell]))
            for name, cell in columns.items()
        }
        self.description = SimpleNamespace(tokenizer=None)
        self.seen: list[list[str]] = []

    def stream(self, sentences: Iterable[Sentence], *, probabilities: bool) -> Iterator[Sentence]:
        for sentence in sentences:
            heads, relations = next(self.script)
            assert len(sentence) == len(heads) - 1
            self.seen.append(sentence.forms)
            sentence.set_tree(heads, relations)
            for name, cell in self.cells.items():
                sentence.set_column(INDICES[name], [cell] * len(heads))
            yield sentence


def scripted(script: Script) -> LongarcComponent:
    component = LongarcComponent()
    component._parser = script  # type: ignore[assignment]
    return component


def relations_of(heads: Heads) -> list[str]:
    return ["", *("root" if head == 0 else RELATIONS[word % 4] for word, head in enumerate(heads[1:].tolist()))]


# ---------------------------------------------------------------------------------------------------------------------
# How spaCy finds it.


def test_spacy_finds_the_component_without_an_import_of_longarc(model: str, tmp_path: Path) -> None:
    """By the entry point of pyproject.toml, installed or not."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata = tmp_path / "longarc-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: longarc\nVersion: 0\n")
    lines = [f"{name} = {place}" for name, place in project["entry-points"]["spacy_factories"].items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[spacy_factories]", *lines, ""]))
    code = f"""
import sys, spacy
nlp = spacy.blank("en")
nlp.add_pipe("longarc", config={{"model": {model!r}}})
assert "onnxruntime" not in sys.modules, "only those who parse wait for it"
print([token.head.i for token in nlp({CROSSING!r})])
"""
    paths = [str(tmp_path), *(path for path in sys.path if path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout == f"{CROSSING_HEADS}\n", done.stderr


def test_importing_longarc_imports_no_spacy() -> None:
    code = "import sys, longarc, longarc.runtime.parser; assert 'spacy' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_documentation_can_be_run(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (CHECKOUT / "docs" / "spacy.md").read_text(encoding="utf-8"), re.S)
    code = f"import longarc.spacy_component\n{code}"  # this checkout's, whatever is installed
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "speaks VERB acl:relcl man" in lines
    assert lines[-2:] == ["likes", "finds"]


# ---------------------------------------------------------------------------------------------------------------------
# Trees.


@pytest.mark.parametrize("language", ["en", "de", "fr", "ru", "ar", "xx"])
def test_the_trees_and_tags_are_those_of_the_parser(model: str, language: str) -> None:
    doc = pipeline(model, language)(CROSSING)
    assert [token.head.i for token in doc] == CROSSING_HEADS
    assert [token.dep_ for token in doc] == CROSSING_RELATIONS
    parsed = load(model).parse(CROSSING.split())
    assert [token.pos_ for token in doc] == [token.upos for token in parsed]
    assert [token.tag_ for token in doc] == [token.xpos for token in parsed]
    assert doc[2].pos_ == "VERB" and doc[2].tag_ == "verb"
    assert not doc.has_annotation("MORPH")
    assert [sentence.root.text for sentence in doc.sents] == ["sees"]
    assert [token.i for token in doc[4].subtree] == [3, 4, 6, 7]


def check_document(nlp: Any, trees: list[Heads], spaces: list[int]) -> None:
    """`spaces`: how many tokens of white space stand before each word, and after the last."""
    words: list[str] = []
    starts: list[bool] = []
    heads: list[int] = []
    tokens: list[int] = []  # the number of each word's token
    gaps = iter(spaces)
    for tree in trees:
        first = len(words)
        for _ in tree[1:]:
            words += [" "] * next(gaps)
            tokens.append(len(words))
            words.append("w")
        starts += [True] + [False] * (len(words) - first - 1)
    words += [" "] * next(gaps)
    starts += [False] * (len(words) - len(starts))
    offset = 0
    for tree in trees:
        root = 1 + tree[1:].tolist().index(0)
        heads += [offset + (head or root) - 1 for head in tree[1:].tolist()]
        offset += len(tree) - 1
    doc = Doc(nlp.vocab, words=words, sent_starts=starts)
    script = Script((tree, relations_of(tree)) for tree in trees)
    assert scripted(script)(doc) is doc
    assert script.seen == [["w"] * (len(tree) - 1) for tree in trees]
    saved = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    for found in (doc, saved):
        assert [found[token].head.i for token in tokens] == [tokens[head] for head in heads]
        assert [token.is_sent_start for token in found] == starts
        sentences = list(found.sents)
        assert len(sentences) == len(trees)
        for sentence in sentences:
            (root,) = (token for token in sentence if token.head == token)
            assert sentence.root == root and root.dep_ == "ROOT"
            assert {token.i for token in root.subtree} == set(range(sentence.start, sentence.end))
        for token in found:
            assert [child.i for child in token.children] == [
                other.i for other in found if other.head == token and other != token
            ]
            if token.is_space:
                assert token.dep_ == "dep" and not list(token.children)
                between = found[min(token.i, token.head.i) + 1 : max(token.i, token.head.i)]
                assert all(other.is_space for other in between), "attached to the nearest word"
            elif token.head != token:
                assert token.dep_ != "ROOT"


def test_every_small_tree_is_told_to_spacy_as_it_is(nlp: Any) -> None:
    for tree in all_trees_up_to(4):
        neighbour = as_heads([3, 0, 2])
        check_document(nlp, [neighbour, tree, neighbour], [0] * (len(tree) + 6))


@given(st.lists(st.integers(1, 14), min_size=1, max_size=4), st.integers(0, 2**32), st.sampled_from([0.0, 0.2]))
@settings(max_examples=150, deadline=None)
def test_large_trees_and_white_space_too(lengths: list[int], seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    trees = [random_tree(length, rng) for length in lengths]
    spaces = rng.choice(3, size=sum(lengths) + 1, p=[1 - share, share / 2, share / 2]).tolist()
    check_document(BLANK, trees, spaces)


def test_sentence_starts_stay_where_spacy_would_lose_them() -> None:
    """A tree that winds around its root is more than spaCy's search for sentence starts can follow."""
    middle = 20
    order = [middle]
    for distance in range(1, middle):
        order += [middle + distance, middle - distance]
    heads = as_heads([0] * len(order))
    for word, head in zip(order[1:], order, strict=False):
        heads[word] = head
    short = as_heads([2, 0])
    trees = [short, heads, short]
    words = ["w"] * sum(len(tree) - 1 for tree in trees)
    starts = [offset in (0, 2, 1 + len(heads)) for offset in range(len(words))]
    doc = scripted(Script((tree, relations_of(tree)) for tree in trees))(
        Doc(BLANK.vocab, words=words, sent_starts=starts)
    )
    assert [token.is_sent_start for token in doc] == starts
    assert [len(sentence) for sentence in doc.sents] == [2, len(heads) - 1, 2]
    assert [token.head.i - 1 for token in doc[2:-2]] == [head or middle for head in heads[1:].tolist()]
    assert has_one_root(heads)


def test_of_several_roots_the_first_stays(nlp: Any) -> None:
    doc = Doc(nlp.vocab, words=["Go", "away", "come", "back"])
    script = Script([(as_heads([0, 1, 0, 3]), ["", "root", "advmod", "root", "advmod"])])
    scripted(script)(doc)
    assert [token.head.i for token in doc] == [0, 0, 0, 2]
    assert [token.dep_ for token in doc] == ["ROOT", "advmod", "root", "advmod"]
    assert len(list(doc.sents)) == 1


# ---------------------------------------------------------------------------------------------------------------------
# Tags.


def test_features_and_tags_of_other_tagsets_find_their_place(nlp: Any) -> None:
    tree = (as_heads([2, 0]), ["", "x", "root"])
    for columns, expected in (
        ({"upos": "NOUN"}, ("NOUN", "", "")),
        ({"upos": "NOUN", "xpos": "NN", "feats": "Number=Sing|Case=Nom"}, ("NOUN", "NN", "Case=Nom|Number=Sing")),
        ({"upos": "subst"}, ("", "subst", "")),
        ({"upos": "subst", "xpos": "NN"}, ("", "NN", "")),
        ({}, ("", "", "")),
    ):
        doc = scripted(Script([tree], **columns))(Doc(nlp.vocab, words=["two", "\n", "words"]))
        for token in (doc[0], doc[2]):
            assert (token.pos_, token.tag_, str(token.morph)) == expected
        assert doc[1].pos_ == ("SPACE" if expected[0] else "")
        assert doc[1].tag_ == ("_SP" if expected[1] else "")


def test_a_column_of_lemmas_sets_the_lemmas_of_words(nlp: Any) -> None:
    script = Script([(as_heads([2, 0]), ["", "x", "root"])], lemma="word")
    doc = scripted(script)(Doc(nlp.vocab, words=["two", "\n", "words"]))
    assert [token.lemma_ for token in doc] == ["word", "", "word"]
    assert not doc.has_annotation("POS") and not doc.has_annotation("TAG")


@pytest.mark.parametrize("overwrite", [True, False])
def test_tags_that_are_there_can_be_kept(model: str, overwrite: bool) -> None:
    nlp = pipeline(model, overwrite_tags=overwrite)
    doc = nlp.make_doc("the dog sees the cat .")
    doc[1].pos_, doc[1].tag_, doc[2].tag_ = "PROPN", "NNP", "VBZ"
    nlp.get_pipe("longarc")(doc)
    assert doc[1].pos_ == ("NOUN" if overwrite else "PROPN")
    assert doc[1].tag_ == ("noun" if overwrite else "NNP")
    assert (doc[2].pos_, doc[2].tag_) == ("VERB", "verb" if overwrite else "VBZ")


# ---------------------------------------------------------------------------------------------------------------------
# Sentences.

SPLIT = {
    "full stops": ("en", ["The dog sees the cat. ", "The cat sleeps."]),
    "abbreviations": ("en", ["Mr. Bird hears Dr. House. ", "The child, e.g. mine, sleeps."]),
    "numbers": ("en", ["It takes 3.5 hours, i.e. long. ", "7 dogs wait."]),
    "quotes": ("en", ['"Stop!" ', '"Why?" asked the cat. ', "(It sleeps.) ", "The dog left."]),
    "marks together": ("en", ["What?! ", "No... ", "Well… and then yes."]),
    "headings": ("en", ["A heading\n\n", "the first line\nof two\n \n", "And the end"]),
    "German": ("de", ["Der Hund sieht z.B. den Vogel. ", "Ärger gibt es nicht."]),
    "French": ("fr", ["Que voit le chien ? ", "Le chat !"]),
    "Chinese": ("zh", ["狗看见猫。", "“猫睡了！”", "鸟呢？"]),
    "Hindi": ("hi", ["कुत्ता सोता है। ", "बिल्ली जागती है।"]),
    "Arabic": ("ar", ["أين الكلب؟ ", "الكلب نائم."]),
    "white space": ("en", ["  A dog.  \n ", "A cat.   "]),
}


@pytest.mark.parametrize(("language", "sentences"), SPLIT.values(), ids=SPLIT)
def test_sentences_are_found_in_text(model: str, language: str, sentences: list[str]) -> None:
    doc = pipeline(model, language)("".join(sentences))
    assert [sentence.text_with_ws for sentence in doc.sents] == sentences


def test_sentences_are_found_as_the_model_has_learnt_to(nlp: Any) -> None:
    script = Script([(as_heads([0, 1]), ["", "root", "dep"]), (as_heads([0]), ["", "root"])])
    script.description.tokenizer = "learnt"
    script.tokenizer = SimpleNamespace(  # type: ignore[attr-defined]
        spans=lambda text: [[Span(0, 3)], [Span(text.index("and"), len(text))]]
    )
    doc = scripted(script)(nlp.make_doc("one two and"))
    assert script.seen == [["one", "two"], ["and"]]
    assert [sentence.text for sentence in doc.sents] == ["one two", "and"]


def test_sentence_starts_that_are_set_stay(model: str) -> None:
    text = "the dog sees the cat . the cat sleeps . The bird hears it"
    splitter = pipeline(model)
    assert len(list(splitter(text).sents)) == 2, "the text decides: no small letter starts a sentence"
    splitter.add_pipe("sentencizer", first=True)
    assert [len(sentence) for sentence in splitter(text).sents] == [6, 4, 4], "another component decides"
    component = splitter.get_pipe("longarc")
    doc = splitter.make_doc(text)
    for token in doc[1:]:
        token.is_sent_start = token.i == 3
    assert [len(sentence) for sentence in component(doc).sents] == [3, 11]
    assert [len(sentence) for sentence in component(doc).sents] == [3, 11], "a second time changes nothing"
    doc = splitter.make_doc(text)
    doc[6].is_sent_start, doc[10].is_sent_start = True, False
    assert [len(sentence) for sentence in component(doc).sents] == [6, 8], "the others are left to the text"


def test_a_token_is_never_split_between_sentences(nlp: Any) -> None:
    doc = nlp.make_doc("We saw St. Petersburg. It rained.")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
    assert [token.text for token in doc][2] == "St. Petersburg"
    assert len(list(nlp.get_pipe("longarc")(doc).sents)) == 2


def test_strange_texts_take_no_longer_than_others(nlp: Any) -> None:
    """Time that grew with the square of the length would be minutes."""
    for text in ("." * 200_000, "\n" * 200_000, '."' * 100_000, "\n \n" * 60_000 + "x", "a\n" + " " * 200_000):
        doc = nlp.get_pipe("longarc")(Doc(nlp.vocab, words=["x", text, "x", text]))
        assert doc.has_annotation("DEP", require_complete=True)


# ---------------------------------------------------------------------------------------------------------------------
# Documents of all sizes.


@pytest.mark.parametrize("text", ["", " ", " \n\n \t", "dog", "dog ", " dog", ".", "dog\n", "🐈 ‍🐈"])
def test_small_documents(nlp: Any, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text
    assert len(list(doc.sents)) == (1 if text else 0)
    assert sum(token.head == token for token in doc) == len(list(doc.sents))
    assert all(token.dep_ for token in doc)
    assert told(Doc(nlp.vocab).from_bytes(doc.to_bytes())) == told(doc)


def test_a_sentence_of_white_space_is_one(nlp: Any) -> None:
    doc = Doc(nlp.vocab, words=["dog", " ", "\n", "cat"], sent_starts=[True, True, False, True])
    nlp.get_pipe("longarc")(doc)
    assert [token.head.i for token in doc] == [0, 1, 1, 3]
    assert [token.dep_ for token in doc] == ["ROOT", "ROOT", "dep", "ROOT"]
    assert [len(sentence) for sentence in doc.sents] == [1, 2, 1]
    assert told(Doc(nlp.vocab).from_bytes(doc.to_bytes())) == told(doc)


def test_long_documents_and_long_sentences(nlp: Any) -> None:
    short = nlp("The dog sees the cat today which sleeps. ")
    doc = nlp("The dog sees the cat today which sleeps. " * 1500 + "And the dog " * 200)
    sentences = list(doc.sents)
    assert [len(sentence) for sentence in sentences] == [9] * 1500 + [600]
    for sentence in (sentences[0], sentences[777], sentences[1499]):
        assert [token.head.i - sentence.start for token in sentence] == [token.head.i for token in short]
    assert len(list(sentences[-1].root.subtree)) == 600


# ---------------------------------------------------------------------------------------------------------------------
# Pipelines.


def test_documents_in_batches_are_as_those_alone(nlp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [told(nlp(text)) for text in TEXTS]
    calls = []
    stream = Parser.stream

    def counted(self: Parser, *arguments: Any, **options: Any) -> Iterator[Sentence]:
        calls.append(1)
        return stream(self, *arguments, **options)

    monkeypatch.setattr(Parser, "stream", counted)
    assert [told(doc) for doc in nlp.pipe(TEXTS)] == expected
    assert len(calls) == 1
    assert [told(doc) for doc in nlp.pipe(TEXTS, batch_size=2)] == expected
    assert len(calls) == 1 + 3
    assert [(doc.text, n) for doc, n in nlp.pipe(zip(TEXTS, range(5), strict=True), as_tuples=True)] == [
        (text, n) for n, text in enumerate(TEXTS)
    ]


def test_several_processes_share_the_work(model: str) -> None:
    nlp = pipeline(model, arc_probability=True)
    expected = [told(doc) for doc in nlp.pipe(TEXTS)]
    probabilities = [[token._.arc_probability for token in nlp(text)] for text in TEXTS]
    docs = list(nlp.pipe(TEXTS, n_process=2, batch_size=2))
    assert [told(doc) for doc in docs] == expected
    assert [[token._.arc_probability for token in doc] for doc in docs] == [
        [None if p is None else pytest.approx(p, abs=1e-5) for p in row] for row in probabilities
    ]


def test_the_component_can_be_switched_off_and_on(model: str) -> None:
    nlp = pipeline(model)
    with nlp.select_pipes(disable="longarc"):
        assert not nlp(CROSSING).has_annotation("DEP")
    assert nlp(CROSSING).has_annotation("DEP")


def test_the_component_can_be_taken_from_another_pipeline(model: str) -> None:
    other = spacy.blank("en")
    other.add_pipe("longarc", source=pipeline(model))
    assert [token.head.i for token in other(CROSSING)] == CROSSING_HEADS


def test_two_models_can_be_in_one_pipeline(model: str) -> None:
    nlp = pipeline(model)
    nlp.add_pipe("longarc", name="again", config={"model": model, "beam": 4})
    assert [token.head.i for token in nlp(CROSSING)] == CROSSING_HEADS
    assert (nlp.get_pipe("longarc").parser.beam, nlp.get_pipe("again").parser.beam) == (1, 4)


def test_a_saved_pipeline_has_its_model_with_it(model: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.longarc"
    copy.write_bytes(Path(model).read_bytes())
    nlp = pipeline(str(copy), beam=3, memory=99)
    expected = told(nlp(CROSSING))
    nlp.to_disk(tmp_path / "saved")
    as_bytes, config = nlp.to_bytes(), nlp.config
    copy.unlink()
    assert (tmp_path / "saved" / "longarc" / "model.longarc").read_bytes() == Path(model).read_bytes()
    loaded = spacy.load(tmp_path / "saved")
    loaded.to_disk(tmp_path / "saved")
    loaded.to_disk(tmp_path / "elsewhere")
    for other in (
        loaded,
        spacy.load(tmp_path / "elsewhere"),
        spacy.blank("en").from_config(config).from_bytes(as_bytes),
        spacy.blank("en").from_config(config).from_bytes(loaded.to_bytes()),
    ):
        assert told(other(CROSSING)) == expected
        assert (other.get_pipe("longarc").parser.beam, other.get_pipe("longarc").parser.memory) == (3, 99)


def test_a_damaged_pipeline_is_noticed_when_it_is_loaded(model: str, tmp_path: Path) -> None:
    pipeline(model).to_disk(tmp_path / "saved")
    (tmp_path / "saved" / "longarc" / "model.longarc").write_bytes(b"nothing")
    with pytest.raises(LongarcError, match=r"saved/longarc/model\.longarc: not a Longarc model"):
        spacy.load(tmp_path / "saved")


@pytest.mark.parametrize("used", [True, False])
def test_a_pipeline_can_be_pickled(model: str, used: bool) -> None:
    nlp = pipeline(model, arc_probability=True)
    if used:
        nlp(CROSSING)
    assert [token.head.i for token in pickle.loads(pickle.dumps(nlp))(CROSSING)] == CROSSING_HEADS


def test_documents_can_be_stored(nlp: Any) -> None:
    docs = list(nlp.pipe(TEXTS))
    stored = DocBin(docs=docs).to_bytes()
    found = list(DocBin().from_bytes(stored).get_docs(nlp.vocab))
    assert [[(t.head.i, t.dep_, t.pos_, t.is_sent_start) for t in doc] for doc in found] == [
        [(t.head.i, t.dep_, t.pos_, t.is_sent_start) for t in doc] for doc in docs
    ]


def test_probabilities_come_on_request(model: str) -> None:
    nlp = pipeline(model, arc_probability=True)
    doc = nlp(CROSSING + "  ")
    expected = [token.probability for token in load(model).parse(CROSSING.split())]
    assert all(p is not None and 0 < p <= 1 for p in expected)
    assert [token._.arc_probability for token in doc] == [*(pytest.approx(p) for p in expected), None]
    assert Token.has_extension("arc_probability")
    assert [token._.arc_probability for token in pipeline(model)(CROSSING)] == [None] * 9


# ---------------------------------------------------------------------------------------------------------------------
# Users' mistakes.


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    nlp = pipeline(str(tmp_path / "missing.longarc"))
    with pytest.raises(LongarcError, match=r"missing\.longarc: cannot be read"):
        nlp("dog")
    with pytest.raises(LongarcError, match=r"missing\.longarc: cannot be read"):
        list(nlp.pipe(["dog"]))


@pytest.mark.parametrize("options", [{"beam": 0}, {"threads": -1}, {"memory": 0}])
def test_options_without_sense_are_refused(model: str, options: dict[str, Any]) -> None:
    with pytest.raises(LongarcError, match="must be at least 1"):
        pipeline(model, **options)


@pytest.mark.parametrize("options", [{"beam": "wide"}, {"bean": 3}, {"overwrite_tags": "perhaps"}])
def test_wrong_options_are_told_by_spacy(model: str, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        pipeline(model, **options)


def test_an_error_handler_is_asked(tmp_path: Path) -> None:
    nlp = pipeline(str(tmp_path / "missing.longarc"))
    failed: list[str] = []

    def handler(name: str, component: Any, docs: list[Doc], error: Exception) -> None:
        failed.extend(f"{name}: {doc.text}" for doc in docs)

    nlp.set_error_handler(handler)
    assert list(nlp.pipe(["dog", "cat"])) == []
    assert failed == ["longarc: dog", "longarc: cat"]


# ---------------------------------------------------------------------------------------------------------------------
# Names of models


@pytest.mark.parametrize("name", ["en", "english", "en_ewt"])
def test_a_model_is_named_by_its_language_or_name(name: str) -> None:
    nlp = spacy.blank("en")
    component: Any = nlp.add_pipe("longarc", config={"model": name, "threads": 1})
    assert component.parser.card["name"] == "en_ewt"


def test_an_unknown_model_is_reported_with_those_there_are() -> None:
    nlp = spacy.blank("en")
    component: Any = nlp.add_pipe("longarc", config={"model": "englisch"})
    with pytest.raises(LongarcError, match=r"Did you mean en_ewt\? Known models: .*en_ewt \(English\)"):
        _ = component.parser


# ---------------------------------------------------------------------------------------------------------------------
# Noun chunks


@pytest.fixture(scope="module")
def english_pipeline() -> Any:
    return pipeline("en")


@pytest.mark.parametrize("copied", [False, True])
def test_noun_chunks_are_found_in_universal_dependencies(english_pipeline: Any, copied: bool) -> None:
    doc = english_pipeline("I met a man yesterday who speaks nine languages.")
    if copied:
        doc = pickle.loads(pickle.dumps(doc))
    assert [chunk.text for chunk in doc.noun_chunks] == ["I", "a man", "yesterday", "who", "nine languages"]
    assert [chunk.root.text for chunk in doc.noun_chunks][-1] == "languages"
    assert [chunk.text for chunk in doc[2:4].noun_chunks] == ["a man"]


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({}, "has none"),
        ({"heads": [1, 1], "deps": ["SUBJ", "ROOT"], "pos": ["NOUN", "VERB"]}, "Universal Dependencies, found 'SUBJ'"),
        ({"heads": [1, 1], "deps": ["nsubj", "ROOT"]}, "part-of-speech tags"),
    ],
)
def test_noun_chunks_say_why_they_are_not_found(english_pipeline: Any, attributes: dict[str, Any], reason: str) -> None:
    doc = Doc(english_pipeline.vocab, words=["Dogs", "bark"], **attributes)
    with pytest.raises(LongarcError, match=reason):
        list(doc.noun_chunks)

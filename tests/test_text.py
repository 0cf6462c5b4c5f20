"""Raw text: nothing of it is lost, whatever it contains; it is split as the treebank's text is."""

from __future__ import annotations

import io
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longarc import InputError, LongarcError, Sentence, read_all
from longarc.data.characters import CATEGORY_NUMBERS, categories_of, read_characters
from longarc.data.multiword import MultiwordRules
from longarc.data.raw_text import MAX_WORDS, Span, read_text, sentences_of, spaces_around, surface_rows, text_of
from longarc.data.spelling import LONGEST, UNKNOWN_CHARACTER, Characters, code_points, different_words
from longarc.evaluation.conventions import Conventions
from longarc.evaluation.corpus import Corpus
from longarc.evaluation.measures import count, judge, total
from longarc.runtime import tokenizer as tokenizer_module
from longarc.runtime.tokenizer import RuleTokenizer, Tokenizer

ODD_TEXTS = [
    "She left.  He\tstayed.\r\n\r\nThey came back",
    "\ufeff\n\n  Begins late. Ends late. \n ",
    "👩‍👩‍👧 and 🇩🇰 ❤️ at https://example.org/a?b=c#d, e-mail: me@example.org!",
    "a\u200bb c\u200d d\u2028e\u2029f\x85g\x0bh\x0ci\u00a0j\u3000k",
    "هل ترى هذا؟ نعم، أراه. שלום עולם",
    "क्या हाल है? ठीक है।",
    "नमस्ते e\u0301te\u0301",
    "no final stop",
    "...",
    "x|y SpaceAfter=No \\n = \\s _ # not a comment",
    "他来了。她走了！",
]
LOSSLESS = st.text(
    st.one_of(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), st.sampled_from(" \n\t\r.,'a A")),
    max_size=80,
)


def joined(sentences: list[Sentence]) -> str:
    """What the sentences give back once they have been written and read."""
    return text_of(read_all(io.BytesIO("".join(s.to_conll() for s in sentences).encode("utf-8", "surrogatepass"))))


def treebank_with_text(sentences: int, seed: int = 1) -> str:
    """A treebank with full stops that cling, contractions that are two words, and paragraphs."""
    chooser = random.Random(seed)
    lines = []
    for number in range(sentences):
        rows = []
        subject = chooser.choice(["Ann", "Bob", "The cat", "My friend", "Dr. Low"]).split()
        verb = chooser.choice(["can't see", "cannot find", "won't take", "sees", "likes", "didn't mind"]).split()
        rest = chooser.choice(["it", "the house", "this, too", "10.5 pounds", "a well-known place"]).split()
        words = 0
        tokens = [
            piece for word in [*subject, *verb, *rest] for piece in (word.partition(",")[:2] if "," in word else [word])
        ]
        tokens.append(chooser.choice(".!?"))
        for place, token in enumerate(tokens):
            misc = "SpaceAfter=No" if place + 1 < len(tokens) and tokens[place + 1] in ",.!?" else "_"
            parts = (
                [token[:-3], token[-3:]] if token.endswith("n't") else ["can", "not"] if token == "cannot" else [token]
            )
            if len(parts) > 1:
                rows.append(f"{words + 1}-{words + 2}\t{token}\t_\t_\t_\t_\t_\t_\t_\t{misc}")
            for part in parts:
                words += 1
                own = "_" if len(parts) > 1 else misc
                rows.append(f"{words}\t{part}\t_\tX\t_\t_\t{words - 1}\t{'root' if words == 1 else 'dep'}\t_\t{own}")
        lines += (["# newpar"] if number % 4 == 0 else []) + rows + [""]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def learnt() -> Tokenizer:
    """A tokenizer that has learnt from the little treebank above."""
    pytest.importorskip("torch", reason="torch is not installed: nothing can be learnt")
    from types import SimpleNamespace

    from longarc.model.export import export_tokenizer
    from longarc.runtime.tokenizer import LearntTokenizer
    from longarc.training.threads import set_up_torch
    from longarc.training.train_tokenizer import train_tokenizer

    set_up_torch(1)
    train = read_all(io.BytesIO(treebank_with_text(200).encode()))
    trained = train_tokenizer(train, seed=1, most_steps=120, step_done=lambda *_: None)
    description = SimpleNamespace(tokenizer=trained.description)
    package = SimpleNamespace(tokenizer_graph=export_tokenizer(trained.network), description=description)
    return LearntTokenizer(package, lambda: package, "test")  # type: ignore[arg-type, return-value]


@pytest.fixture(params=["rules", "learnt"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return RuleTokenizer() if request.param == "rules" else request.getfixturevalue("learnt")


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_texts_come_back_character_for_character(tokenizer: Tokenizer, text: str) -> None:
    sentences = tokenizer.split(text)
    assert joined(sentences) == text
    for sentence in sentences:
        assert all(row[1] and not row[1].isspace() for row in sentence.rows)


def check_lossless(tokenizer: Tokenizer, text: str) -> None:
    sentences = tokenizer.split(text, ranges=True)
    if not sentences:
        assert not text.replace("\ufeff", " ").strip()
        return
    assert joined(sentences) == text
    for sentence in sentences:
        for row in surface_rows(sentence):
            start, end = row[9].rpartition("TokenRange=")[2].split(":")
            assert text[int(start) : int(end)] == row[1]
        plain = "".join(row[1] + (" " if spaces_around(row)[1] else "") for row in surface_rows(sentence))
        assert f"# text = {plain.rstrip(' ')}" in sentence.lead or plain.endswith(" ")


@settings(max_examples=150, deadline=None)
@given(LOSSLESS)
def test_any_text_comes_back_from_rules(text: str) -> None:
    check_lossless(RuleTokenizer(), text)


def test_any_text_comes_back_from_what_was_learnt(learnt: Tokenizer) -> None:
    @settings(max_examples=150, deadline=None)
    @given(LOSSLESS)
    def check(text: str) -> None:
        check_lossless(learnt, text)

    check()


def test_text_in_pieces_gives_the_same_text_and_numbers(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer_module, "PIECE", 100)
    text = "\n\n".join("Ann sees the house. Bob cannot find it! " * 3 for _ in range(5))
    pieces = [text[start : start + 7] for start in range(0, len(text), 7)]
    sentences = list(tokenizer.split_stream(pieces, ranges=True))
    assert joined(sentences) == text
    whole = [word.forms for word in tokenizer.split(text)]
    assert [sentence.forms for sentence in sentences] == whole
    assert [s.lead.partition("sent_id = ")[2].split("\n")[0] for s in sentences] == [
        str(number) for number in range(1, len(sentences) + 1)
    ]
    assert sum("# newpar" in sentence.lead for sentence in sentences) == 4


@pytest.mark.parametrize("line", ["a " * 20_000, "a" * 1_000_000, " " * 1_000_000 + "x", "a.b" * 20_000])
def test_a_line_of_a_megabyte_is_split_in_bounded_sentences(tokenizer: Tokenizer, line: str) -> None:
    sentences = tokenizer.split(line)
    assert text_of(sentences) == line
    assert max(map(len, sentences)) <= 2 * MAX_WORDS


def test_a_nul_character_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(LongarcError, match="NUL"):
        tokenizer.split("a\0b")


def test_rules_split_words_punctuation_and_sentences() -> None:
    sentences = RuleTokenizer().split("Mr Low's dog (a well-known one) left. “Really?” he said. It cost 10.5 pounds…")
    assert [sentence.forms for sentence in sentences] == [
        ["Mr", "Low's", "dog", "(", "a", "well-known", "one", ")", "left", "."],
        ["“", "Really", "?", "”", "he", "said", "."],
        ["It", "cost", "10.5", "pounds", "…"],
    ]


def test_what_is_learnt_splits_new_text_as_the_treebank_does(learnt: Tokenizer) -> None:
    gold = read_all(io.BytesIO(treebank_with_text(60, seed=9).encode()))
    from longarc.training.train_tokenizer import labelled_text

    found = learnt.split(labelled_text(gold).text)
    for sentence in found:
        sentence.set_tree([-1, *range(len(sentence))], ["", *["root"] * len(sentence)])
    scores = total(count(judge(Corpus("gold", gold), Corpus("own", found), Conventions("count", "universal"))))
    assert scores["words"].f1 > 99
    assert scores["sentences"].f1 > 97


def test_a_treebank_without_spaces_has_no_text() -> None:
    pytest.importorskip("torch")
    from longarc.training.train_tokenizer import has_text

    assert has_text(read_all(io.BytesIO(treebank_with_text(3).encode())))
    assert not has_text([Sentence.from_forms(["a", "."])])


def test_multiword_tokens_are_split_as_those_that_were_seen_or_end_alike() -> None:
    rules = MultiwordRules.learn(
        [("don't", ["do", "n't"]), ("Can't", ["ca", "n't"]), ("dos", ["de", "os"]), ("cannot", ["can", "not"])]
    )
    assert rules.split("don't") == ["do", "n't"]
    assert rules.split("mustn't") == ["must", "n't"]
    assert rules.split("DON'T") == ["DO", "N'T"]
    assert rules.split("Dos") == ["De", "os"]
    assert rules.split("DOS") == ["DE", "OS"]
    assert rules.split("house") == ["house"]
    assert rules.split("n't") == ["n't"]


@given(st.lists(st.tuples(st.text("abc'", min_size=1), st.lists(st.text("abc", min_size=1), min_size=2, max_size=3))))
def test_multiword_rules_never_lose_a_token(tokens: list[tuple[str, list[str]]]) -> None:
    rules = MultiwordRules.learn(tokens)
    for form in ["abc", "x", "a'b", *(form for form, _ in tokens)]:
        assert all(isinstance(word, str) for word in rules.split(form))
        assert rules.split(form)


@given(st.text(max_size=60))
def test_characters_are_those_of_the_text_with_single_spaces(text: str) -> None:
    found = read_characters(text)
    spaced = text.replace("\ufeff", " ")
    plain = "".join(chr(code) for code in found.codes)
    assert plain.split() == spaced.split()
    assert not plain.startswith(" ") and "  " not in plain
    assert all(
        text[place] == chr(code) or chr(code) == " " for place, code in zip(found.places, found.codes, strict=True)
    )
    categories = categories_of(found.codes)
    assert ((categories > 0) & (categories < CATEGORY_NUMBERS)).all()
    assert found.paragraphs[-1] == len(found.codes)


def test_a_blank_line_ends_a_paragraph() -> None:
    found = read_characters(" a\nb \n \n c\r\n\r\nd\n")
    assert ["".join(map(chr, part)) for part in np.split(found.codes, found.paragraphs[1:-1])] == ["a b", "c", "d"]


def test_long_words_are_spelled_by_their_ends() -> None:
    characters = Characters("abcdefghijklmnopqrstuvwxyz")
    word = "abcdefghijklmnopqrstuvwxyz" * 3
    spelled = characters.spell(["ab", word, "é"])
    assert spelled.lengths.tolist() == [1, 2, LONGEST, 1]
    assert spelled.characters[2].tolist() == characters.numbers(code_points(word[:12] + word[-12:])).tolist()
    assert spelled.characters[3, 0] == UNKNOWN_CHARACTER
    forms, places = different_words([["a", "b", "a"], ["b"]], 4)
    assert forms == ["a", "b"]
    assert places.tolist() == [[0, 1, 2, 1], [0, 2, 0, 0]]


def test_sentences_can_be_made_from_spans() -> None:
    text = "I can't.\n\nGo!"
    spans = [[Span(0, 1), Span(2, 7, ["ca", "n't"]), Span(7, 8)], [Span(10, 12), Span(12, 13)]]
    first, second = sentences_of(text, spans)
    assert first.lead == "# sent_id = 1\n# text = I can't.\n"
    assert second.lead == "# newpar\n# sent_id = 2\n# text = Go!\n"
    assert [row[0] for row in first.rows] == ["1", "2-3", "2", "3", "4"]
    assert [row[9] for row in first.rows] == ["_", "SpaceAfter=No", "_", "_", "SpacesAfter=\\n\\n"]
    assert [row[9] for row in second.rows] == ["SpaceAfter=No", "SpaceAfter=No"]
    assert text_of([first, second]) == text


def test_bytes_that_are_no_text_are_named_by_their_line() -> None:
    with pytest.raises(InputError, match=r":3: byte 0xff"):
        list(read_text(io.BytesIO(b"one\ntwo\nth\xffree")))
    with pytest.raises(InputError, match=r":2: a NUL"):
        list(read_text(io.BytesIO(b"one\nt\0wo")))
    assert "".join(read_text(io.BytesIO("é".encode("latin-1")), encoding="latin-1")) == "é"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a tokenizer, trained by the command line; it knows next to nothing of trees."""
    pytest.importorskip("torch")
    home = tmp_path_factory.mktemp("text")
    (home / "train.conllu").write_text(treebank_with_text(120))
    (home / "dev.conllu").write_text(treebank_with_text(20, seed=3))
    size = ["lstm_size=8", "lstm_layers=1", "word_dimensions=8", "spelling_size=4", "pair_dimensions=8"]
    settings = [f"--set={key}" for key in [*size, "relation_dimensions=8", "merge_dimensions=8", "tokenizer_steps=150"]]
    ran = longarc("train", home / "train.conllu", "--dev", home / "dev.conllu", "--out", home / "m",
                  "--epochs=1", "--threads=1", *settings)  # fmt: skip
    assert ran.returncode == 0, ran.stderr.decode()
    assert b"dev_text_words 9" in ran.stdout or b"dev_text_words 100" in ran.stdout
    return home / "m" / "m.longarc"


def longarc(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from longarc.cli.main import run; run()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, input=stdin)


TEXT = "Ann can't see it. Dr. Low likes the house!\n\nBob sees this, too"


def test_the_command_line_takes_text(model: Path, tmp_path: Path) -> None:
    piped = longarc("parse", "-", "--model", model, stdin=TEXT.encode())
    assert piped.returncode == 0, piped.stderr.decode()
    sentences = read_all(io.BytesIO(piped.stdout))
    assert text_of(sentences) == TEXT
    assert [len(sentence) for sentence in sentences] == [6, 6, 5]
    assert all((sentence.heads[1:] >= 0).all() for sentence in sentences)
    (tmp_path / "a.txt").write_text(TEXT)
    assert longarc("parse", tmp_path / "a.txt", "--model", model).stdout == piped.stdout
    drawn = longarc("parse", "--text", TEXT, "--model", model)
    assert drawn.returncode == 0
    assert "n't" in drawn.stdout.decode() and "\t" not in drawn.stdout.decode()
    ranges = longarc("parse", "--text", TEXT, "--model", model, "--to", "conllu", "--ranges")
    assert b"TokenRange=4:9" in ranges.stdout


def test_what_is_parsed_again_stays_as_it_is(model: Path) -> None:
    once = longarc("parse", "-", "--model", model, stdin=TEXT.encode())
    assert longarc("parse", "-", "--model", model, stdin=once.stdout).stdout == once.stdout


@pytest.mark.parametrize(
    ("start", "words"), [(b"# A title\n\nwith text", 6), (b"1 is a number", 4), (b"", 0), (b"\n\n", 0)]
)
def test_what_is_text_is_told_by_its_content(model: Path, start: bytes, words: int) -> None:
    ran = longarc("parse", "-", "--model", model, "--input", "auto", stdin=start)
    assert ran.returncode == 0, ran.stderr.decode()
    found = read_all(io.BytesIO(ran.stdout))
    assert abs(sum(map(len, found)) - words) <= 1  # how the words are split does not matter here


def test_mistakes_are_told(model: Path) -> None:
    both = longarc("parse", "x.txt", "--text", "x", "--model", model)
    assert both.returncode == 2 and b"exclude each other" in both.stderr
    damaged = longarc("parse", "-", "--model", model, stdin=b"1\tonly\ttabs\n\n")
    assert damaged.returncode == 2 and b"<stdin>:1" in damaged.stderr
    binary = longarc("parse", "-", "--model", model, stdin=b"one\ntwo \xff")
    assert binary.returncode == 2 and b"<stdin>:2" in binary.stderr


def test_text_in_python(model: Path, learnt: Callable[..., None]) -> None:
    import longarc as package

    nlp = package.load(model, threads=1)
    sentences = nlp(TEXT)
    assert text_of(sentences) == TEXT
    assert [token.form for token in sentences[0]][:3] == ["Ann", "ca", "n't"]
    assert nlp("") == []

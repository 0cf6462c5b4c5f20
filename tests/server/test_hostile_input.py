"""Input made to take long: time grows in proportion to its length, whichever reader it goes to."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from longarc import read_all
from longarc.data.raw_text import text_of
from longarc.data.sentence import Sentence
from longarc.runtime.tokenizer import RuleTokenizer
from longarc.server import read_input
from longarc.server.read_input import _nonblank_lines
from longarc.server.udpipe import read_form, read_multipart

FILLINGS = [" ", "\n", " \n", "\t", "\r", "\r\n", "#\n", "\u3000", "\ufeff", "a", ". ", "\\", "%", "&", "=", "1\t"]
FACTOR, EPSILON = 2.6, 0.08
Send = Callable[[TestClient, str], int]


def post_json(path: str, **fields: object) -> Send:
    def send(client: TestClient, text: str) -> int:
        body = {key: text if value is None else value for key, value in fields.items()}
        return int(client.post(path, json=body).status_code)

    return send


def post_form(**fields: str) -> Send:
    return lambda client, text: client.post("/process", data={"data": text, **fields}).status_code


def post_multipart(**fields: str) -> Send:
    def send(client: TestClient, text: str) -> int:
        files = {"data": (None, text), **{key: (None, value) for key, value in fields.items()}}
        return int(client.post("/process", files=files).status_code)

    return send


READERS: dict[str, Send] = {
    "text": post_json("/api/parse", text=None),
    "conllu": post_json("/api/parse", conllu=None),
    "draw": post_json("/api/draw", conllu=None),
    "steps": post_json("/api/steps", text=None),
    "tokens": lambda client, text: client.post("/api/parse", json={"tokens": [[text], [text]]}).status_code,
    "presegmented": post_form(tokenizer="presegmented"),
    "tokenizer": post_form(tokenizer=""),
    "horizontal": post_form(input="horizontal"),
    "vertical": post_form(input="vertical"),
    "udpipe conllu": post_form(parser=""),
    "multipart": post_multipart(tokenizer="presegmented"),
}
WORD_FILLINGS = {"#\n", "a", ". ", "\\", "%", "&", "=", "1\t"}
"""Sentences of such words would be parsed by some readers, in quadratic time, up to the longest sentence allowed."""
PARSING = {"text", "steps"}


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def check_linear(work: Callable[[int], object], size: int) -> None:
    """Repeat before failing, because other processes share the machine, and compare the shortest times."""
    single = double = float("inf")
    for _ in range(6):
        single = min(single, seconds(lambda: work(size)))
        double = min(double, seconds(lambda: work(2 * size)))
        if double <= FACTOR * single + EPSILON:
            return
    pytest.fail(f"{size:,} characters took {single:.3f} s, twice as many {double:.3f} s")


@pytest.mark.parametrize("reader", READERS)
def test_reading_takes_linear_time(client: TestClient, reader: str) -> None:
    for filling in FILLINGS:
        if reader in PARSING and filling in WORD_FILLINGS:
            continue

        def work(count: int, filling: str = filling) -> None:
            assert READERS[reader](client, filling * (count // len(filling))) in (200, 413, 422), repr(filling)

        check_linear(work, 4_000 if filling in WORD_FILLINGS else 100_000)


@pytest.mark.parametrize("reader", ["presegmented", "tokenizer", "draw", "text"])
def test_a_megabyte_of_white_space_is_read_at_once(client: TestClient, reader: str) -> None:
    for filling in (" ", "\n", " \n"):
        assert seconds(lambda filling=filling: READERS[reader](client, filling * 400_000)) < 5  # type: ignore[misc]


@pytest.mark.parametrize(
    "piece", [b"%", b"+", b"%41", b"%zz", b"=", b"\r\n--", b"\r\n--b\r\n", b'; name="', b"\r\n\r\n", b"\\"]
)
def test_forms_are_read_in_linear_time(piece: bytes) -> None:
    def work(count: int) -> None:
        body = piece * (count // len(piece))
        readers: list[Callable[[], object]] = [
            lambda: read_form(b"data=" + body),
            lambda: read_multipart(body, "multipart/form-data; boundary=b"),
            lambda: read_multipart(
                b"--b\r\nContent-Disposition: form-data" + body + b"\r\n\r\nx\r\n--b--", "a;boundary=b"
            ),
            lambda: read_multipart(b"", "multipart/form-data" + body.decode("latin-1")),
        ]
        for read in readers:
            try:
                read()
            except Exception as error:
                assert type(error).__name__ == "Problem", error

    check_linear(work, 500_000)


@pytest.mark.parametrize(
    "body",
    [
        b'{"tokens": [' + b"1," * 900_000 + b"1]}",
        b'{"tokens": [[' + b"1," * 900_000 + b"1]]}",
        b'{"conllu": "", "pictures": [' + b"1," * 900_000 + b"1]}",
        b"{" + b",".join(b'"k%d": 1' % number for number in range(200_000)) + b"}",
        b"[" * 1_000_000,
        b'{"text": ' + b"1" * 1_000_000 + b"}",
    ],
    ids=["tokens", "words", "pictures", "keys", "nesting", "number"],
)
def test_a_million_mistakes_are_one_error(client: TestClient, body: bytes) -> None:
    for path in ("/api/parse", "/api/draw"):
        start = time.perf_counter()
        response = client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert response.status_code in (400, 422)
        assert len(response.content) < 1_000
        assert time.perf_counter() - start < 3


def test_a_word_too_long_to_draw_is_parsed_but_not_drawn(client: TestClient) -> None:
    body = {"tokens": [["a"] * 200 + ["x" * 100_000]], "pictures": ["text"]}
    (tree,) = client.post("/api/parse", json=body).json()["sentences"]
    assert tree["pictures"] == {} and len(tree["tokens"]) == 201


@pytest.mark.parametrize("reader", ["text", "tokens", "horizontal", "vertical", "conllu", "presegmented"])
def test_the_words_of_a_request_are_limited(client: TestClient, reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text can have a word in every two bytes, and each takes hundreds of bytes in memory."""
    monkeypatch.setattr(read_input, "MAX_REQUEST_WORDS", 100)
    row = "{}\ta\t_\t_\t_\t_\t_\t_\t_\t_\n"

    def send(words: int) -> int:
        match reader:
            case "tokens":
                return int(client.post("/api/parse", json={"tokens": [["a"]] * words}).status_code)
            case "conllu":
                return READERS[reader](client, (row.format(1) + "\n") * words)
            case "vertical":
                return READERS[reader](client, "a\n\n" * words)
        return READERS[reader](client, "a\n" * words)

    assert send(101) == 413
    assert send(90) == 200


def test_lines_keep_all_white_space() -> None:
    assert list(_nonblank_lines("a\n\n \nb\nc\n\n")) == ["a\n", "\n \nb\n", "c\n\n"]
    assert list(_nonblank_lines("\n\n")) == ["\n\n"]
    assert list(_nonblank_lines("a\rb\x0cc")) == ["a\rb\x0cc"]
    assert list(_nonblank_lines("")) == []


@pytest.mark.parametrize("tokenizer", ["", "presegmented"])
@pytest.mark.parametrize("text", ["  \n\n \t", " " * 300_000, "\n the dog \n\n\n"])
def test_white_space_comes_back(client: TestClient, text: str, tokenizer: str) -> None:
    answer = client.post("/process", data={"data": text, "tokenizer": tokenizer}).json()["result"]
    assert text_of(read_all(io.BytesIO(answer.encode()))) == text


def test_long_white_space_is_split_in_linear_time_and_comes_back() -> None:
    tokenizer = RuleTokenizer()
    check_linear(lambda count: tokenizer.split(" " * count), 1_000_000)
    for text in (" " * 700_000, "a" + "\n" * 700_000, "\u2003" * 700_000 + "b" + " " * 600_000 + "c. D\n"):
        sentences = tokenizer.split(text)
        assert text_of(sentences) == text
        lines = "".join(map(Sentence.to_conll, sentences)) + sentences.tail
        assert max(map(len, lines.split("\n"))) < 1_700_000


@pytest.mark.parametrize(
    "charset", ["undefined", "punycode", "idna", "unicode_escape", "rot13", "utf-16", "nonsense", "utf-8"]
)
def test_the_charset_of_a_form_is_not_obeyed(client: TestClient, charset: str) -> None:
    body = b'--b\r\nContent-Disposition: form-data; name="data"\r\n\r\nthe d\xc3\xa5g\r\n--b--\r\n'
    header = f"multipart/form-data; charset={charset}; boundary=b"
    response = client.post(
        "/process?input=horizontal&output=horizontal", content=body, headers={"Content-Type": header}
    )
    assert (response.status_code, response.json()["result"]) == (200, "the dåg\n")


@pytest.mark.parametrize(
    ("content_type", "body", "complaint"),
    [
        ("multipart/form-data", b"", "boundary"),
        ("multipart/form-data; boundary=" + "b" * 300, b"", "boundary"),
        ("multipart/form-data; boundary=b", b"--b\r\n\r\nx", "its end is missing"),
        ("multipart/form-data; boundary=b", b"--b\r\nA: b\r\n\r\nx\r\n--b--", "without a name"),
        ("multipart/form-data; boundary=b", b'--b\r\nContent-Disposition: f; name="data"\r\n--b--', "without a name"),
        ("multipart/form-data; boundary=b", b"--b\r\n\r\n\r\n" * 60 + b"--b--", "more than 50"),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: f; name="data"\r\n\r\n\xff\r\n--b--',
            "data is not in UTF-8",
        ),
    ],
)
def test_damaged_forms_are_errors(client: TestClient, content_type: str, body: bytes, complaint: str) -> None:
    response = client.post("/process", content=body, headers={"Content-Type": content_type})
    assert response.status_code == 422 and complaint in response.text


def test_quoted_boundaries_and_names_are_read() -> None:
    body = b'preamble\r\n--a b\r\nContent-Type: text/plain\r\ncontent-disposition: form-data; filename="x;name=y"; '
    body += b'name="da\\"ta"\r\n\r\n--a\r\n\r\n--a b--\r\nepilogue'
    assert read_multipart(body, 'multipart/form-data; boundary="a b"') == {'da"ta': "--a\r\n"}
    assert json.dumps(read_multipart(b"--b--", "multipart/form-data; boundary=b")) == "{}"

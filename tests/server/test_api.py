"""The JSON interface."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings

from tests.helpers.generators import RawFile, raw_files
from tests.helpers.service import CONLLU, HEADS, WORDS, columns


def test_text_conllu_and_tokens_are_parsed(client: TestClient) -> None:
    for body in ({"tokens": [WORDS]}, {"conllu": CONLLU}, {"text": " ".join(WORDS)}):
        answer = client.post("/api/parse", json={**body, "probabilities": True}).json()
        (sentence,) = answer["sentences"]
        assert [token["head"] for token in sentence["tokens"]] == HEADS
        assert sentence["tokens"][7]["relation"] == "acl"
        assert all(0.3 < token["probability"] <= 1 for token in sentence["tokens"])
        assert columns(sentence["conllu"], 6) == list(map(str, HEADS))


def test_line_breaks_of_a_text_can_end_paragraphs(client: TestClient) -> None:
    body = {"text": "She was here\nyesterday"}
    lines, wrapped = (
        client.post("/api/parse", json={**body, "line_breaks": line_breaks}).json()["sentences"]
        for line_breaks in ("paragraphs", "spaces")
    )
    assert [len(sentence["tokens"]) for sentence in lines] == [3, 1]
    assert [len(sentence["tokens"]) for sentence in wrapped] == [4]
    assert client.post("/api/parse", json={**body, "line_breaks": "no"}).status_code == 422


def test_pictures_come_with_the_trees_or_alone(client: TestClient) -> None:
    kinds = ["svg", "text", "tikz"]
    parsed = client.post("/api/parse", json={"tokens": [WORDS, WORDS[:3]], "pictures": kinds}).json()["sentences"]
    assert [list(sentence["pictures"]) for sentence in parsed] == [kinds, kinds]
    assert "<svg" in parsed[0]["pictures"]["svg"] and "\\begin{dependency}" in parsed[0]["pictures"]["tikz"]
    conllu = "".join(sentence["conllu"] for sentence in parsed)
    assert client.post("/api/draw", json={"conllu": conllu, "pictures": kinds}).json()["sentences"] == [
        sentence["pictures"] for sentence in parsed
    ]


def as_conllu(heads: list[int]) -> str:
    pairs = zip(WORDS, heads, strict=False)
    rows = [f"{number}\t{word}\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for number, (word, head) in enumerate(pairs, 1)]
    return "".join(rows) + "\n"


def test_trees_are_compared_with_gold_trees(client: TestClient) -> None:
    tree, gold = as_conllu([2, 3, 0]), as_conllu([2, 0, 2])
    answer = client.post("/api/compare", json={"conllu": tree + gold, "gold": gold + gold}).json()["sentences"]
    assert [(s["words"], s["correct_heads"], s["correct_arcs"], s["differing"]) for s in answer] == [
        (3, 1, 1, [2, 3]),
        (3, 3, 3, []),
    ]
    assert [(s["conllu"], s["gold"]) for s in answer] == [(tree, gold), (gold, gold)]
    drawn = client.post("/api/draw", json={"conllu": tree, "against": gold, "pictures": ["svg", "text", "tikz"]})
    (pictures,) = drawn.json()["sentences"]
    assert pictures["svg"].count('class="arc gold"') == 2
    assert "≠ gold: dep of dog (2)" in pictures["text"] and "edge below" in pictures["tikz"]


@pytest.mark.parametrize(
    ("gold", "complaint", "line"),
    [
        (as_conllu([2, 0, 2]) * 2, "the input has 1 sentences, but the gold input 2", None),
        (as_conllu([0, 1]), "sentence 1: the trees have different words: 3 words, but 2", 1),
        (as_conllu([2, 0, 2]).replace("sees", "saw"), "sentence 1: the trees have different words: word 3", 1),
        (as_conllu([2, 3, 2]), "gold: ", 2),
        ("1\tthe\n\n", "gold: ", 1),
    ],
)
def test_trees_over_other_words_cannot_be_compared(
    client: TestClient, gold: str, complaint: str, line: int | None
) -> None:
    tree = as_conllu([2, 3, 0])
    for route, key in (("/api/compare", "gold"), ("/api/draw", "against")):
        response = client.post(route, json={"conllu": tree, key: gold})
        assert response.status_code == 422
        assert response.json()["error"].startswith(complaint), response.text
        assert response.json()["line"] == line


def test_steps_tell_how_the_tree_came_about(client: TestClient) -> None:
    answer = client.post("/api/steps", json={"tokens": [WORDS[:3], WORDS], "sentence": 2}).json()
    assert answer["words"] == WORDS
    model, oracle = answer["derivations"]
    assert (model["system"], model["by"], len(model["steps"])) == ("nl-covington", "model", 18)
    assert (oracle["system"], oracle["by"]) == ("covington", "oracle")
    assert len(oracle["steps"]) > 18
    for derivation in (model, oracle):
        arcs = [step["taken"]["arc"] for step in derivation["steps"] if step["taken"]["arc"]]
        assert {arc["dependent"]: arc["head"] for arc in arcs} == dict(enumerate(HEADS, 1))
    assert model["initial"] == {"λ1": [0], "λ2": [], "Buffer": list(range(1, 10))}
    assert model["steps"][-1]["lists"]["Buffer"] == []


@pytest.mark.parametrize(
    ("body", "status", "complaint"),
    [
        ({}, 422, "exactly one of text, conllu and tokens"),
        ({"text": "a", "conllu": "b"}, 422, "found text and conllu"),
        ({"text": "a", "model": "../etc/passwd"}, 422, "no model"),
        ({"text": "a", "modle": "toy"}, 422, "modle"),
        ({"tokens": [["a", "b\tc"]]}, 422, "sentence 1"),
        ({"tokens": [[]]}, 422, "sentence 1"),
        ({"tokens": [["\ud800"]]}, 422, "ud800"),
        ({"text": "a \udfff"}, 422, "udfff"),
        ({"conllu": CONLLU + "nothing\n"}, 422, "no tab"),
        ({"tokens": [["a"] * 1001]}, 413, "1,001 words"),
    ],
)
def test_mistakes_are_told(client: TestClient, body: dict[str, Any], status: int, complaint: str) -> None:
    content = json.dumps(body).encode()
    for route in ("/api/parse", "/api/steps"):
        response = client.post(route, content=content, headers={"Content-Type": "application/json"})
        assert response.status_code == status, response.text
        assert complaint in response.json()["error"]


def test_the_line_of_a_mistake_is_told(client: TestClient) -> None:
    answer = client.post("/api/parse", json={"conllu": CONLLU + "1\ta\t_\t_\t_\t_\t7\t_\t_\t_\n"}).json()
    assert answer["line"] == 11
    assert "HEAD is '7'" in answer["error"]


@settings(max_examples=60, deadline=None)
@given(file=raw_files())
def test_whatever_is_in_a_file_its_words_come_back(client: TestClient, file: RawFile) -> None:
    text = file.data.decode()
    parsed = client.post("/api/parse", json={"conllu": text})
    assert parsed.status_code == 200, parsed.text
    assert [[token["form"] for token in tree["tokens"]] for tree in parsed.json()["sentences"]] == [
        [word[1] for word in words] for words in file.sentences
    ]
    # The heads of such a file need not be a tree.
    drawn = client.post("/api/draw", json={"conllu": text, "pictures": ["svg", "text", "tikz"]})
    if drawn.status_code == 422:
        assert "cycle" in drawn.json()["error"] and drawn.json()["line"] > 0
    else:
        assert len(drawn.json()["sentences"]) == len(file.sentences)


def test_sentences_that_are_too_long_are_not_drawn_nor_stepped(client: TestClient) -> None:
    long = {"tokens": [WORDS * 35]}
    parsed = client.post("/api/parse", json={**long, "pictures": ["svg"]}).json()
    assert parsed["sentences"][0]["pictures"] == {}
    assert client.post("/api/steps", json=long).status_code == 413

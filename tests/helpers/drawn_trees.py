"""Build sentences to draw and read the SVG back."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

from hypothesis import settings
from hypothesis import strategies as st

from longarc.data.sentence import UPOS, Sentence
from tests.helpers.generators import ODD_FIELDS, texts
from tests.helpers.tree_generators import Heads, as_heads, trees

quickly = settings(max_examples=40, deadline=None)

LABELS = ("det", "nsubj", "acl:relcl", "i", "compound:svc:extra", "<&>", "")


def sentence_with(heads: Heads, forms: list[str] | None = None, relations: list[str] | None = None) -> Sentence:
    words = range(1, len(heads))
    # A file can have forms that `from_forms` would refuse.
    named = forms or [f"word{node}" for node in words]
    sentence = Sentence([[str(number), form, *"________"] for number, form in enumerate(named, 1)])
    sentence.set_tree(heads, ["", *(relations or [f"r{node}" for node in words])])
    sentence.set_column(UPOS, ["NOUN"] * len(heads))
    return sentence


def letter(clause: int = 2) -> Sentence:
    """A non-projective tree: the relative clause belongs to `letter`, beyond the verb."""
    forms = ["A", "letter", "was", "found", "yesterday", "that", "nobody", "wrote", "."]
    relations = ["det", "nsubj:pass", "aux:pass", "root", "obl:tmod", "obj", "nsubj", "acl:relcl", "punct"]
    return sentence_with(as_heads([2, 4, 4, 0, 4, 8, 8, clause, 4]), forms, relations)


TWO = sentence_with(as_heads([0, 1]))


@st.composite
def sentences(draw: st.DrawFn, max_words: int) -> Sentence:
    """Trees with forms and labels of many widths, odd ones among them."""
    heads = draw(trees(1, max_words))
    n = len(heads) - 1
    form = st.one_of(st.sampled_from(["a", "extraordinarily", "猫", "שלום", *ODD_FIELDS]), texts(max_size=5))
    forms = draw(st.lists(form, min_size=n, max_size=n))
    return sentence_with(heads, forms, draw(st.lists(st.sampled_from(LABELS), min_size=n, max_size=n)))


def arcs_of(sentence: Sentence) -> list[int]:
    return [int(head) for head in sentence.node_heads[1:]]


def overlapping(boxes: list[list[float]]) -> list[tuple[list[float], list[float]]]:
    """Pairs of boxes (left, top, right, bottom) that share more than an edge, to within rounding."""
    return [
        (a, b)
        for a, b in combinations(boxes, 2)
        if min(a[2], b[2]) - max(a[0], b[0]) > 0.11 and min(a[3], b[3]) - max(a[1], b[1]) > 0.11
    ]


SVG = "{http://www.w3.org/2000/svg}"

Element = ElementTree.Element


def parsed(svg: str) -> Element:
    return ElementTree.fromstring(svg.encode())


def groups(picture: Element, *kinds: str, without: str = "") -> dict[int, Element]:
    """The groups of some classes, by dependent."""
    found = [(set(group.attrib["class"].split()), group) for group in picture.iter(f"{SVG}g")]
    return {int(g.attrib["data-dependent"]): g for names, g in found if {*kinds} <= names and without not in names}


def shown(picture: Element, kind: str | None = None) -> list[str]:
    return [text.text or "" for text in picture.iter(f"{SVG}text") if kind in (None, text.get("class"))]


def boxes(picture: Element) -> list[list[float]]:
    found = [
        [float(box.attrib[key]) for key in ("x", "y", "width", "height")] for box in picture.findall(f"*/{SVG}rect")
    ]
    return [[x, y, x + width, y + height] for x, y, width, height in found]

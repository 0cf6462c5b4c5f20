"""Small treebank files written by hand."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.generators import word

ROW = "{}\t{}\t_\t_\t_\t_\t_\t_\t_\t_"


def write_words(path: Path, *forms: str, end: str = "\n\n", mark: str = "") -> Path:
    path.write_text(mark + "\n".join(ROW.format(*pair) for pair in enumerate(forms, 1)) + end, "utf-8")
    return path


CONLLU = "# sent_id = 1\n# text = Dogs bark\n" + word(1, 2, "Dogs") + word(2, 0, "bark") + "\n"

CONLLX = word(1, 2, "Hunde").replace("X", "NN") + word(2, 0, "gør").replace("X", "VB") + "\n"

JSON = (
    '{"comments": ["# sent_id = 1", "# text = Dogs bark"], "tokens": ['
    '{"id": 1, "form": "Dogs", "upos": "X", "head": 2, "relation": "dep"}, '
    '{"id": 2, "form": "bark", "upos": "X", "head": 0, "relation": "dep"}]}\n'
)

NONPROJECTIVE = (
    "# text = a hearing is scheduled on it\n"
    + word(1, 2, "a", "det")
    + word(2, 4, "hearing", "subj")
    + word(3, 4, "is", "aux")
    + word(4, 0, "scheduled", "root")
    + word(5, 2, "on", "nmod")
    + word(6, 5, "it", "pobj")
    + "\n"
)

# A projective tree; a non-projective one (`on the issue` belongs to `hearing`); one with two roots, which in the file
# has a multiword token and an empty node as well.
READS = [("She", 2, "nsubj"), ("reads", 0, "root"), ("books", 2, "obj")]

HEARING = [
    *(("A", 2, "det"), ("hearing", 4, "nsubj:pass"), ("is", 4, "aux:pass"), ("scheduled", 0, "root")),
    *(("on", 7, "case"), ("the", 7, "det"), ("issue", 2, "nmod"), ("today", 4, "obl")),
]

TWO_ROOTS = [("Vá", 0, "root"), ("te", 1, "obj"), ("sai", 0, "root"), (".", 3, "punct")]

SENTENCES = [READS, HEARING, TWO_ROOTS]


def rows(sentence: list[tuple[str, int, str]]) -> list[str]:
    return [f"{i}\t{form}\t_\tX\t_\t_\t{head}\t{rel}\t_\t_" for i, (form, head, rel) in enumerate(sentence, 1)]


def as_conllu(sentences: list[list[tuple[str, int, str]]]) -> str:
    return "".join("\n".join(rows(sentence)) + "\n\n" for sentence in sentences)

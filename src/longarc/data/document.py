"""A document: the sentences of a text or of a file, in order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from longarc.data.files import open_output
from longarc.data.formats import COMPRESSION_SUFFIXES, format_of_path, format_suffix
from longarc.data.raw_text import text_of
from longarc.data.sentence import FEATS, Format, Sentence
from longarc.data.word import Word
from longarc.errors import LongarcError

if TYPE_CHECKING:
    import pandas

NOTEBOOK_TREES = 20
"""Trees that a notebook shows of one document."""


class Document(Sequence[Sentence]):
    """The sentences of a text or of a file.

    >>> doc = longarc.load()("She left.  Nobody knew why.")
    >>> len(doc), doc[1].root.text
    (2, 'knew')
    >>> doc.text
    'She left.  Nobody knew why.'
    """

    def __init__(self, sentences: Iterable[Sentence] = (), *, tail: str = "", format: Format = "conllu") -> None:
        self.sentences = list(sentences)
        self.tail = tail
        """The text after the last sentence of a file: blank lines and comments"""
        self.format: Format = format
        self.language = ""
        """The code of the language that was recognized, with `longarc.load("auto")`"""
        self.language_probability: float | None = None
        """How certain that is"""

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.sentences)

    def __bool__(self) -> bool:
        return bool(self.sentences)

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sentence]: ...
    def __getitem__(self, index: int | slice) -> Sentence | list[Sentence]:
        """Return a sentence, or the sentences of a slice; they are numbered from 0."""
        return self.sentences[index]

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    def __repr__(self) -> str:
        words = sum(map(len, self.sentences))
        sentence, word = "sentence" if len(self) == 1 else "sentences", "word" if words == 1 else "words"
        return f"<Document of {len(self)} {sentence}, {words} {word}>"

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The text, with all its white space; for a file, as far as the file records it."""
        return text_of(self)

    @property
    def words(self) -> list[Word]:
        """The words of all sentences."""
        return [word for sentence in self.sentences for word in sentence]

    def to_conllu(self) -> str:
        """Return the sentences in CoNLL-U.

        >>> print(longarc.load()("Go!").to_conllu().splitlines()[1])
        # text = Go!
        """
        return "".join([sentence.to_conllu() for sentence in self.sentences])

    def to_dict(self) -> dict[str, Any]:
        """Return the text and, for each sentence, its start and end, its comments and its tokens.

        >>> longarc.load()("Go!").to_dict()["sentences"][0]["tokens"][0]["form"]
        'Go'
        """
        sentences = [{"start": s.start, "end": s.end, **s.to_dict()} for s in self.sentences]
        return {"text": self.text, "sentences": sentences}

    def to_json(self) -> str:
        """Return `to_dict()` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a table with a row per word; needs pandas.

        `sentence` is numbered from 0. `id` and `head` are numbered from 1, as in CoNLL-U; the head of the root is 0.
        """
        try:
            import pandas
        except ImportError:
            raise LongarcError("pandas is not installed", "Install it: pip install pandas") from None
        columns = ("text", "lemma", "upos", "xpos", "relation", "start", "end", "probability")
        rows = []
        for number, sentence in enumerate(self.sentences):
            heads = sentence.node_heads[1:].tolist()
            for word, head in zip(sentence, heads, strict=True):
                cells = {column: getattr(word, column) for column in columns}
                feats = "" if word.row[FEATS] == "_" else word.row[FEATS]
                rows.append({"sentence": number, "id": word.id, **cells, "feats": feats, "head": head})
        order = ("sentence", "id", "text", "lemma", "upos", "xpos", "feats", "head", "relation")
        return pandas.DataFrame(rows, columns=[*order, "start", "end", "probability"])

    def save(self, path: str | Path) -> None:
        """Write the document to a file; the suffix determines the format.

        `.conllu`, `.conllx`, `.jsonl` (a sentence per line), `.json` (the whole document) and `.txt` (the text only),
        each also with `.gz` or `.xz`.

        >>> longarc.load()("She left.").save("example.conllu")
        >>> longarc.read_all("example.conllu")[0].root.text
        'left'
        """
        from longarc.data.conll import encode  # which imports this module

        text = self._written_as(format_suffix(path), format_of_path(path))
        with open_output(path) as stream:
            stream.write(encode(text, "utf-8"))

    def _written_as(self, suffix: str, format: str | None) -> str:
        from longarc.runtime.pipeline import format_sentence

        if suffix == ".json":
            return self.to_json() + "\n"
        if format == "text":
            return self.text
        if format is None:
            known = ".conllu, .conllx, .jsonl, .json or .txt"
            compressed = " or ".join(COMPRESSION_SUFFIXES)
            raise LongarcError(f"cannot tell the format from the suffix {suffix!r}", f"Use {known} (and {compressed}).")
        return "".join([format_sentence(sentence, format, sentence.probabilities) for sentence in self.sentences])

    def _repr_html_(self) -> str:
        """Return the trees that a notebook shows."""
        pictures = [sentence.to_svg() for sentence in self[:NOTEBOOK_TREES]]
        trees = [f"<div style='overflow-x: auto'>{picture[picture.index('<svg') :]}</div>" for picture in pictures]
        more = len(self) - NOTEBOOK_TREES
        return "".join(trees) + (f"<p>… and {more:,} more sentences</p>" if more > 0 else "")

"""Parse texts whose language is not known, each with a model of its language."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from typing import Any, Literal, NamedTuple, overload

from longarc.data.characters import LineBreaks
from longarc.data.document import Document
from longarc.data.language_profile import LanguageProfile, identify_language
from longarc.errors import LongarcError
from longarc.runtime.installed_models import DEFAULT, NamedModel, named_models
from longarc.runtime.model_file import read_profile
from longarc.runtime.parser import Parser

AUTO = "auto"
"""The name of a model that stands for all installed ones."""
TEXTS_AT_ONCE = 256
"""Texts of a stream that are sorted by language before they are parsed."""
WORDS_WITHIN = 50_000
"""Characters of a file from which words are taken."""
_JSON_TEXT = re.compile(r'"(?:text|form)":\s*"((?:[^"\\]|\\.)*)"')


class Language(NamedTuple):
    """The language of a text."""

    code: str
    """Such as `en`"""
    probability: float
    """That it is this language and not another one for which a model is installed"""


class AutoParser:
    """Parses each text with the installed model of its language; models are loaded when they are needed."""

    def __init__(self, *, threads: int | None = None, memory: int = 256, beam: int = 1) -> None:
        """The options are those of Parser."""
        self.memory = memory
        self._options: dict[str, Any] = {"threads": threads, "memory": memory, "beam": beam}
        self._models, self._profiles = _models_by_language()
        self._parsers: dict[str, Parser] = {}
        if not self._profiles:
            hint = "Models that were made with earlier versions of Longarc have to be packaged again."
            raise LongarcError("no installed model can be recognized by its language", hint)

    @property
    def languages(self) -> list[str]:
        """The codes of the languages that are recognized."""
        return sorted(self._models)

    def identify(self, text: str) -> Language:
        """Return the language of a text, among those of the installed models."""
        return Language(*next(iter(identify_language(text, self._profiles).items())))

    def parser(self, language: str) -> Parser:
        """Return the parser of a language."""
        if language not in self._parsers:
            if language not in self._models:
                raise LongarcError(f"no model for {language!r}", f"Languages: {', '.join(self.languages)}.")
            self._parsers[language] = Parser(self._models[language].path, **self._options)
        return self._parsers[language]

    def parser_for_file(self, start: bytes, encoding: str = "utf-8") -> tuple[Parser, Language]:
        """Return the parser for a file that begins with some bytes, and its language."""
        language = self.identify(words_in(start.decode(encoding, "replace")))
        return self.parser(language.code), language

    @overload
    def __call__(self, text: str, *, line_breaks: LineBreaks = "auto") -> Document: ...
    @overload
    def __call__(self, text: list[str] | tuple[str, ...], *, line_breaks: LineBreaks = "auto") -> list[Document]: ...
    def __call__(
        self, text: str | list[str] | tuple[str, ...], *, line_breaks: LineBreaks = "auto"
    ) -> Document | list[Document]:
        """Parse a text or a list of texts. See Parser for `line_breaks`."""
        documents = list(self.pipe([text] if isinstance(text, str) else text, line_breaks=line_breaks))
        return documents[0] if isinstance(text, str) else documents

    @overload
    def pipe(
        self, texts: Iterable[str], *, as_tuples: Literal[False] = False, line_breaks: LineBreaks = "auto"
    ) -> Generator[Document, None, None]: ...
    @overload
    def pipe(
        self, texts: Iterable[tuple[str, Any]], *, as_tuples: Literal[True], line_breaks: LineBreaks = "auto"
    ) -> Generator[tuple[Document, Any], None, None]: ...
    def pipe(
        self, texts: Iterable[Any], *, as_tuples: bool = False, line_breaks: LineBreaks = "auto"
    ) -> Generator[Any, None, None]:
        """Parse texts as they come and yield their documents in order; `as_tuples` as in Parser.pipe."""
        remaining = iter(texts)
        while group := list(islice(remaining, TEXTS_AT_ONCE)):
            documents = self._parse([text for text, _ in group] if as_tuples else group, line_breaks)
            if as_tuples:
                yield from zip(documents, (context for _, context in group), strict=True)
            else:
                yield from documents

    def _parse(self, texts: list[str], line_breaks: LineBreaks) -> Iterator[Document]:
        """Return the documents of some texts in order; texts of one language are parsed together."""
        languages = [self.identify(text) for text in texts]
        by_language: dict[str, list[str]] = {}
        for text, language in zip(texts, languages, strict=True):
            by_language.setdefault(language.code, []).append(text)
        parsed = {code: self.parser(code).pipe(own, line_breaks=line_breaks) for code, own in by_language.items()}
        for language in languages:
            document = next(parsed[language.code])
            document.language, document.language_probability = language
            yield document


def words_in(text: str) -> str:
    """Return the words of CoNLL rows or of JSON lines, or the text itself if it is neither."""
    rows = [line.split("\t", 2) for line in text[:WORDS_WITHIN].splitlines() if line[:1].isdigit() and "\t" in line]
    if rows:
        return " ".join(row[1] for row in rows)
    if text.lstrip().startswith("{"):
        return " ".join(match[1] for match in _JSON_TEXT.finditer(text[:WORDS_WITHIN]))
    return text


def _models_by_language() -> tuple[dict[str, NamedModel], dict[str, LanguageProfile]]:
    """Return the preferred model of each language that has a profile, and the profiles."""
    models: dict[str, NamedModel] = {}
    profiles: dict[str, LanguageProfile] = {}
    for model in named_models():
        language = model.language
        if not language or language in models:
            continue
        try:
            profile = read_profile(model.path)
        except LongarcError:  # a damaged file must not stop the use of the others
            continue
        if profile is not None:
            models[language], profiles[language] = model, profile
    # A text without letters is as probable in all languages: then the first one counts.
    profiles = dict(sorted(profiles.items(), key=lambda item: models[item[0]].name != DEFAULT))
    return models, profiles

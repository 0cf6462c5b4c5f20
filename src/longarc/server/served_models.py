"""The models that a server offers. Requests cannot name any other file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longarc.data.language_profile import identify_language
from longarc.errors import LongarcError
from longarc.runtime.auto_parser import AUTO
from longarc.runtime.installed_models import find_model, language_of_model, list_names, match_names
from longarc.runtime.parser import Parser, load
from longarc.server.problem import Problem


class ServedModels:
    """Parsers by name; the first is the default."""

    def __init__(self, parsers: Mapping[str, Parser]) -> None:
        if not parsers:
            raise LongarcError("no model to serve")
        self.parsers = dict(parsers)
        self.default = next(iter(self.parsers))
        self.languages = {name: language_of_model(name, parser.card) for name, parser in self.parsers.items()}
        """The language code of each model by name"""
        self.threads = max(parser.threads for parser in self.parsers.values())

    def find(self, requested: str | None, text: str = "") -> tuple[str, Parser]:
        """Return a model by name, by the start of its name up to a hyphen as UDPipe does, or by its language.

        `auto` is the model of the language of `text`.
        """
        requested = requested or self.default
        if requested == AUTO:
            profiles = {name: parser.profile for name, parser in self.parsers.items() if parser.profile is not None}
            name = next(iter(identify_language(text, profiles)), self.default)
            return name, self.parsers[name]
        prefixed = [name for name in self.parsers if name.startswith(f"{requested}-")]
        exact = [requested] if requested in self.parsers else []
        matches = exact or prefixed or match_names(requested, self.languages)
        if not matches:
            raise Problem(422, f"no model {requested[:80]!r} here", list_names(requested[:80], self.languages))
        return matches[0], self.parsers[matches[0]]


def load_models(names: Sequence[str], *, threads: int | None = None) -> ServedModels:
    """Load models by file or name; requests name them as their files, without the suffix.

    Without names, load the model that comes with Longarc.
    """
    if not names:
        parser = load(None, threads=threads)
        return ServedModels({card_text(parser, "name") or "default": parser})
    parsers: dict[str, Parser] = {}
    for path in map(find_model, names):
        if path.stem in parsers:
            raise LongarcError(f"two models are called {path.stem}", "Rename one of the files.")
        parsers[path.stem] = load(path, threads=threads)
    return ServedModels(parsers)


def get_acknowledgements(parser: Parser) -> list[str]:
    """Return what users of the model's output should cite: the method, the treebank, its licence and authors."""
    lines = [f"Longarc with the transition system {parser.system.name}: {parser.system.reference}"]
    for key, label in (("treebank", "Trained on: "), ("licence", "Licence: "), ("attribution", "")):
        if text := card_text(parser, key):
            lines.append(f"{label}{text}")
    return lines


def card_text(parser: Parser, key: str) -> str:
    """Return an entry of a model's card as one line that can be sent to clients, whatever the file contains."""
    text = str(parser.card.get(key) or "")
    if not text.isprintable():
        text = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(text.split())

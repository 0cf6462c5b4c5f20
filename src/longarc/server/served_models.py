"""The models that a server offers. Requests cannot name any other file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from longarc.errors import LongarcError
from longarc.runtime.parser import Parser, load
from longarc.server.problem import Problem


class ServedModels:
    """Parsers by name; the first is the default."""

    def __init__(self, parsers: Mapping[str, Parser]) -> None:
        if not parsers:
            raise LongarcError("no model to serve")
        self.parsers = dict(parsers)
        self.default = next(iter(self.parsers))
        self.threads = max(parser.threads for parser in self.parsers.values())

    def find(self, requested: str | None) -> tuple[str, Parser]:
        """Return the model of that name, or the first whose name starts with it up to a hyphen, as UDPipe does."""
        requested = requested or self.default
        if requested in self.parsers:
            return requested, self.parsers[requested]
        for name, parser in self.parsers.items():
            if name.startswith(f"{requested}-"):
                return name, parser
        raise Problem(422, f"no model {requested[:80]!r} here", f"Available: {', '.join(self.parsers)}.")


def load_models(paths: Sequence[str], *, threads: int | None = None) -> ServedModels:
    """Load model files, named without their suffix; without paths, load the model that comes with Longarc."""
    if not paths:
        parser = load(None, threads=threads)
        return ServedModels({card_text(parser, "name") or "default": parser})
    parsers: dict[str, Parser] = {}
    for path in paths:
        name = Path(path).stem
        if name in parsers:
            raise LongarcError(f"two models are called {name}", "Rename one of the files.")
        parsers[name] = load(path, threads=threads)
    return ServedModels(parsers)


def get_acknowledgements(parser: Parser) -> list[str]:
    """Return what users of the model's output should cite: the method, the treebank, its licence and authors."""
    lines = ["Longarc: NL-Covington (Fernández-González & Gómez-Rodríguez, NAACL 2018)"]
    for key, label in (("treebank", "Trained on: "), ("licence", "Licence: "), ("attribution", "")):
        if text := card_text(parser, key):
            lines.append(f"{label}{text}")
    return lines


def card_text(parser: Parser, key: str) -> str:
    """Return an entry of a model's card as one line that can be sent to clients, whatever the file contains."""
    text = str(parser.card.get(key) or "")
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())

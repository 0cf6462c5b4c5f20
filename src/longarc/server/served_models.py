"""The models that a server offers; nothing else on the machine can be named by a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from longarc.errors import LongarcError
from longarc.runtime.parser import Parser, load
from longarc.server.problem import Problem


class Models:
    """Parsers by name; the first is the one that requests get which name none."""

    def __init__(self, parsers: Mapping[str, Parser]) -> None:
        if not parsers:
            raise LongarcError("no model to serve")
        self.parsers = dict(parsers)
        self.default = next(iter(self.parsers))
        self.threads = max(parser.threads for parser in self.parsers.values())

    def find(self, wanted: str | None) -> tuple[str, Parser]:
        """The model of that name, or the first whose name begins with it up to a hyphen, as in UDPipe."""
        wanted = wanted or self.default
        for name, parser in self.parsers.items():
            if name == wanted:
                return name, parser
        for name, parser in self.parsers.items():
            if name.startswith(f"{wanted}-"):
                return name, parser
        raise Problem(422, f"no model {wanted[:80]!r} here", f"Offered: {', '.join(self.parsers)}.")


def load_models(paths: Sequence[str], *, threads: int | None = None) -> Models:
    """Loads model files, which are called by their names without the suffix; without any, the model that comes with
    the package."""
    if not paths:
        parser = load(None, threads=threads)
        return Models({str(parser.card.get("name") or "default"): parser})
    parsers: dict[str, Parser] = {}
    for path in paths:
        name = Path(path).stem
        if name in parsers:
            raise LongarcError(f"two models are called {name}", "Rename one of the files.")
        parsers[name] = load(path, threads=threads)
    return Models(parsers)


def acknowledgements(parser: Parser) -> list[str]:
    """Whom and what a user of the model's output should name."""
    card = parser.card
    about = [
        f"{label}: {card[key]}" for key, label in (("treebank", "Trained on"), ("licence", "Licence")) if card.get(key)
    ]
    return [
        "Longarc: NL-Covington (Fernández-González & Gómez-Rodríguez, NAACL 2018)",
        *about,
        *filter(None, [card.get("attribution")]),
    ]

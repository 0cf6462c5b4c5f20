"""Show the examples of docstrings (`>>>`) as code on the documentation site; see `extensions` in mkdocs.yml."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!\s*$).*\n?)*)+", re.MULTILINE)


class FencedExamples(griffe.Extension):
    """Put the examples of each docstring into a fenced block of code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(_fence, obj.docstring.value)


def _fence(example: re.Match[str]) -> str:
    return f"```pycon\n{example[0].rstrip()}\n```\n"

"""Split files into shards at sentence boundaries, so that several machines can each parse a part."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from typing import Literal

from longarc.data.files import Source, open_input


def shards(source: Source, max_bytes: int, *, format: Literal["conll", "jsonl", "tokens"] = "conll") -> Iterator[bytes]:
    """Yield the decompressed bytes of a file in shards of whole sentences; joined, they are the file.

    A shard is larger than `max_bytes` only if it is a single sentence. The blank lines and comments at the end of a
    file may form a shard without sentences. Pass the `format` of the first shard's reader to the readers of the
    others: a shard alone may not show whether a file is CoNLL-U or CoNLL-X.
    """
    shard: list[bytes] = []
    size = 0
    with open_input(source) as stream:
        for sentence in _split_conll(stream) if format == "conll" else stream:
            if shard and size + len(sentence) > max_bytes:
                yield b"".join(shard)
                shard, size = [], 0
            shard.append(sentence)
            size += len(sentence)
    if shard:
        yield b"".join(shard)


def _split_conll(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield sentences up to the blank line after each, as SentenceReader divides them, then the rest of the file."""
    sentence: list[bytes] = []
    has_rows = False
    for number, line in enumerate(lines):
        sentence.append(line)
        content = (line if number else line.removeprefix(codecs.BOM_UTF8)).rstrip(b" \r\n")
        if content:
            has_rows = has_rows or not content.startswith(b"#")
        elif has_rows:
            yield b"".join(sentence)
            sentence, has_rows = [], False
    if sentence:
        yield b"".join(sentence)

"""Invent tokens of web text that are written alike in all languages: links and emoji."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

_DOMAINS = ["com", "org", "net", "io", "de", "fr", "co.uk", "eu", "info", "gov", "edu", "app", "dev"]
_FILES = ["html", "pdf", "php", "jpg", "txt", "csv", "zip", "md", "py"]
_EMOJI: list[str] = [
    *map(chr, [*range(0x1F300, 0x1F321), *range(0x1F337, 0x1F37E), *range(0x1F380, 0x1F394), *range(0x1F3A0, 0x1F3CB)]),
    *map(chr, [*range(0x1F400, 0x1F43F), *range(0x1F440, 0x1F4FD), *range(0x1F500, 0x1F53E), *range(0x1F5FB, 0x1F650)]),
    *map(chr, [*range(0x1F680, 0x1F6C6), *range(0x1F90C, 0x1F93B), *range(0x1F947, 0x1FA00), *range(0x1FA70, 0x1FA75)]),
    *"☀☁☂☕☺♥♻⚡⚽✅✈✊✋✌✨❄❌❗❤⭐",
    *"👋👍😀😂😉😊😍😭🙏🎉🔥💯🚀🤔🤣" * 8,
]
_VARIANT = "\ufe0f"
_SKIN_TONES = [chr(code) for code in range(0x1F3FB, 0x1F400)]
_SKINNED = "👋👍👎👏🙏💪🤝🙌👌✊✋✌🤷🙋"
FLAG_LETTERS = [chr(code) for code in range(0x1F1E6, 0x1F200)]
_JOINED = ["👩‍💻", "👨‍👩‍👧", "🤷‍♀️", "🏳️‍🌈", "👩‍🚀", "❤️‍🔥", "🧑‍🍳", "👁️‍🗨️", "🙋‍♂️"]


def invent_link(words: Sequence[str], rng: Random) -> str:
    """Return a web address, an e-mail address, a file name, a hashtag or a user name made of these words."""

    def word() -> str:
        return rng.choice(words)

    domain = ".".join([*(word() for _ in range(rng.choice([1, 1, 2]))), rng.choice(_DOMAINS)])
    kind = rng.random()
    if kind < 0.15:
        return f"{word()}{rng.choice(['.', '_', '', '-'])}{word()}@{domain}"
    if kind < 0.22:
        return rng.choice("#@") + word() + rng.choice(["", word().title(), str(rng.randint(1, 99))])
    if kind < 0.3:
        return (
            f"{word()}{rng.choice(['-', '_', ''])}{rng.choice([word(), str(rng.randint(1, 20))])}.{rng.choice(_FILES)}"
        )
    link = rng.choice(["https://", "http://", "https://www.", "www.", "http://www.", ""]) + domain
    for _ in range(rng.choice([0, 0, 1, 2, 3])):
        link += "/" + rng.choice([word(), str(rng.randint(1, 9999)), f"{word()}-{word()}", f"{word()}_{word()}"])
    ending = rng.random()
    if ending < 0.15 and link.count("/") > 2:
        link += "." + rng.choice(_FILES)
    elif ending < 0.25:
        link += "/"
    elif ending < 0.35:
        link += f"/?{word()}={word()}&{word()[0]}={rng.randint(1, 99)}"
    elif ending < 0.4:
        link += f"/#{word()}"
    return link


def invent_emoji(rng: Random) -> str:
    """Return an emoji, which may consist of several characters."""
    kind = rng.random()
    if kind < 0.7:
        return rng.choice(_EMOJI)
    if kind < 0.8:
        return rng.choice(_EMOJI) + _VARIANT
    if kind < 0.88:
        return rng.choice(_SKINNED) + rng.choice(_SKIN_TONES)
    if kind < 0.95:
        return rng.choice(FLAG_LETTERS) + rng.choice(FLAG_LETTERS)
    return rng.choice(_JOINED)

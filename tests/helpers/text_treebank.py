"""A generated treebank with running text, contractions and paragraphs."""

from __future__ import annotations

import random


def treebank_with_text(sentences: int, seed: int = 1) -> str:
    """A treebank with full stops that cling, contractions that are two words, and paragraphs."""
    chooser = random.Random(seed)
    lines = []
    for number in range(sentences):
        rows = []
        subject = chooser.choice(["Ann", "Bob", "The cat", "My friend", "Dr. Low"]).split()
        verb = chooser.choice(["can't see", "cannot find", "won't take", "sees", "likes", "didn't mind"]).split()
        rest = chooser.choice(["it", "the house", "this, too", "10.5 pounds", "a well-known place"]).split()
        words = 0
        tokens = [
            piece for word in [*subject, *verb, *rest] for piece in (word.partition(",")[:2] if "," in word else [word])
        ]
        tokens.append(chooser.choice(".!?"))
        for place, token in enumerate(tokens):
            misc = "SpaceAfter=No" if place + 1 < len(tokens) and tokens[place + 1] in ",.!?" else "_"
            parts = (
                [token[:-3], token[-3:]] if token.endswith("n't") else ["can", "not"] if token == "cannot" else [token]
            )
            if len(parts) > 1:
                rows.append(f"{words + 1}-{words + 2}\t{token}\t_\t_\t_\t_\t_\t_\t_\t{misc}")
            for part in parts:
                words += 1
                own = "_" if len(parts) > 1 else misc
                rows.append(f"{words}\t{part}\t_\tX\t_\t_\t{words - 1}\t{'root' if words == 1 else 'dep'}\t_\t{own}")
        lines += (["# newpar"] if number % 4 == 0 else []) + rows + [""]
    return "\n".join(lines) + "\n"


TEXT = "Ann can't see it. Dr. Low likes the house!\n\nBob sees this, too"

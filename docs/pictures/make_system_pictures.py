"""Draw how each transition system builds an example tree: a row per configuration, with the arc that it adds.

    python docs/pictures/make_system_pictures.py

writes docs/systems/NAME.svg for every system. The projective systems build a projective variant of the sentence.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from longarc import Sentence
from longarc.runtime.steps import Derivation, NodeArc, oracle_steps
from longarc.transitions import SYSTEMS

FOLDER = Path(__file__).parents[1] / "systems"
CROSSING = ("A letter came yesterday from Rome", [2, 3, 0, 3, 6, 2], "det nsubj root advmod case nmod")
PROJECTIVE = ("A letter from Rome came yesterday", [2, 5, 4, 2, 0, 5], "det nsubj case nmod root advmod")

COLOURS = {"λ1": "#cfe3f5", "Stack": "#cfe3f5", "Attached": "#cfe3f5", "λ2": "#fbe3b8", "Buffer": "#e9e9e4"}
LEFT, ROW, BOX, GAP = 118, 46, 20, 10
LETTER = 7.6


def example(projective: bool) -> Sentence:
    """Return the example sentence."""
    text, heads, relations = PROJECTIVE if projective else CROSSING
    sentence = Sentence.from_forms(text.split())
    sentence.set_tree([-1, *heads], ["", *relations.split()])
    return sentence


def draw(derivation: Derivation, forms: list[str]) -> str:
    """Return a picture of a derivation."""
    words = ["ROOT", *forms]
    widths = [len(word) * LETTER + 12 for word in words]
    starts = [LEFT + sum(widths[:node]) + GAP * node for node in range(len(words))]
    centres = [start + width / 2 for start, width in zip(starts, widths, strict=True)]
    rows: list[tuple[str, dict[str, list[int]], NodeArc | None]] = [("", derivation.initial, None)]
    rows += [(step.taken.name, step.lists, step.taken.arc) for step in derivation.steps]
    width, height = starts[-1] + widths[-1] + 14, ROW * len(rows) + 54
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" '
        f'height="{height}" font-family="Helvetica, Arial, sans-serif" font-size="13">',
        f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#ffffff"/>',
        *draw_legend([name for name in COLOURS if any(name in lists for _, lists, _ in rows)]),
    ]
    for number, (name, lists, arc) in enumerate(rows):
        top = 44 + ROW * number
        parts.append(f'<text x="14" y="{top + 34}" fill="#444">{escape(name)}</text>')
        colours = {node: COLOURS[key] for key, nodes in lists.items() for node in nodes}
        for node, word in enumerate(words):
            if node in colours:
                parts.append(
                    f'<rect x="{starts[node]:.1f}" y="{top + BOX}" width="{widths[node]:.1f}" height="20" rx="4" '
                    f'fill="{colours[node]}"/>'
                )
            ink = "#222" if node in colours else "#aaa"
            parts.append(
                f'<text x="{centres[node]:.1f}" y="{top + 34}" text-anchor="middle" fill="{ink}">{escape(word)}</text>'
            )
        if arc is not None:
            parts += draw_arc(centres[arc.head], centres[arc.dependent], top + BOX)
    return "\n".join([*parts, "</svg>", ""])


def draw_legend(names: list[str]) -> list[str]:
    parts = []
    x = float(LEFT)
    for name in names:
        parts.append(f'<rect x="{x:.1f}" y="14" width="16" height="16" rx="4" fill="{COLOURS[name]}"/>')
        parts.append(f'<text x="{x + 22:.1f}" y="27" fill="#444">{name}</text>')
        x += 40 + len(name) * LETTER
    return parts


def draw_arc(head: float, dependent: float, bottom: int) -> list[str]:
    """Draw the arc from the head to the dependent, above their boxes."""
    direction = 4 if head < dependent else -4
    start, end = head + direction, dependent - direction
    path = f"M {start:.1f} {bottom} C {start:.1f} {bottom - 17}, {end:.1f} {bottom - 17}, {end:.1f} {bottom - 5}"
    tip = f"{end - 4:.1f},{bottom - 6} {end + 4:.1f},{bottom - 6} {end:.1f},{bottom}"
    return [
        f'<path d="{path}" fill="none" stroke="#00639b" stroke-width="1.6"/>',
        f'<polygon points="{tip}" fill="#00639b"/>',
    ]


def main() -> None:
    for name, system in SYSTEMS.items():
        sentence = example(system.projective)
        (FOLDER / f"{name}.svg").write_text(draw(oracle_steps(sentence, name), sentence.forms), "utf-8")


if __name__ == "__main__":
    main()

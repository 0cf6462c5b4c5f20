"""The figures published by Fernández-González & Gómez-Rodríguez (NAACL 2018), for comparison with our own.

UAS and LAS are means over three seeds. Punctuation counts, except on PT-SD (Stanford Dependencies of the WSJ).
"""

from __future__ import annotations

from dataclasses import dataclass

PT_SD = "PT-SD"


@dataclass(frozen=True)
class Attachment:
    """UAS and LAS in percent."""

    uas: float
    las: float


@dataclass(frozen=True)
class Transitions:
    """Transitions per sentence of the test set (Table 4)."""

    covington: float
    nl_covington: float


@dataclass(frozen=True)
class PublishedParser:
    """A row of the paper's comparison on PT-SD (Table 2)."""

    name: str
    kind: str
    uas: float
    las: float | None


# Covington, NL-Covington and arc-swift (UAS, LAS each), then transitions of Covington and NL-Covington. The first ten
# are CoNLL-XI data, the other nine CoNLL-X.
_CONLL: dict[str, tuple[float, float, float, float, float, float, float, float]] = {
    "Arabic": (66.67, 53.24, 68.69, 54.59, 67.54, 53.65, 194.80, 78.22),
    "Basque": (74.31, 66.18, 75.45, 67.61, 74.88, 67.44, 46.74, 30.13),
    "Catalan": (91.93, 86.12, 92.60, 86.99, 92.98, 87.51, 117.35, 60.07),
    "Chinese": (83.87, 76.19, 85.25, 77.56, 84.96, 77.34, 19.12, 14.95),
    "Czech": (84.27, 77.91, 86.26, 79.95, 85.92, 79.82, 60.62, 33.03),
    "English": (89.94, 88.74, 91.51, 90.47, 91.41, 90.43, 78.01, 46.75),
    "Greek": (79.91, 72.65, 80.61, 73.41, 81.64, 74.56, 89.23, 48.77),
    "Hungarian": (76.80, 65.21, 78.57, 67.51, 78.70, 69.27, 68.54, 37.66),
    "Italian": (82.03, 75.87, 83.63, 78.03, 83.29, 78.60, 63.67, 40.93),
    "Turkish": (80.29, 70.68, 81.30, 71.28, 79.56, 70.22, 53.53, 30.08),
    "Bulgarian": (81.78, 76.23, 83.65, 78.40, 83.28, 78.19, 51.35, 29.81),
    "Danish": (86.56, 81.18, 88.40, 82.77, 87.86, 82.58, 66.77, 36.34),
    "Dutch": (86.19, 82.24, 87.45, 83.76, 83.27, 80.14, 42.78, 28.93),
    "German": (85.72, 82.28, 87.24, 83.92, 86.28, 82.97, 61.16, 31.89),
    "Japanese": (92.20, 90.41, 93.63, 91.65, 93.64, 91.92, 24.30, 16.11),
    "Portuguese": (86.69, 82.19, 87.89, 83.69, 87.01, 83.09, 76.14, 40.74),
    "Slovene": (76.07, 66.81, 77.83, 69.74, 77.89, 69.37, 56.15, 31.79),
    "Spanish": (74.67, 69.41, 76.58, 71.60, 75.55, 70.62, 109.70, 55.28),
    "Swedish": (74.65, 64.67, 75.62, 65.95, 75.00, 65.66, 48.59, 29.07),
}

SCORES: dict[str, dict[str, Attachment]] = {
    **{
        name: {
            "covington": Attachment(*row[0:2]),
            "nl-covington": Attachment(*row[2:4]),
            "arc-swift": Attachment(*row[4:6]),
        }
        for name, row in _CONLL.items()
    },
    PT_SD: {"nl-covington": Attachment(94.5, 92.4), "arc-swift": Attachment(94.3, 92.2)},
}
"""By dataset and system (Tables 1, 2 and 3)."""

AVERAGES: dict[str, Attachment] = {
    "covington": Attachment(81.82, 75.17),
    "nl-covington": Attachment(83.27, 76.78),
    "arc-swift": Attachment(82.67, 76.49),
}
"""Over the nineteen CoNLL datasets."""

TRANSITIONS: dict[str, Transitions] = {
    **{name: Transitions(*row[6:8]) for name, row in _CONLL.items()},
    PT_SD: Transitions(81.65, 46.92),
}

AVERAGE_TRANSITIONS = Transitions(70.51, 38.37)
"""Over all twenty datasets."""

_SIGNIFICANT_AGAINST_ARC_SWIFT = {
    "uas": {"Arabic", "Greek", "Turkish", "Danish", "Dutch", "German", "Portuguese", "Spanish"},
    "las": {"Arabic", "Catalan", "Greek", "Hungarian", "Italian", "Turkish"}
    | {"Dutch", "German", "Portuguese", "Spanish"},
}
"""The datasets with a star in Table 3, whichever system is better."""


def is_significant(dataset: str, first: str, second: str, measure: str) -> bool:
    """Return whether the paper calls the difference significant: all in Table 1, some in Table 3."""
    if {first, second} == {"covington", "nl-covington"}:
        return dataset in _CONLL
    if {first, second} == {"arc-swift", "nl-covington"}:
        return dataset in _SIGNIFICANT_AGAINST_ARC_SWIFT[measure]
    return False


PARSERS_ON_PT_SD = (
    PublishedParser("Chen & Manning 2014", "greedy, static", 91.8, 89.6),
    PublishedParser("Dyer et al. 2015", "greedy, static", 93.1, 90.9),
    PublishedParser("Weiss et al. 2015, greedy", "greedy, static", 93.2, 91.2),
    PublishedParser("Ballesteros et al. 2016", "greedy, dynamic", 93.5, 91.4),
    PublishedParser("Kiperwasser & Goldberg 2016", "greedy, dynamic", 93.9, 91.9),
    PublishedParser("Qi & Manning 2017 (arc-swift)", "greedy, static", 94.3, 92.2),
    PublishedParser("NL-Covington (the paper)", "greedy, static", 94.5, 92.4),
    PublishedParser("Weiss et al. 2015, beam 8", "beam", 94.0, 92.1),
    PublishedParser("Alberti et al. 2015, beam 32", "beam", 94.2, 92.4),
    PublishedParser("Andor et al. 2016, beam 32", "beam", 94.6, 92.8),
    PublishedParser("Shi et al. 2017", "dynamic programming", 94.5, None),
    PublishedParser("Kuncoro et al. 2016", "constituency, converted", 95.8, 94.6),
)

"""The transition systems by name. A new one is a new file and a line here."""

from __future__ import annotations

from typing import Any

from longarc.errors import LongarcError
from longarc.transitions.arc_eager import ArcEager
from longarc.transitions.arc_hybrid import ArcHybrid
from longarc.transitions.arc_standard import ArcStandard
from longarc.transitions.arc_swift import ArcSwift
from longarc.transitions.covington import Covington
from longarc.transitions.mst import Mst
from longarc.transitions.nl_covington import NLCovington
from longarc.transitions.non_monotonic_covington import NonMonotonicCovington
from longarc.transitions.non_monotonic_nl_covington import NonMonotonicNLCovington
from longarc.transitions.pointer import Pointer
from longarc.transitions.system import TransitionSystem

SYSTEMS: dict[str, TransitionSystem[Any]] = {
    system.name: system
    for system in (
        Covington(),
        NLCovington(),
        NonMonotonicCovington(),
        NonMonotonicNLCovington(),
        Pointer(),
        Mst(),
        ArcSwift(),
        ArcEager(),
        ArcStandard(),
        ArcHybrid(),
    )
}


def get_system(name: str) -> TransitionSystem[Any]:
    """Return the system with this name."""
    try:
        return SYSTEMS[name]
    except KeyError:
        raise LongarcError(f"unknown transition system {name!r}", f"Choose one of {', '.join(SYSTEMS)}.") from None

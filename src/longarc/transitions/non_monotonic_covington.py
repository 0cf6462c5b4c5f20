"""Non-monotonic Covington (Fernández-González & Gómez-Rodríguez 2017): Covington's transitions, with arcs that replace
earlier ones; see `non_monotonic_state`.
"""

from __future__ import annotations

from longarc.transitions.covington import Covington
from longarc.transitions.non_monotonic_state import NonMonotonic


class NonMonotonicCovington(NonMonotonic, Covington):
    """Choices as in Covington."""

    name = "non-monotonic-covington"
    reference = "Fernández-González & Gómez-Rodríguez (2017)"

"""Non-monotonic NL-Covington: the non-local transitions of NL-Covington, with arcs that replace earlier ones; see
`non_monotonic_state`.
"""

from __future__ import annotations

from longarc.transitions.nl_covington import NLCovington
from longarc.transitions.non_monotonic_state import NonMonotonic


class NonMonotonicNLCovington(NonMonotonic, NLCovington):
    """Choices as in NLCovington."""

    name = "non-monotonic-nl-covington"
    reference = "Fernández-González & Gómez-Rodríguez (2017, 2018)"

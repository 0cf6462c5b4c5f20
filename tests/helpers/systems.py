"""Parametrizations over the transition systems."""

from __future__ import annotations

import pytest

from longarc.transitions import SYSTEMS

COVINGTON_FAMILY = ("covington", "nl-covington")

STACK_SYSTEMS = ("arc-swift", "arc-eager", "arc-standard", "arc-hybrid")

every_system = pytest.mark.parametrize("name", SYSTEMS)

both_root_rules = pytest.mark.parametrize("single_root", [False, True], ids=["any-roots", "one-root"])

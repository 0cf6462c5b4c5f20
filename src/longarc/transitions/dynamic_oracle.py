"""The loss of the configurations of Covington systems, which defines their dynamic oracles.

The loss is the number of gold arcs that no continuation can build. For Covington and NL-Covington it is exact
(Gómez-Rodríguez & Fernández-González 2015), for both, since the transitions of NL-Covington are sequences of Covington
transitions. For their non-monotonic versions it is an upper bound (Fernández-González & Gómez-Rodríguez 2017).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longarc.data.sentence import NO_HEAD
from longarc.transitions.system import Ints

if TYPE_CHECKING:
    from longarc.transitions.covington_state import CovingtonState


def loss(state: CovingtonState, gold: Ints, *, monotonic: bool = True) -> Ints:
    """[batch] Gold arcs out of reach: those lost individually, plus one for each cycle that the others would close.

    `gold`: [batch, N]. A word that stays headless counts as lost, whatever a decoder does with it afterwards. In a
    monotonic system, a word keeps the head that it has.
    """
    i, j = state.left[:, None], state.front[:, None]
    low, high = np.minimum(gold, state.nodes), np.maximum(gold, state.nodes)
    lost = (j > high) | ((j == high) & (i < low))
    has_head = state.heads != NO_HEAD
    if monotonic:
        # With a single root, a second child of node 0 is not legal either.
        lost |= has_head | (state.root_taken[:, None] & (gold == 0))
    is_word = gold != NO_HEAD
    lost &= is_word & (state.heads != gold)
    future = np.where(is_word & ~lost, gold, np.where(has_head, state.heads, 0))
    return np.asarray(lost.sum(axis=1) + count_cycles(future))


def count_cycles(heads: Ints) -> Ints:
    """[batch] The number of cycles among heads [batch, N]; every chain that does not cycle must end at node 0."""
    nodes = np.broadcast_to(np.arange(heads.shape[1]), heads.shape)
    jump = heads.copy()
    jump[:, 0] = 0
    smallest = np.minimum(nodes, jump)  # the smallest node passed when following `jump`
    for _ in range(max(1, heads.shape[1] - 1).bit_length()):
        smallest = np.minimum(smallest, np.take_along_axis(smallest, jump, axis=1))
        jump = np.take_along_axis(jump, jump, axis=1)
    # After N steps a chain is at the root or on its cycle, and then the smallest node seen is the cycle's smallest.
    on_cycle = np.zeros(heads.shape, dtype=np.bool_)
    np.put_along_axis(on_cycle, jump, True, axis=1)
    return np.asarray((on_cycle & (smallest == nodes) & (nodes > 0)).sum(axis=1))

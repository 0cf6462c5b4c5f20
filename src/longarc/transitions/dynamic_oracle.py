"""The loss of Covington and NL-Covington configurations (Gómez-Rodríguez & Fernández-González 2015).

The loss is the number of gold arcs that no continuation can build. It is exact for both systems, since the transitions
of NL-Covington are sequences of Covington transitions.
"""

from __future__ import annotations

import numpy as np

from longarc.data.sentence import NO_HEAD
from longarc.transitions.covington_state import CovingtonState
from longarc.transitions.system import Ints


def loss(state: CovingtonState, gold: Ints) -> Ints:
    """[batch] Gold arcs out of reach: those lost individually, plus one for each cycle that the others would close.

    `gold`: [batch, N]. A word that stays headless counts as lost, whatever a decoder does with it afterwards.
    """
    i, j = state.left[:, None], state.front[:, None]
    low, high = np.minimum(gold, state.nodes), np.maximum(gold, state.nodes)
    passed = (j > high) | ((j == high) & (i < low))
    other_head = (state.heads != NO_HEAD) & (state.heads != gold)
    is_word = gold != NO_HEAD
    lost = is_word & (state.heads != gold) & (passed | other_head)
    future = np.where(state.heads != NO_HEAD, state.heads, np.where(is_word & ~lost, gold, 0))
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

"""A parse step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longarc import read_all
from longarc.data.sentence import HEAD
from longarc.runtime.parser import Parser
from longarc.runtime.steps import Derivation, NodeArc, model_steps, oracle_steps
from longarc.trees.structure import is_tree
from tests.helpers.small_models import FACTORED, packaged, small
from tests.helpers.toy_treebank import write_toy_treebank


def arcs_of(derivation: Derivation) -> list[NodeArc]:
    return [step.taken.arc for step in derivation.steps if step.taken.arc]


@pytest.mark.parametrize("changes", [{}, FACTORED], ids=["together", "factored"])
@pytest.mark.parametrize("system", ["nl-covington", "covington", "arc-swift", "arc-standard"])
def test_steps_build_the_tree_of_the_parser(system: str, changes: dict[str, Any], tmp_path: Path) -> None:
    sentences = read_all(write_toy_treebank(tmp_path / "toy.conllu", 12))
    parser = Parser(packaged(small(system, sentences, **changes)), threads=1)
    for sentence in sentences:
        derivation = model_steps(parser, sentence)
        parsed = parser.parse(sentence)
        tree = {arc.dependent: arc for arc in [*arcs_of(derivation), *derivation.attached]}
        heads = np.array([-1, *(tree[node].head for node in range(1, len(sentence) + 1))], dtype=np.int32)
        assert is_tree(heads, single_root=parser.description.single_root)
        chosen = {step.taken.arc.dependent: step.taken.probability for step in derivation.steps if step.taken.arc}
        if not parser.system.projective:  # the others' arcs are lowered afterwards
            assert heads.tolist() == parsed.node_heads.tolist()
            assert [tree[token.id].relation for token in parsed] == parsed.node_relations[1:]
        for token in parsed:
            assert chosen.get(token.id) == pytest.approx(token.probability)
        for step in derivation.steps:
            choices = [step.taken, *step.alternatives]
            assert sum(choice.any_relation or 0 for choice in choices) <= 1 + 1e-6
            for choice in choices:
                assert choice.probability is not None and choice.any_relation is not None
                assert choice.probability <= choice.any_relation + 1e-9
        for beside in ("covington", "nl-covington"):
            path = oracle_steps(parsed, beside)
            assert [step.taken.name for step in path.steps] == parsed.transitions(beside)
            assert {arc.dependent: (arc.head, arc.relation) for arc in arcs_of(path)} == {
                word.id: (int(word.row[HEAD]), word.relation) for word in parsed
            }

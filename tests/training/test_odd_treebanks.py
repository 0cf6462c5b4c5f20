"""Training on unusual treebanks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from longarc import read_all
from longarc.runtime.parser import Parser
from longarc.training.loss import batch_loss
from longarc.training.prepare import prepare
from longarc.training.scoring import score_words
from longarc.transitions import SYSTEMS
from tests.helpers.prepared_training import FACTORED, SMALL, batch_of

ODD = {
    "no tags": "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n",
    "no relations": "1\ta\t_\tX\t_\t_\t0\t_\t_\t_\n2\tb\t_\tX\t_\t_\t1\t_\t_\t_\n\n",
    "one word": "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n",
    "only punctuation": "1\t.\t_\tPUNCT\t_\t_\t0\troot\t_\t_\n2\t!\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n",
    "several roots": "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n\n",
}


@pytest.mark.parametrize("changes", [{}, FACTORED])
@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("kind", ODD)
def test_odd_treebanks_train_with_every_system(tmp_path: Path, kind: str, name: str, changes: dict[str, Any]) -> None:
    (tmp_path / "odd.conllu").write_text(ODD[kind])
    sentences = read_all(tmp_path / "odd.conllu")
    model, data = prepare(SMALL.updated({"system": name, **changes}, "test"), sentences, [])
    loss = batch_loss(model.network, batch_of(model, data), model.configuration)
    assert torch.isfinite(loss)
    scores = score_words(Parser(model.to_model_file({}), threads=1), sentences)
    assert scores.keys() == ({"uas", "las"} if kind == "no tags" else {"uas", "las", "upos"})
    if kind == "several roots":
        assert not model.description.single_root


def test_a_very_long_sentence_can_be_trained_on(tmp_path: Path) -> None:
    rows = [f"{i}\tw{i % 7}\t_\tX\t_\t_\t{i - 1}\tdep\t_\t_" for i in range(1, 1001)]
    (tmp_path / "long.conllu").write_text("\n".join(rows) + "\n\n")
    model, data = prepare(SMALL, read_all(tmp_path / "long.conllu"), [])
    loss = batch_loss(model.network, batch_of(model, data), model.configuration)
    loss.backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(loss)

"""The network's scores and shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from longarc.training.training_data import make_batch
from tests.helpers.prepared_training import FACTORED, batch_of, prepared


@pytest.mark.parametrize("changes", [{}, FACTORED])
def test_padding_does_not_change_the_scores_of_a_sentence(tmp_path: Path, changes: dict[str, Any]) -> None:
    model, data = prepared(tmp_path, "nl-covington", **changes)
    model.network.eval()
    with torch.no_grad():
        together = model.network(batch_of(model, data).arrays)
        for row, example in enumerate(data.examples):
            length = len(example)
            alone = model.network(make_batch([example], model.description).arrays)
            pairs = [
                (together.transitions.arcs[row, :length, :, :length], alone.transitions.arcs[0]),
                (together.transitions.shift[row, :length], alone.transitions.shift[0]),
                *((logits[row, :length], alone.columns[name][0]) for name, logits in together.columns.items()),
            ]
            for first, second in pairs:
                torch.testing.assert_close(first, second, rtol=1e-4, atol=1e-5)


def test_the_parser_can_read_words_instead_of_the_taggers_output(tmp_path: Path) -> None:
    model, data = prepared(tmp_path, "nl-covington", parser_input="words", columns=["upos", "xpos"])
    width = model.configuration.word_dimensions + model.configuration.tag_dimensions * len(model.description.columns)
    assert model.network.parser_lstm is not None
    assert model.network.parser_lstm.forwards[0].input_size == width
    batch = batch_of(model, data)
    shape = (batch.sentences, len(batch.arrays["words"]), len(model.description.columns["upos"].labels))
    assert model.network(batch.arrays).columns["upos"].shape == shape

"""The network's scores and shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from longarc.model.network import Inputs, Network
from longarc.model.size import NetworkSize
from longarc.training.examples import make_batch
from tests.helpers.prepared_training import FACTORED, batch_of, prepared


@pytest.mark.parametrize("changes", [{}, FACTORED])
def test_padding_does_not_change_the_scores_of_a_sentence(tmp_path: Path, changes: dict[str, Any]) -> None:
    ready = prepared(tmp_path, "nl-covington", **changes)
    ready.network.eval()
    with torch.no_grad():
        together = ready.network(batch_of(ready).inputs)
        for row, example in enumerate(ready.examples):
            length = len(example.words)
            alone = ready.network(make_batch([example], ready.spellings, "nl-covington").inputs)
            pairs = [
                (together.transitions.arcs[row, :length, :, :length], alone.transitions.arcs[0]),
                (together.transitions.shift[row, :length], alone.transitions.shift[0]),
                *((logits[row, :length], alone.tags[name][0]) for name, logits in together.tags.items()),
            ]
            for first, second in pairs:
                torch.testing.assert_close(first, second, rtol=1e-4, atol=1e-5)


def test_the_parser_can_read_words_instead_of_the_taggers_output() -> None:
    size = NetworkSize(
        words=9,
        trained_words=9,
        tags={"tags": 4, "fine_tags": 3},
        relations=5,
        has_no_arc=False,
        has_reduce=False,
        parser_reads_words=True,
        lstm_size=7,
    )
    network = Network(size)
    width = size.word_dimensions + 2 * size.tag_dimensions
    assert network.parser_lstm.forwards[0].input_size == width
    scores = network(Inputs(torch.ones(2, 4, dtype=torch.long), torch.tensor([4, 3])))
    assert scores.tags["fine_tags"].shape == (2, 4, 3)

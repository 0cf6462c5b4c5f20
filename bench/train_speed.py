"""How fast training runs beside the two bare BiLSTM blocks that it cannot be faster than.

On the same batches of a treebank, alternating: a whole training step (forward, loss, backward, Adam) and a step of the
network's two BiLSTM blocks alone. Prints tokens/s of both (medians over rounds) and their ratio.

    python bench/train_speed.py ../shared/data/da_ddt/train.conll.xz
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from longarc.training.examples import Batch, epoch_batches, make_batch
from torch import Tensor, nn

from longarc import read_all
from longarc.configuration import preset
from longarc.cores import available_cores
from longarc.training.loss import batch_loss
from longarc.training.prepare import Prepared, prepare
from longarc.trees.structure import require_tree

DEFAULT = Path(__file__).parents[2] / "shared" / "data" / "da_ddt" / "train.conll.xz"


def main() -> None:
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads or available_cores())
    sentences = read_all(arguments.treebank, encoding=arguments.encoding, check=require_tree)
    configuration = preset(arguments.preset).updated({"system": arguments.system}, "--system")
    prepared = prepare(configuration, sentences, [], None)
    nodes = np.array([len(example.words) for example in prepared.examples])
    chosen = epoch_batches(nodes, configuration, epoch=1)[: arguments.batches]
    train_step, bare_step = full_step(prepared), bare_blocks_step(prepared)
    speeds: dict[str, list[float]] = {"training": [], "bare BiLSTM blocks": []}
    for round_number in range(arguments.rounds + 1):
        for name, step in (("training", train_step), ("bare BiLSTM blocks", bare_step)):
            seconds, tokens = 0.0, 0
            for indices in chosen:
                examples = [prepared.examples[index] for index in indices]
                start = time.perf_counter()
                batch = make_batch(examples, prepared.spellings, configuration.system)
                if name != "training":
                    start = time.perf_counter()
                step(batch)
                seconds += time.perf_counter() - start
                tokens += batch.tokens
            if round_number:  # the first round warms up
                speeds[name].append(tokens / seconds)
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    ratio = medians["training"] / medians["bare BiLSTM blocks"]
    if arguments.json:
        print(json.dumps({"system": arguments.system, **medians, "ratio": ratio}))
        return
    for name, speed in medians.items():
        print(f"{name:20} {speed:8,.0f} tokens/s")
    print(f"{'ratio':20} {ratio:8.2f}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("treebank", nargs="?", default=str(DEFAULT))
    parser.add_argument("--encoding", default="utf-8")
    parser.add_argument("--preset", default="paper")
    parser.add_argument("--system", default="nl-covington")
    parser.add_argument("--batches", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def full_step(prepared: Prepared) -> Callable[[Batch], None]:
    """A training step as the training loop does it."""
    network = prepared.network
    optimizer = torch.optim.AdamW(network.parameters(), fused=True)

    def step(batch: Batch) -> None:
        network.train()
        loss = batch_loss(network, batch) / batch.sentences
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step


def bare_blocks_step(prepared: Prepared) -> Callable[[Batch], None]:
    """The two BiLSTM blocks on random input of the same shapes, with the simplest of losses."""
    size = prepared.network.size
    network = prepared.network
    shapes = [block.input_size for block in (network.tagger_lstm, network.parser_lstm)]
    blocks = [nn.LSTM(width, size.lstm_size, size.lstm_layers, bidirectional=True) for width in shapes]
    optimizer = torch.optim.AdamW([parameter for block in blocks for parameter in block.parameters()], fused=True)

    def step(batch: Batch) -> None:
        optimizer.zero_grad()
        for block, width in zip(blocks, shapes, strict=True):
            x = torch.ones((*batch.inputs.words.T.shape, width), requires_grad=True)
            read: Tensor = block(x)[0]
            read.sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step


if __name__ == "__main__":
    main()

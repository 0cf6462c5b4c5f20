"""Measure the speed of training, compared with that of the network's two BiLSTM blocks alone, an upper bound.

Alternates, on the same batches, a whole training step (forward, loss, backward, Adam) and a step of the bare blocks.
Prints the median tokens/s of both and their ratio, and the peak memory. With a pretrained encoder there are no such
blocks, and only the training is measured.

    python bench/train_speed.py TRAIN.conllu
    python bench/train_speed.py TRAIN.conllu --preset transformer --system pointer --encoder DIR
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
from torch import Tensor, nn

from contenders import own_peak_mb
from longarc import read_all
from longarc.configuration import preset
from longarc.cores import available_cores
from longarc.model.word_encoder import WordEncoder
from longarc.training.loss import batch_loss
from longarc.training.prepare import prepare
from longarc.training.trained_model import TrainedModel
from longarc.training.training_data import Batch, epoch_batches, make_batch
from longarc.trees.structure import require_tree

BARE = "bare BiLSTM blocks"


def main() -> None:
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads or available_cores())
    sentences = read_all(arguments.treebank, encoding=arguments.encoding, check=require_tree)
    settings = {"system": arguments.system, "encoder_precision": arguments.encoder_precision}
    configuration = preset(arguments.preset).updated(settings, "command line")
    model, data = prepare(configuration, sentences, [], [arguments.encoder] if arguments.encoder else [])
    nodes = np.array([len(example) for example in data.examples])
    chosen = epoch_batches(nodes, configuration, epoch=1)[: arguments.batches]
    steps = {"training": full_step(model)}
    if not arguments.encoder:
        steps[BARE] = bare_blocks_step(model)
    speeds: dict[str, list[float]] = {name: [] for name in steps}
    for round_number in range(arguments.rounds + 1):
        for name, step in steps.items():
            seconds, tokens = 0.0, 0
            for indices in chosen:
                examples = [data.examples[index] for index in indices]
                start = time.perf_counter()
                batch = make_batch(examples, model.description)
                if name != "training":
                    start = time.perf_counter()
                step(batch)
                seconds += time.perf_counter() - start
                tokens += batch.tokens
            if round_number:  # the first round warms up
                speeds[name].append(tokens / seconds)
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    ratios = {"ratio": medians["training"] / medians[BARE]} if BARE in medians else {}
    peak = own_peak_mb()
    if arguments.json:
        print(json.dumps({"system": arguments.system, **medians, **ratios, "peak_mb": peak}))
        return
    for name, speed in medians.items():
        print(f"{name:20} {speed:8,.0f} tokens/s")
    for name, ratio in ratios.items():
        print(f"{name:20} {ratio:8.2f}")
    print(f"{'peak memory':20} {peak:8,.0f} MB")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("treebank", help="training file in CoNLL-U or CoNLL-X")
    parser.add_argument("--encoding", default="utf-8", help="encoding of the treebank (default: utf-8)")
    parser.add_argument("--preset", default="paper", help="preset of the network (default: paper)")
    parser.add_argument("--system", default="nl-covington", help="transition system (default: nl-covington)")
    parser.add_argument("--encoder", type=Path, help="folder of a pretrained encoder, for the preset transformer")
    parser.add_argument("--encoder-precision", default="float32", help="float32 (default) or bfloat16")
    parser.add_argument("--batches", type=int, default=12, help="batches per round (default: 12)")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds, alternating (default: 3)")
    parser.add_argument("--threads", type=int, help="number of threads (default: all cores)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    return parser.parse_args()


def full_step(model: TrainedModel) -> Callable[[Batch], None]:
    """Return a function that runs one training step, as the training loop does."""
    network = model.network
    optimizer = torch.optim.AdamW(network.parameters(), fused=True)

    def step(batch: Batch) -> None:
        network.train()
        loss = batch_loss(network, batch, model.configuration) / batch.sentences
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step


def bare_blocks_step(model: TrainedModel) -> Callable[[Batch], None]:
    """Return a function that trains the two BiLSTM blocks on input of the same shapes; the loss is a sum."""
    assert isinstance(model.network.encoder, WordEncoder) and model.network.parser_lstm is not None
    stacks = (model.network.encoder.lstm, model.network.parser_lstm)
    shapes = [next(stack.layers())[0].input_size for stack in stacks]
    size = model.configuration.lstm_size
    blocks = [
        nn.LSTM(width, size, len(stack.forwards), bidirectional=True)
        for width, stack in zip(shapes, stacks, strict=True)
    ]
    optimizer = torch.optim.AdamW([parameter for block in blocks for parameter in block.parameters()], fused=True)

    def step(batch: Batch) -> None:
        optimizer.zero_grad()
        for block, width in zip(blocks, shapes, strict=True):
            x = torch.ones((*batch.arrays["words"].shape, width), requires_grad=True)
            states: Tensor = block(x)[0]
            states.sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step


if __name__ == "__main__":
    main()

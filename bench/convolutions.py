"""Compare the BiLSTMs of preset `fast` with convolutions that take about as many multiplications.

Trains both with the same updates and prints accuracy on dev (gold words, 8 bits) and the speed of parsing it, in turn.
Instead of each BiLSTM layer, the convolutional network has three residual convolutions over three words each, with gaps
of 0, 1 and 3 words: a word reads seven words to its left and right, and twice as many through tagger and parser. Below
the convolutions, the positions of words are added as sines and cosines (Vaswani et al. 2017): without them, the scores
of two distant words could not depend on their distance.

    longarc fetch-treebank wo_wtb xx_potion128
    python bench/convolutions.py treebanks/wo_wtb --vectors treebanks/xx_potion128 --work DIR

A second call does not train again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from contenders import LONGARC, Contender, Task, find_treebank, measure_in_turn, read_part, write_sentences
from longarc.model.bilstm import SharedDropout
from longarc.model.graph_writer import FLOAT, GraphWriter

GAPS = (1, 2, 4)
"""Distances of the neighbours that each convolution reads"""
MULTIPLICATIONS = 3 * len(GAPS)
"""Matrices of width × width in a layer"""
LEARNING_RATE = 0.001
"""That of the preset, 0.003, is too high for convolutions: LAS falls after a few epochs."""
LONGEST = 1024
"""Nodes of the longest sentence that the convolutions can read"""
MEASURES = ("upos", "features", "lemmas", "uas", "las")


def main() -> None:
    arguments = parse_arguments()
    if arguments.child:
        train_with_convolutions(arguments.child)
        return
    name = arguments.treebank.name
    arguments.work.mkdir(parents=True, exist_ok=True)
    dev = read_part(arguments.treebank, "dev")
    contenders = []
    for kind in ("bilstm", "convolutions"):
        folder = arguments.work / f"{name}-{kind}"
        model = folder / f"{folder.name}-int8.longarc"
        if not model.exists():
            train(kind, folder, arguments)
        contenders.append(Contender(kind, "longarc", "longarc", model))
    gold = write_sentences(arguments.work / f"{name}-dev.conllu", dev)
    for contender in contenders:
        parsed = arguments.work / f"{name}-{contender.name}.conllu"
        subprocess.run([LONGARC, "parse", gold, "-m", contender.model, "-o", parsed], check=True)
        command = [LONGARC, "evaluate", gold, parsed, "--labels", "whole", "--json"]
        scores = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["scores"]
        print(f"{contender.name}: " + ", ".join(f"{measure} {scores[measure]:.2f}" for measure in MEASURES))
    source = write_sentences(arguments.work / "input.conllu", dev * arguments.repeat)
    words = sum(map(len, dev)) * arguments.repeat
    task = Task(source, arguments.work / "output.conllu", words, arguments.threads)
    runs = measure_in_turn(contenders, task, arguments.rounds)
    speeds = [[run["words"] / run["job"] for run in runs[contender]] for contender in contenders]
    for contender, values in zip(contenders, speeds, strict=True):
        ratio = statistics.median(value / first for value, first in zip(values, speeds[0], strict=True))
        print(f"{contender.name}: {statistics.median(values):,.0f} words/s, ratio {ratio:.2f}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("treebank", nargs="?", type=find_treebank, help="folder with train and dev files")
    parser.add_argument("--work", type=Path, help="folder for the models, outside the checkout")
    parser.add_argument("--vectors", type=Path, help="word or subword vectors, as in `longarc train`")
    parser.add_argument("--updates", type=int, default=5_000, help="updates of each training (default: 5,000)")
    parser.add_argument("--repeat", type=int, default=4, help="copies of dev in the timed input (default: 4)")
    parser.add_argument("--rounds", type=int, default=9, help="timed runs of each model, alternating (default: 9)")
    parser.add_argument("--threads", type=int, default=2, help="threads (default: 2)")
    parser.add_argument("--child", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.child and None in (arguments.treebank, arguments.work):
        parser.error("expected a treebank and --work")
    return arguments


def train(kind: str, folder: Path, arguments: argparse.Namespace) -> None:
    """Run `longarc train` with preset `fast`, with the network of this kind."""
    paths = [sorted(arguments.treebank.glob(f"{part}.conll*"))[0] for part in ("train", "dev")]
    command = ["train", str(paths[0]), "--dev", str(paths[1]), "--preset", "fast", "--quantize", "--out", str(folder)]
    command += ["--set", "epochs=1", "--set", f"min_updates={arguments.updates}", "--set", "tokenizer_steps=0"]
    command += ["--threads", str(arguments.threads)]
    command += ["--vectors", str(arguments.vectors)] if arguments.vectors else []
    command += ["--resume"] if (folder / "checkpoint.safetensors").exists() else []
    command += ["--set", f"learning_rate={LEARNING_RATE}"] if kind == "convolutions" else []
    program = [LONGARC] if kind == "bilstm" else [sys.executable, __file__, "--child"]
    subprocess.run([*program, *command], check=True, stdout=sys.stderr)


# ---------------------------------------------------------------------------------------------------------------------
# The network.


def train_with_convolutions(command: list[str]) -> None:
    """Run a command of Longarc in which the BiLSTMs over sentences are convolutions."""
    from longarc.cli.main import run
    from longarc.model import network, word_encoder

    for module in (network, word_encoder):
        module.BiLSTM = Convolutions  # type: ignore[attr-defined]
        module.reversal_of = mask_of  # type: ignore[attr-defined]
    sys.argv = ["longarc", *command]
    run()


class Convolutions(nn.Module):
    """Residual convolutions in place of a BiLSTM, with the same interface and about as many multiplications."""

    positions: Tensor

    def __init__(self, inputs: int, size: int, layers: int, dropout: float = 0.0) -> None:
        super().__init__()
        budget = sum(8 * size * (width + size) for width in [inputs] + [2 * size] * (layers - 1))
        # width · inputs + layers · MULTIPLICATIONS · width² + width · 2 size = budget
        square, linear = layers * MULTIPLICATIONS, inputs + 2 * size
        width = round((-linear + (linear**2 + 4 * square * budget) ** 0.5) / (2 * square))
        self.before, self.after = nn.Linear(inputs, width), nn.Linear(width, 2 * size)
        self.register_buffer("positions", positions(width))
        self.gaps = GAPS * layers
        self.products = nn.ModuleList(nn.Linear(3 * width, width) for _ in self.gaps)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in self.gaps)
        self.dropouts = nn.ModuleList(SharedDropout(dropout) for _ in range(len(self.gaps) + 1))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return [N, batch, 2 · size]. x: [N, batch, inputs]; mask: see `mask_of`."""
        x = (self.before(self.dropouts[0](x)) + self.positions[: len(x)]) * mask
        for gap, product, norm, dropout in zip(self.gaps, self.products, self.norms, self.dropouts[1:], strict=True):
            y = nn.functional.pad(dropout(norm(x)) * mask, (0, 0, 0, 0, gap, gap))
            y = torch.cat([y[: len(x)], y[gap:-gap], y[2 * gap :]], dim=-1)
            x = x + torch.relu(product(y)) * mask
        result: Tensor = self.after(x)
        return result

    def export(self, g: GraphWriter, x: str, lengths: str) -> str:
        """Add [N, batch, inputs] → [N, batch, 2 · size]."""
        mask = self._export_mask(g, x, lengths)
        nodes = g.add("Slice", g.add("Shape", x), g.shape(0), g.shape(1))
        here = g.add("Slice", g.constant(self.positions), g.shape(0), nodes, g.shape(0))
        x = g.add("Mul", g.add("Add", g.linear(x, self.before), here), mask)
        zero = g.constant(np.array(0, dtype=np.float32))
        row = g.add("Mul", g.add("Slice", x, g.shape(0), g.shape(1), g.shape(0)), zero)
        for gap, product, norm in zip(self.gaps, self.products, self.norms, strict=True):
            assert isinstance(product, nn.Linear) and isinstance(norm, nn.LayerNorm)
            scale, shift = g.constant(norm.weight), g.constant(norm.bias)
            y = g.add("LayerNormalization", x, scale, shift, axis=-1, epsilon=norm.eps)
            y = g.add("Concat", *[row] * gap, g.add("Mul", y, mask), *[row] * gap, axis=0)
            parts = [
                g.add("Slice", y, g.shape(start), g.add("Add", nodes, g.shape(start)), g.shape(0))
                for start in (0, gap, 2 * gap)
            ]
            y = g.linear(g.add("Concat", *parts, axis=-1), product, relu=True)
            x = g.add("Add", x, g.add("Mul", y, mask))
        return g.linear(x, self.after)

    @staticmethod
    def _export_mask(g: GraphWriter, x: str, lengths: str) -> str:
        """Add [N, batch, 1]: 1 for nodes, 0 for padding."""
        one, zero = (g.constant(np.array(number, dtype=np.float32)) for number in (1, 0))
        corner = g.add("Slice", x, g.shape(0, 0), g.shape(1, 1), g.shape(1, 2))
        ordinals = g.add("CumSum", g.add("Add", g.add("Mul", corner, zero), one), g.constant(np.array(0)))  # 1 to N
        until_end = g.add("Sub", g.add("Unsqueeze", g.add("Cast", lengths, to=FLOAT), g.shape(0, 2)), ordinals)
        positive = g.add("Relu", g.add("Add", until_end, one))
        return g.add("Sub", positive, g.add("Relu", g.add("Sub", positive, one)))  # at most 1


def positions(width: int) -> Tensor:
    """[LONGEST, 1, width] Return sines and cosines of the position of each node, with wavelengths from 2π to 2000π."""
    frequencies = 1000 ** -(torch.arange(0, width, 2) / width)
    angles = torch.arange(LONGEST).unsqueeze(1) * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=1)[:, :width].unsqueeze(1)


def mask_of(lengths: Tensor, nodes: int) -> Tensor:
    """[N, batch, 1] Return 1 for nodes, 0 for padding."""
    return (torch.arange(nodes, device=lengths.device).unsqueeze(1) < lengths).unsqueeze(-1).float()


if __name__ == "__main__":
    main()

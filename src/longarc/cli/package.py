"""`longarc package`: the file to parse with, from a finished training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longarc.cli.options import Encoding, read_sentences
from longarc.cli.train import require_torch

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence

Treebank = Annotated[str, typer.Option("--treebank", help="For the card: what the model was trained on.")]
Licence = Annotated[str, typer.Option("--licence", help="For the card: the treebank's licence.")]
Attribution = Annotated[str, typer.Option("--attribution", help="For the card: whom the licence wants named.")]
Quantize = Annotated[
    bool, typer.Option("--quantize", help="Write an 8-bit model too, with what that cost on the dev data.")
]


def package(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that `longarc train` filled.")],
    dev: Annotated[str | None, typer.Option(help="Trees to measure the packaged models on.")] = None,
    quantize: Quantize = False,
    treebank: Treebank = "",
    licence: Licence = "",
    attribution: Attribution = "",
    encoding: Encoding = "utf-8",
) -> None:
    """Write DIR/NAME.longarc (and NAME-int8.longarc) from the weights in DIR, NAME being the folder's own name."""
    require_torch()
    from longarc.cli.train_progress import PackagingProgress
    from longarc.training.packaging import Origin, load_trained
    from longarc.training.run import write_models
    from longarc.trees.structure import require_tree

    sentences: list[Sentence] = []
    if dev is not None:
        sentences = list(read_sentences(dev, encoding=encoding, skip_invalid=False, check=require_tree))
    origin = Origin(treebank, licence, attribution)
    with PackagingProgress() as line:
        for path, written in write_models(
            load_trained(folder), folder, sentences, {}, origin, quantize=quantize, announce=line.announce
        ):
            line.tell(path, written)

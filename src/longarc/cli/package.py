"""`longarc package`: write the model file of a finished training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longarc.cli.extras import require_extra
from longarc.cli.options import Attribution, Encoding, Licence, Quantize, TreebankName, read_sentences

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence


def package(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The output folder of `longarc train`.")],
    dev: Annotated[str | None, typer.Option(metavar="FILE", help="Treebank to evaluate the model files on.")] = None,
    quantize: Quantize = False,
    treebank: TreebankName = "",
    licence: Licence = "",
    attribution: Attribution = "",
    encoding: Encoding = "utf-8",
) -> None:
    """Write DIR/NAME.longarc (and DIR/NAME-int8.longarc) from the weights in DIR; NAME is the name of the folder."""
    require_extra("train")
    from longarc.cli.train_progress import PackagingProgress, print_next_command
    from longarc.training.packaging import Origin, write_models
    from longarc.training.trained_model import TrainedModel
    from longarc.trees.structure import require_tree

    sentences: list[Sentence] = []
    if dev is not None:
        sentences = list(read_sentences(dev, encoding=encoding, skip_invalid=False, check=require_tree))
    origin = Origin(treebank, licence, attribution)
    with PackagingProgress() as line:
        for path, written in write_models(
            TrainedModel.load(folder), folder, sentences, {}, origin, quantize=quantize, announce=line.announce
        ):
            line.report(path, written)
    print_next_command(path, dev)

"""`longarc package`: the file to parse with, from a finished training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longarc.cli.inputs import Encoding, read_sentences
from longarc.cli.train import require_torch

if TYPE_CHECKING:
    from longarc.data.sentence import Sentence
    from longarc.runtime.package import Package
    from longarc.training.package import Origin
    from longarc.training.prepare import Prepared

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
    from longarc.training.package import Origin, load_trained
    from longarc.trees.structure import require_tree

    sentences: list[Sentence] = []
    if dev is not None:
        sentences = list(read_sentences(dev, encoding=encoding, skip_invalid=False, check=require_tree))
    origin = Origin(treebank, licence, attribution)
    write_models(load_trained(folder), folder, sentences, {}, origin, quantize)


def write_models(
    prepared: Prepared,
    folder: Path,
    dev: list[Sentence],
    scores: dict[str, float],
    origin: Origin,
    quantize: bool,
) -> None:
    """Packages a trained network in its folder, measures it on dev and says what was written."""
    from longarc.training.package import make_int8, make_package, model_card

    name = folder.resolve().name
    package = make_package(prepared, model_card(name, prepared.configuration, scores, origin))
    measured = _measured(package, dev)
    package.card["scores"] |= measured
    _write(folder / f"{name}.longarc", package)
    if quantize:
        small = make_int8(package)
        small.card["scores"] = {**scores, **_measured(small, dev)}
        if dev:
            small.card["float32_scores"] = measured
        _write(folder / f"{name}-int8.longarc", small)


def _measured(package: Package, dev: list[Sentence]) -> dict[str, Any]:
    """UAS, LAS and tag accuracy of a packaged model."""
    from longarc.data.sentence import UPOS
    from longarc.evaluation.attachment import attachment_scores
    from longarc.runtime.parser import Parser

    if not dev:
        return {}
    parsed = list(Parser(package).stream([sentence.copy() for sentence in dev]))
    found = attachment_scores(
        ((sentence.heads, sentence.relations) for sentence in dev),
        ((sentence.heads, sentence.relations) for sentence in parsed),
    )
    pairs = [
        (gold[UPOS], own[UPOS])
        for sentence, result in zip(dev, parsed, strict=True)
        for gold, own in zip(sentence.words, result.words, strict=True)
    ]
    tags = 100 * sum(gold == own for gold, own in pairs) / len(pairs)
    return {"dev_uas": round(found.uas, 2), "dev_las": round(found.las, 2), "dev_tags": round(tags, 2)}


def _write(target: Path, package: Package) -> None:
    from longarc.runtime.package import write_package

    write_package(target, package)
    scores = "  ".join(f"{name} {score:.2f}" for name, score in package.card["scores"].items())
    typer.echo(f"{target}  {target.stat().st_size / 1e6:.1f} MB  {package.card['precision']}  {scores}")

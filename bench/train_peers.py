"""Train other parsers on the same files as Longarc: spaCy, UDPipe 1 and SuPar.

A `brief` training gives a model of the same size, whose accuracy is poor, in minutes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from contenders import read_words

SPACY_STEPS = 3_000
UDPIPE_TOKENIZER = "epochs=20"
UDPIPE_TAGGER = "iterations=5"
"""Limits that keep the training of the other parsers short. By default spaCy stops after 1,600 steps without a better
dev score, and UDPipe trains its tokenizer for 100 epochs and its tagger for 20 iterations."""
UDPIPE_PARSER = "iterations=10;transition_system=swap;transition_oracle=static_lazy"
SUPAR_OPTIONS = {
    **{"feat": ["char"], "encoder": "lstm", "build": True, "checkpoint": False, "tree": True, "proj": False},
    **{"partial": False, "punct": True, "max_len": None, "min_freq": 2, "fix_len": 20, "n_embed": 100},
    **{"batch_size": 1_000, "buckets": 32, "update_steps": 1, "epochs": 100, "patience": 5, "verbose": False},
    **{"lr": 2e-3, "mu": 0.9, "nu": 0.9, "eps": 1e-12, "weight_decay": 0, "clip": 5.0, "decay": 0.75},
    **{"decay_steps": 500, "seed": 1},
}
"""Its published configuration, with smaller batches (published: 5,000 words, of which these treebanks have few), a
learning rate that falls faster accordingly, fewer epochs and less patience. With `decay_steps` of 1,500, dev was still
improving on English after 15 epochs, an hour on one core."""
PEER_OPTIONS = {
    "spacy": "spaCy: `spacy init config --lang xx --pipeline tagger,parser --optimize efficiency`, `spacy train`, "
    f"at most {SPACY_STEPS:,} steps, UPOS as tag.",
    "udpipe": f"UDPipe 1: tokenizer `{UDPIPE_TOKENIZER}`; default tagger with lemmas and features, `{UDPIPE_TAGGER}`; "
    f"parser `{UDPIPE_PARSER}`. By default it trains for 100 epochs and 20 iterations, so its scores may be slightly "
    "higher. It parses in as many processes as the others have threads.",
    "supar": "SuPar: biaffine parser with characters and its published options, but batches of "
    f"{SUPAR_OPTIONS['batch_size']:,} words (published: 5,000), because these treebanks are small, and a learning rate "
    f"that falls accordingly (`decay_steps={SUPAR_OPTIONS['decay_steps']}`); until {SUPAR_OPTIONS['patience']} epochs "
    "in a row are no better on dev. It predicts no tags.",
}
"""How each of them was trained, for reports"""


def train_spacy(target: Path, train: Path, dev: Path, vectors: Path | None = None, brief: bool = False) -> None:
    """Train spaCy with its recommended configuration, as its commands do."""
    import spacy
    from spacy.cli.init_config import init_config
    from spacy.cli.train import train as run_training
    from spacy.tokens import Doc, DocBin
    from spacy.training.initialize import convert_vectors

    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        folder = Path(temporary)
        nlp = spacy.blank("xx")
        for name, source in (("train", train), ("dev", dev)):
            docs = DocBin()
            for rows in read_words(source):
                forms, tags, heads, relations = ([row[column] for row in rows] for column in (1, 3, 6, 7))
                indices = [int(head) - 1 if head != "0" else index for index, head in enumerate(heads)]
                docs.add(Doc(nlp.vocab, words=forms, tags=tags, heads=indices, deps=relations))
            docs.to_disk(folder / f"{name}.spacy")
        config = init_config(lang="xx", pipeline=["tagger", "parser"], optimize="efficiency", gpu=False, silent=True)
        overrides: dict[str, Any] = {"paths.train": str(folder / "train.spacy"), "paths.dev": str(folder / "dev.spacy")}
        if vectors is not None:
            convert_vectors(nlp, vectors, truncate=-1, prune=-1)
            nlp.to_disk(folder / "vectors")
            overrides["paths.vectors"] = str(folder / "vectors")
            overrides["components.tok2vec.model.embed.include_static_vectors"] = True
        overrides["training.max_steps"] = 200 if brief else SPACY_STEPS
        config.to_disk(folder / "config.cfg")
        run_training(folder / "config.cfg", folder / "out", overrides=overrides)
        (folder / "out" / "model-best").rename(target)


def train_udpipe(target: Path, train: Path, dev: Path, vectors: Path | None = None, brief: bool = False) -> None:
    """Train UDPipe with its defaults and a non-projective parser; it keeps the best iteration on dev."""
    from longarc.data.files import read_chunks

    options = UDPIPE_PARSER
    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        if vectors is not None:
            plain = Path(temporary) / "vectors.vec"
            plain.write_bytes(b"".join(read_chunks(vectors)))
            options += f";embedding_form=100;embedding_form_file={plain}"
        if brief:
            options = options.replace("iterations=10", "iterations=1")
            run_udpipe_trainer(target, train, dev, None, "iterations=1", options)
        else:
            run_udpipe_trainer(target, train, dev, UDPIPE_TOKENIZER, UDPIPE_TAGGER, options)


def train_udpipe_tagger(target: Path, train: Path, dev: Path) -> None:
    """Train only UDPipe's tagger, which predicts the same tags and lemmas as with a parser, much sooner."""
    run_udpipe_trainer(target, train, dev, None, UDPIPE_TAGGER, None)


def run_udpipe_trainer(
    target: Path, train: Path, dev: Path, tokenizer: str | None, tagger: str, parser: str | None
) -> None:
    """Train the parts of UDPipe that have options; write the model."""
    from ufal import udpipe

    error = udpipe.ProcessingError()

    def sentences(path: Path) -> Any:
        reader = udpipe.InputFormat.newInputFormat("conllu")
        reader.setText(path.read_text("utf-8"))
        result, sentence = udpipe.Sentences(), udpipe.Sentence()
        while reader.nextSentence(sentence, error):
            result.push_back(sentence)
            sentence = udpipe.Sentence()
        return result

    settings = [udpipe.Trainer.NONE if options is None else options for options in (tokenizer, tagger, parser)]
    model = udpipe.Trainer.train("morphodita_parsito", sentences(train), sentences(dev), *settings, error)
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")
    target.write_bytes(model)


def train_supar(target: Path, train: Path, dev: Path, vectors: Path | None = None, brief: bool = False) -> None:
    """Train SuPar's biaffine parser with characters and its published options until dev stops improving."""
    os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"  # it reads its own checkpoint
    from supar import BiaffineDependencyParser

    from longarc.data.files import read_chunks

    best = target.with_name(f"{target.name}-best")  # the best epoch so far, if the training is interrupted
    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        options: dict[str, Any] = {**SUPAR_OPTIONS, "path": str(best), "embed": None}
        if vectors is not None:  # without the line that counts words and dimensions
            plain = Path(temporary) / "vectors.txt"
            plain.write_bytes(b"".join(read_chunks(vectors)).partition(b"\n")[2])
            options |= {"embed": str(plain), "unk": ""}
        if brief:
            options["epochs"] = 1
        # It also scores a test file after each epoch: one sentence.
        test = Path(temporary) / "test.conllu"
        test.write_text(dev.read_text("utf-8").partition("\n\n")[0] + "\n\n", "utf-8")
        files = {"train": str(train), "dev": str(dev), "test": str(test)}
        BiaffineDependencyParser.build(**files, **options).train(**files, **options)
        best.rename(target)

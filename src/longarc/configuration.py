"""The options of a training run, read from TOML and validated."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from longarc.data.columns import COLUMNS
from longarc.data.schema import convert, parse_toml
from longarc.errors import LongarcError
from longarc.runtime.description import MAX_CROSSING_COST
from longarc.runtime.featurizers import FEATURIZERS
from longarc.transitions import SYSTEMS, get_system
from longarc.trees.pseudo_projective import Projectivization

Positive = Annotated[int, Meta(gt=0)]
NotNegative = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, lt=1)]
NotNegativeNumber = Annotated[float, Meta(ge=0)]

_OLD_COLUMN_KEYS = {"fine_tags": "xpos", "features": "feats"}


class Configuration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The defaults are those of the preset `paper`; the files in `presets/` say where each value comes from."""

    system: str = "nl-covington"
    """The transition system."""
    projectivization: Projectivization = "head"
    """How projective systems encode non-projective trees; none lifts arcs without a trace, so that they stay lifted."""
    single_root: Literal["auto", "yes", "no"] = "auto"
    """Whether exactly one word depends on the root; auto follows the training trees."""
    crossing_cost: Literal["auto"] | Annotated[float, Meta(ge=0, le=MAX_CROSSING_COST)] = 0.0
    """What the search of Covington systems and pointer subtracts from the score of an arc for each arc that it crosses;
    auto chooses the value with the best LAS on the development data when the model is packaged."""

    encoder: str = "words"
    """How words become vectors; see model.encoders."""
    word_dimensions: Positive = 100
    """Width of word vectors; a vector file overrides it."""
    min_count: Positive = 3
    """A word without a pretrained vector is known if it occurs this often in the training data."""
    vectors_limit: NotNegative = 100_000
    """Keep this many of a vector file's most frequent words besides the words of the training data."""
    word_dropout: Share = 0.1
    """Share of words replaced by the unknown word during training."""
    spelling_size: NotNegative = 0
    """Units per direction of the character BiLSTM; 0 disables it."""
    character_dimensions: Positive = 32
    pieces_limit: Positive = 30_000
    """Keep at most this many pieces of a table of subword vectors, or of a pretrained encoder unless the training and
    development data contain more."""
    piece_vector_dimensions: Positive = 128
    """Width of subword vectors; the table overrides it."""
    piece_dimensions: Positive = 100
    """Width to which the vector of a word's pieces is projected."""
    piece_pooling: Literal["mean", "weighted", "ends"] = "mean"
    """The vector of a word's pieces: their mean; their mean with a learned weight for each piece; or the mean, the
    first and the last piece."""

    encoder_layers: NotNegative = 0
    """How many layers of a pretrained encoder to use, from below; 0 means all."""
    encoder_learning_rate: Annotated[float, Meta(gt=0)] = 0.0001
    """The learning rate of a pretrained encoder; that of everything else is `learning_rate`."""
    encoder_precision: Literal["float32", "bfloat16"] = "float32"
    """Precision of a pretrained encoder in training; bfloat16 is faster on processors with instructions for it."""
    encoder_dropout: Share = 0.1
    """Dropout inside a pretrained encoder."""
    pooling: Literal["first", "mean"] = "first"
    """The vector of a word: that of its first piece, or the mean over its pieces."""
    train_pieces: bool = False
    """Whether the vectors of a pretrained encoder's pieces are trained as well."""

    lstm_layers: NotNegative = 2
    """Layers of the parser's BiLSTM; only with a pretrained encoder, it can be left out: 0."""
    tagger_layers: NotNegative = 0
    """Layers of the tagger's BiLSTM; 0 means as many as the parser's."""
    lstm_size: Positive = 400
    """Units per direction, in tagger and parser."""
    decoder_size: NotNegative = 0
    """Units of a forward LSTM on top of the parser's BiLSTM, whose states stand for words as dependents, as in the
    pointer parser of 2019; 0 disables it."""
    parser_input: Literal["tagger", "words"] = "tagger"
    """What the parser's BiLSTM reads besides tags: the tagger's BiLSTM (the authors' code) or word vectors (the paper's
    appendix)."""
    columns: tuple[str, ...] = ("upos",)
    """The columns to predict and to use as input of the parser."""
    tag_dimensions: Positive = 32
    merge_dimensions: Positive = 100
    pair_dimensions: Positive = 32
    """Width of head and dependent vectors and of their biaffine combination."""
    relation_dimensions: NotNegative = 0
    """If not 0, score arcs first, and then the relations of the chosen arcs with vectors of this width; 0 scores each
    arc with each relation."""
    arc_score: Literal["best", "total"] = "best"
    """If each arc is scored with each relation: the search compares arcs by their best relation, or by the sum over all
    relations (in log space)."""
    no_arc: Literal["pair", "authors"] = "pair"
    """What the score of Covington's No-Arc depends on: the pair of words, as the paper says, or the left word alone,
    with the weights of a relation, as in the authors' code."""
    dropout: Share = 0.05
    lstm_dropout: Share = 0.0
    """Share of the input dimensions hidden from a BiLSTM layer, the same for all words of a sentence."""

    tokenizer_steps: NotNegative = 0
    """Training steps of the tokenizer; 0 leaves tokenization to rules."""
    tokenizer_augmentation: Share = 0.0
    """Share of the tokenizer's training text that is rewritten with emoji, links, markup, lists and line breaks."""
    tokenizer_abbreviations: tuple[Annotated[str, Meta(pattern=r"^\S+\.$")], ...] = ()
    """Abbreviations with their full stop, in lower case, besides those of the treebank: no sentence ends after them
    before a lower-case letter, a digit or an opening bracket."""

    seed: NotNegative = 1
    epochs: NotNegative = 0
    """0 means 10, or 30 for a treebank of fewer than `small_treebank` words."""
    small_treebank: Positive = 100_000
    batch_sentences: Positive = 32
    batch_words: NotNegative = 0
    """If not 0, a batch has this many words and every word weighs the same; otherwise every sentence does."""
    learning_rate: Annotated[float, Meta(gt=0)] = 0.001
    schedule: Literal["halving", "cosine"] = "halving"
    """halving: halve the learning rate after the fifth tenth of the epochs and after each later tenth; cosine: warm up
    for a twentieth, then decay to 0."""
    beta2: Share = 0.9
    weight_decay: Annotated[float, Meta(ge=0)] = 0.0
    gradient_limit: Annotated[float, Meta(ge=0)] = 0.0
    """Clip the gradient to this norm; 0 disables clipping."""
    averaging: Share = 0.0
    """If not 0, keep a moving average of the weights with this decay."""
    min_updates: NotNegative = 0
    """Train for as many epochs as this number of updates takes, if that is more than `epochs`."""
    transition_weight: NotNegativeNumber = 1.0
    """Weights of the parts of the loss: transitions, ..."""
    relation_weight: NotNegativeNumber = 1.0
    """... relations, if arcs are scored first, ..."""
    tag_weight: NotNegativeNumber = 1.0
    """... the other predicted columns, ..."""
    head_weight: NotNegativeNumber = 0.0
    """... and the choice of each word's head among all words by the scores of arcs, which is no part of the parser."""
    teacher_weight: Annotated[float, Meta(ge=0, le=1)] = 0.5
    """In `longarc distill`: the share of the teachers' scores in each part of the loss; the treebank has the rest."""
    exploration: Annotated[float, Meta(ge=0, le=1)] = 0.0
    """How often training follows the model's own best transition instead of a correct one (Covington systems)."""
    exploration_epoch: Positive = 2
    """The first epoch with exploration."""
    early_stopping: NotNegative = 0
    """Stop after this many epochs without a better LAS on the development data; 0 never stops early."""

    def __post_init__(self) -> None:
        system = get_system(self.system)
        if self.exploration and not system.has_dynamic_oracle:
            systems = ", ".join(name for name, other in SYSTEMS.items() if other.has_dynamic_oracle)
            raise LongarcError(
                f"exploration: {self.system} has no dynamic oracle", f"Systems that have one: {systems}."
            )
        if self.no_arc == "authors" and not system.has_no_arc:
            raise LongarcError(f"no_arc: {self.system} has no No-Arc transition", "Choose covington as the system.")
        for key, value, default in (("arc_score", self.arc_score, "best"), ("no_arc", self.no_arc, "pair")):
            if value != default and self.relation_dimensions:
                hint = f'Set relation_dimensions = 0, or {key} = "{default}".'
                raise LongarcError(f"{key}: {value!r} needs arcs that are scored with their relations", hint)
        if not self.lstm_layers and (self.encoder == "words" or self.decoder_size):
            raise LongarcError("lstm_layers: 0 needs a pretrained encoder, and no decoder", "Set lstm_layers = 1.")
        for key, values, known in (("columns", self.columns, COLUMNS), ("encoder", [self.encoder], FEATURIZERS)):
            if unknown := [value for value in values if value not in known]:
                raise LongarcError(f"{key}: unknown {unknown[0]!r}", f"Choose from {', '.join(known)}.")

    def updated(self, values: Mapping[str, Any], origin: str) -> Configuration:
        """Return the configuration with some values replaced; errors name their `origin`."""
        return convert({**self.as_dict(), **_with_columns(values, self.columns, origin)}, Configuration, origin)

    def as_dict(self) -> dict[str, Any]:
        """Return the values as JSON and TOML can hold them."""
        lists = {"columns": list(self.columns), "tokenizer_abbreviations": list(self.tokenizer_abbreviations)}
        return {**msgspec.structs.asdict(self), **lists}


def _with_columns(values: Mapping[str, Any], columns: tuple[str, ...], origin: str) -> dict[str, Any]:
    """Translate the keys that `columns` replaced."""
    current = dict(values)
    for key, name in _OLD_COLUMN_KEYS.items():
        if isinstance(current.get(key), bool):
            predict = current.pop(key)
            selected = [other for other in current.get("columns", columns) if other != name]
            current["columns"] = [*selected, name] if predict else selected
            message = f"{origin}: the key {key} is now an entry of columns: columns = {current['columns']}"
            warnings.warn(message, FutureWarning, stacklevel=3)
    return current


def preset_names() -> list[str]:
    """Return the names of the presets that come with the package."""
    return sorted(Path(entry.name).stem for entry in _presets().iterdir() if entry.name.endswith(".toml"))


def preset(name: str) -> Configuration:
    """Return the configuration of a preset."""
    if name not in preset_names():
        raise LongarcError(f"unknown preset {name!r}", f"Presets: {', '.join(preset_names())}.")
    text = (_presets() / f"{name}.toml").read_text("utf-8")
    return Configuration().updated(parse_toml(text, f"preset {name}"), f"preset {name}")


def _presets() -> Any:
    return resources.files("longarc") / "presets"


def parse_setting(setting: str) -> dict[str, Any]:
    """Parse `key=value`; the value is TOML, or text without quotes."""
    key, equals, text = setting.partition("=")
    if not equals:
        raise LongarcError(f"{setting}: expected key=value")
    try:
        value = parse_toml(f"value = {text}", setting)["value"]
    except LongarcError:
        value = text.strip()
    return {key.strip(): value}

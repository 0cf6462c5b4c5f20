"""All that can be chosen about a training, read from TOML and checked key by key."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any, get_args, get_type_hints

from longarc.errors import LongarcError
from longarc.transitions import SYSTEMS
from longarc.trees.pseudo_projective import SCHEMES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Configuration:
    """The defaults are those of the preset `paper`; `presets/` says where each value comes from."""

    system: str = "nl-covington"
    """The transition system."""
    projectivization: str = "head"
    """How the projective systems see non-projective trees: head, path or head+path."""
    single_root: str = "auto"
    """Whether exactly one word hangs on the root: yes, no, or auto for what the training trees do."""

    word_dimensions: int = 100
    """Width of word vectors; that of the vector file, where there is one."""
    min_count: int = 3
    """Words without a vector are known if the training data has them so often."""
    vectors_limit: int = 100_000
    """How many of a vector file's most frequent words are kept beside those of the training data."""
    word_dropout: float = 0.1
    """Share of words that are hidden while training."""

    spelling_size: int = 0
    """Units per direction of a BiLSTM that reads each word's characters; 0 leaves it out."""
    character_dimensions: int = 32

    lstm_layers: int = 2
    tagger_layers: int = 0
    """Layers of the tagger's BiLSTM where it shall have others than the parser's; 0: as many."""
    lstm_size: int = 400
    """Units per direction, in tagger and parser alike."""
    parser_input: str = "tagger"
    """What the parser's BiLSTM reads beside tags: tagger (the tagger's BiLSTM, as in the code) or words (as in the
    paper's appendix)."""
    tag_dimensions: int = 32
    fine_tags: bool = False
    """Predict and use the fine-grained tags (XPOS) too."""
    features: bool = False
    """Predict and use the morphological features (FEATS) too."""
    merge_dimensions: int = 100
    pair_dimensions: int = 32
    """Width of head and dependent vectors and of their biaffine combination."""
    relation_dimensions: int = 0
    """Score arcs first and then, with vectors of this width, the relations of those that were chosen; 0 scores each
    arc with each relation."""
    dropout: float = 0.05
    lstm_dropout: float = 0.0
    """Share of the dimensions that a BiLSTM layer does not see, the same in all words of a sentence."""

    tokenizer_steps: int = 0
    """Steps in which it is learnt how text is split into sentences and words; 0 leaves that to rules."""

    seed: int = 1
    epochs: int = 0
    """0 chooses: 10, or 30 for a treebank of fewer than `small_treebank` words."""
    small_treebank: int = 100_000
    batch_sentences: int = 32
    batch_words: int = 0
    """If not 0, batches are of so many words, and every word counts the same; else every sentence does."""
    learning_rate: float = 0.001
    schedule: str = "halving"
    """How the learning rate falls: halving (after the fifth tenth of the epochs and after each one that follows), or
    cosine (up for the first twentieth, then down to nothing along a cosine)."""
    beta2: float = 0.9
    weight_decay: float = 0.0
    gradient_limit: float = 0.0
    """The largest norm that a step's gradient may have; 0 leaves it as it is."""
    averaging: float = 0.0
    """If not 0, the weights that are kept are a moving average, of which each step keeps this share."""
    early_stopping: int = 0
    """With a development set: stop after so many epochs without a better LAS; 0 never stops early."""

    def __post_init__(self) -> None:
        """Refuses values that make no sense."""
        choices = {
            "system": tuple(SYSTEMS),
            "projectivization": SCHEMES,
            "single_root": ("auto", "yes", "no"),
            "parser_input": ("tagger", "words"),
            "schedule": ("halving", "cosine"),
        }
        for key, valid in choices.items():
            if getattr(self, key) not in valid:
                raise LongarcError(f"{key} is {getattr(self, key)!r}", f"Choose one of {', '.join(valid)}.")
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, str) or field.name in _MAY_BE_ZERO:
                low_enough = isinstance(value, str) or value >= 0
            elif field.name in ("word_dropout", "dropout", "lstm_dropout", "beta2", "averaging"):
                low_enough = 0 <= value < 1
            else:
                low_enough = isinstance(value, bool) or value > 0
            if not low_enough:
                raise LongarcError(f"{field.name} is {value!r}, which is out of range")

    def updated(self, values: Mapping[str, Any], origin: str) -> Configuration:
        """The configuration with some values replaced; `origin` says in errors where they come from."""
        types = get_type_hints(Configuration)
        for key, value in values.items():
            if key not in types:
                raise LongarcError(f"{origin}: unknown key {key!r}", f"Valid keys: {', '.join(sorted(types))}.")
            if not _fits(value, types[key]):
                raise LongarcError(f"{origin}: {key} is {value!r}, expected {_TYPE_NAMES[types[key]]}")
        converted: dict[str, Any] = {
            key: float(value) if types[key] is float else value for key, value in values.items()
        }
        return replace(self, **converted)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


_MAY_BE_ZERO = (
    "seed",
    "early_stopping",
    "vectors_limit",
    "epochs",
    "spelling_size",
    "tagger_layers",
    "tokenizer_steps",
    "relation_dimensions",
    "batch_words",
    "weight_decay",
    "gradient_limit",
)
_TYPE_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _fits(value: Any, wanted: Any) -> bool:
    assert not get_args(wanted)
    if wanted is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is wanted


def preset_names() -> list[str]:
    """The presets that come with the package."""
    folder = resources.files("longarc.training") / "presets"
    return sorted(Path(entry.name).stem for entry in folder.iterdir() if entry.name.endswith(".toml"))


def preset(name: str) -> Configuration:
    """The configuration of a preset."""
    if name not in preset_names():
        raise LongarcError(f"unknown preset {name!r}", f"Presets: {', '.join(preset_names())}.")
    text = (resources.files("longarc.training") / "presets" / f"{name}.toml").read_text("utf-8")
    return Configuration().updated(tomllib.loads(text), f"preset {name}")


def read_toml(path: Path) -> dict[str, Any]:
    """The keys of a user's file."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise LongarcError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LongarcError(f"{path}: not valid TOML: {error}") from None


def parse_setting(setting: str) -> dict[str, Any]:
    """One `key=value` of the command line; the value is written as in TOML, text also without quotes."""
    key, equals, text = setting.partition("=")
    if not equals:
        raise LongarcError(f"--set {setting}: expected key=value")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()
    return {key.strip(): value}

"""Read a pretrained encoder from a folder in Hugging Face's layout: config.json, tokenizer.json, model.safetensors."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from longarc.data.subword_tokenizer import SubwordTokenizer, read_definition
from longarc.errors import LongarcError
from longarc.model.encoder import Pretrained
from longarc.model.transformer import Transformer
from longarc.runtime.transformer_features import LEAST_POSITIONS, Architecture

CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"
LAYOUT_HINT = f"Expected a folder with {CONFIG}, {TOKENIZER} and {WEIGHTS}, as Hugging Face's libraries save it."
ACTIVATIONS: dict[str, Any] = {
    "gelu": "gelu",
    "gelu_new": "tanh gelu",
    "gelu_pytorch_tanh": "tanh gelu",
    "gelu_fast": "tanh gelu",
    "relu": "relu",
}


@dataclass(frozen=True)
class Family:
    """How a family names its sizes and weights."""

    sizes: dict[str, str]
    """Keys of config.json for layers, width, heads and inner"""
    layer: str
    """The name of a block, which its number follows"""
    names: dict[str, str]
    """Within a block, by our names"""
    skips_positions: bool = False
    """Whether positions are counted from the number of the padding piece plus 1"""


_BERT_SIZES = {
    "layers": "num_hidden_layers",
    "width": "hidden_size",
    "heads": "num_attention_heads",
    "inner": "intermediate_size",
}
_BERT_NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "norm": "output.LayerNorm",
}
_BERT = Family(_BERT_SIZES, "encoder.layer", _BERT_NAMES)
_ROBERTA = Family(_BERT_SIZES, "encoder.layer", _BERT_NAMES, skips_positions=True)
_DISTILBERT = Family(
    {"layers": "n_layers", "width": "dim", "heads": "n_heads", "inner": "hidden_dim"},
    "transformer.layer",
    {
        "query": "attention.q_lin",
        "key": "attention.k_lin",
        "value": "attention.v_lin",
        "output": "attention.out_lin",
        "attention_norm": "sa_layer_norm",
        "inner": "ffn.lin1",
        "outer": "ffn.lin2",
        "norm": "output_layer_norm",
    },
)
FAMILIES = {
    "bert": _BERT,
    "camembert": _ROBERTA,
    "distilbert": _DISTILBERT,
    "electra": _BERT,
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
}
"""By the `model_type` of config.json."""


@dataclass(frozen=True)
class PretrainedTransformer(Pretrained):
    """A pretrained encoder."""

    architecture: Architecture
    tokenizer: SubwordTokenizer
    weights: dict[str, Tensor]
    """By the names of model.transformer.Transformer"""

    def digest(self) -> bytes:
        return b"".join(self.weights[name].numpy().tobytes() for name in sorted(self.weights))

    def restricted(self, tokenizer: SubwordTokenizer, numbers: list[int]) -> PretrainedTransformer:
        """Return the encoder with a tokenizer that has the pieces of these numbers."""
        table = self.weights["pieces.weight"][torch.tensor(numbers)]
        return PretrainedTransformer(self.architecture, tokenizer, {**self.weights, "pieces.weight": table})


def read_pretrained_encoder(folder: Path, layers: int = 0) -> PretrainedTransformer:
    """Read an encoder with its lowest `layers`; 0 means all. `folder` may also be the path of its CONFIG."""
    folder = folder.parent if folder.name == CONFIG else folder
    if not folder.is_dir():
        raise LongarcError(f"{folder}: is not a folder", LAYOUT_HINT)
    config = _read_json(folder / CONFIG)
    kind = config.get("model_type")
    family = FAMILIES.get(kind) if isinstance(kind, str) else None
    if family is None:
        raise LongarcError(f"{folder}: model_type is {kind!r}", f"Known families: {', '.join(FAMILIES)}.")
    if config.get("position_embedding_type", "absolute") != "absolute" or config.get("is_decoder"):
        raise LongarcError(f"{folder}: only encoders with absolute positions are supported")
    tokenizer = _read_tokenizer(folder / TOKENIZER)
    weights = _Weights(folder / WEIGHTS)
    positions = weights.get("embeddings.position_embeddings.weight")
    if family.skips_positions:
        positions = positions[int(config.get("pad_token_id", 1)) + 1 :]
    if weights.has("embeddings.token_type_embeddings.weight"):
        positions = positions + weights.get("embeddings.token_type_embeddings.weight")[0]
    sizes: dict[str, Any] = {name: config.get(key) for name, key in family.sizes.items()}
    if not all(isinstance(size, int) and size > 0 for size in sizes.values()) or len(positions) < LEAST_POSITIONS:
        raise LongarcError(f"{folder}: the sizes in {CONFIG} are missing or too small", LAYOUT_HINT)
    activation = config.get("activation" if family is _DISTILBERT else "hidden_act", "gelu")
    if activation not in ACTIVATIONS:
        raise LongarcError(f"{folder}: unknown activation {activation!r}", f"Known: {', '.join(ACTIVATIONS)}.")
    if layers > sizes["layers"]:
        raise LongarcError(f"encoder_layers is {layers}, but {folder} has only {sizes['layers']} layers")
    table = weights.get("embeddings.word_embeddings.weight")
    if len(table) < len(tokenizer):
        raise LongarcError(f"{folder}: {TOKENIZER} has {len(tokenizer)} pieces, {WEIGHTS} only {len(table)}")
    architecture = Architecture(
        **{**sizes, "layers": layers or sizes["layers"]},
        embedding=table.shape[1],
        positions=len(positions),
        activation=ACTIVATIONS[activation],
        epsilon=float(config.get("layer_norm_eps", 1e-12)),
    )
    found = {"pieces.weight": table[: len(tokenizer)], "positions.weight": positions}
    found |= weights.linear("norm", "embeddings.LayerNorm")
    if architecture.embedding != architecture.width:
        found |= weights.linear("projection", "embeddings_project")
    for number in range(architecture.layers):
        for ours, theirs in family.names.items():
            found |= weights.linear(f"blocks.{number}.{ours}", f"{family.layer}.{number}.{theirs}")
    with torch.device("meta"):
        expected = Transformer(architecture, len(tokenizer), 0.0).state_dict()
    for name, tensor in found.items():
        if tensor.shape != expected[name].shape:
            raise LongarcError(f"{folder / WEIGHTS}: {name} does not have the size that {CONFIG} says", LAYOUT_HINT)
    return PretrainedTransformer(architecture, tokenizer, found)


class _Weights:
    """The tensors of a file by name, without the prefix that heads for other tasks add, such as `bert.`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with safe_open(path, framework="pt") as stream:
                self._tensors = {
                    re.sub(r"^[a-z_]+\.(?=(embeddings|encoder|transformer|embeddings_project)\.)", "", name): name
                    for name in stream.keys()  # noqa: SIM118 (not a dict)
                }
        except FileNotFoundError:
            hint = LAYOUT_HINT
            if any((path.parent / name).exists() for name in ("pytorch_model.bin", "model.safetensors.index.json")):
                hint = "Save the model as one safetensors file: other formats can contain code, or are in parts."
            raise LongarcError(f"{path}: is missing", hint) from None
        except (OSError, SafetensorError) as error:
            raise LongarcError(f"{path}: cannot be read: {error}", LAYOUT_HINT) from None

    def has(self, name: str) -> bool:
        return name in self._tensors

    def get(self, name: str) -> Tensor:
        if name not in self._tensors:
            raise LongarcError(f"{self._path}: has no weights {name}", LAYOUT_HINT)
        with safe_open(self._path, framework="pt") as stream:
            tensor: Tensor = stream.get_tensor(self._tensors[name])
        return tensor.float()

    def linear(self, ours: str, theirs: str) -> dict[str, Tensor]:
        """Return the weight and the bias of a layer under our name."""
        return {f"{ours}.{part}": self.get(f"{theirs}.{part}") for part in ("weight", "bias")}


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise LongarcError(f"{path}: cannot be read: {error.strerror}", LAYOUT_HINT) from None
    except ValueError as error:
        raise LongarcError(f"{path}: is not JSON: {error}", LAYOUT_HINT) from None
    if not isinstance(data, dict):
        raise LongarcError(f"{path}: is not a JSON object", LAYOUT_HINT)
    return data


def _read_tokenizer(path: Path) -> SubwordTokenizer:
    try:
        return SubwordTokenizer(read_definition(path.read_text("utf-8")))
    except OSError as error:
        raise LongarcError(f"{path}: cannot be read: {error.strerror}", LAYOUT_HINT) from None
    except ValueError as error:
        raise LongarcError(f"{path}: a tokenizer that is not supported: {error}") from None

"""Pretrained encoders of every family, with random weights and small tokenizers, in Hugging Face's layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from longarc import read_all
from longarc.configuration import Configuration
from longarc.training.prepare import TrainingData, prepare
from longarc.training.trained_model import TrainedModel
from tests.helpers.toy_treebank import write_toy_treebank

FAMILIES = ("bert", "roberta", "xlm-roberta", "distilbert", "electra")
LETTERS = "abcdefghijklmnopqrstuvwxyz.,'?!"
WORDS = ["the", "dog", "cat", "child", "bird", "house", "tree", "sees", "likes", "finds", "old", "small", "today"]
ACTIVATIONS = {"electra": "relu", "xlm-roberta": "gelu_new"}
WIDTH, HEADS, INNER, LAYERS, POSITIONS = 8, 2, 12, 2, 32

SMALL: dict[str, Any] = {
    "seed": 3,
    "encoder": "transformer",
    "lstm_layers": 0,
    "merge_dimensions": 8,
    "pair_dimensions": 6,
    "relation_dimensions": 7,
    "columns": ["upos", "xpos", "feats"],
}


def write_encoder(folder: Path, family: str) -> Path:
    """Write an encoder; the same numbers every time."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = TOKENIZERS.get(family, word_piece)()
    pieces = len(tokenizer["model"]["vocab"])
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    (folder / "config.json").write_text(json.dumps(configuration(family, pieces)), "utf-8")
    save_file(weights(family, pieces), folder / "model.safetensors")
    return folder


def untrained_on_an_encoder(folder: Path, family: str, **changes: Any) -> tuple[TrainedModel, TrainingData]:
    """A model with an encoder of a family, for the treebank toy.conllu that is written to the folder as well."""
    encoder = write_encoder(folder / family, family)
    sentences = read_all(write_toy_treebank(folder / "toy.conllu", 25))
    return prepare(Configuration().updated({**SMALL, **changes}, "test"), sentences, [], [encoder])


def configuration(family: str, pieces: int) -> dict[str, Any]:
    if family == "distilbert":
        sizes: dict[str, Any] = {"dim": WIDTH, "n_heads": HEADS, "hidden_dim": INNER, "n_layers": LAYERS}
        sizes["activation"] = "gelu"
    else:
        sizes = {"hidden_size": WIDTH, "num_attention_heads": HEADS, "intermediate_size": INNER}
        sizes |= {"num_hidden_layers": LAYERS, "hidden_act": ACTIVATIONS.get(family, "gelu")}
    skipped = 2 if "roberta" in family else 0
    sizes |= {"max_position_embeddings": POSITIONS + skipped, "vocab_size": pieces, "layer_norm_eps": 1e-5}
    sizes |= {"embedding_size": 6} if family == "electra" else {}
    return {"model_type": family, "type_vocab_size": 1, "pad_token_id": 1 if skipped else 0, **sizes}


def weights(family: str, pieces: int) -> dict[str, Any]:
    rng = np.random.default_rng(7)
    tensors: dict[str, Any] = {}

    def add(name: str, *shape: int) -> None:
        tensors[name] = rng.normal(0, 0.5, shape).astype(np.float32)

    def layer(name: str, outputs: int, inputs: int) -> None:
        add(f"{name}.weight", outputs, inputs)
        add(f"{name}.bias", outputs)

    def norm(name: str, width: int) -> None:
        add(f"{name}.weight", width)
        add(f"{name}.bias", width)

    # A head for another task puts a prefix before the names of the encoder's weights.
    prefix = "electra." if family == "electra" else ""
    embedding = 6 if family == "electra" else WIDTH
    add(f"{prefix}embeddings.word_embeddings.weight", pieces, embedding)
    add(f"{prefix}embeddings.position_embeddings.weight", POSITIONS + (2 if "roberta" in family else 0), embedding)
    norm(f"{prefix}embeddings.LayerNorm", embedding)
    if family != "distilbert":
        add(f"{prefix}embeddings.token_type_embeddings.weight", 1, embedding)
    if family == "electra":
        layer("electra.embeddings_project", WIDTH, embedding)
        layer("discriminator_predictions.dense", WIDTH, WIDTH)
    for number in range(LAYERS):
        if family == "distilbert":
            block = f"transformer.layer.{number}"
            linear = [f"attention.{name}_lin" for name in ("q", "k", "v", "out")]
            inner, outer, norms = "ffn.lin1", "ffn.lin2", ("sa_layer_norm", "output_layer_norm")
        else:
            block = f"{prefix}encoder.layer.{number}"
            linear = [*(f"attention.self.{name}" for name in ("query", "key", "value")), "attention.output.dense"]
            inner, outer = "intermediate.dense", "output.dense"
            norms = ("attention.output.LayerNorm", "output.LayerNorm")
        for name in linear:
            layer(f"{block}.{name}", WIDTH, WIDTH)
        layer(f"{block}.{inner}", INNER, WIDTH)
        layer(f"{block}.{outer}", WIDTH, INNER)
        for name in norms:
            norm(f"{block}.{name}", WIDTH)
    return tensors


def word_piece() -> dict[str, Any]:
    """As BERT's: lower-cased words, and parts of words after `##`."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *(f"##{letter}" for letter in LETTERS), *WORDS, "##s"]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    normalizer = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    model = {"unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    return {
        "version": "1.0",
        "truncation": {"max_length": 16, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", **normalizer},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": around("[CLS]", vocabulary["[CLS]"], "[SEP]", vocabulary["[SEP]"]),
        "model": {"type": "WordPiece", **model, "vocab": vocabulary},
    }


def byte_pairs() -> dict[str, Any]:
    """As RoBERTa's: byte-level BPE, where `Ġ` stands for the space before a word."""
    merges = [["Ġ", "t"], ["h", "e"], ["Ġt", "he"], ["Ġ", "d"], ["o", "g"], ["Ġd", "og"], ["s", "e"], ["e", "s"]]
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "Ġ", *LETTERS, *LETTERS.upper()[:26], *map("".join, merges)]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": {
            "type": "RobertaProcessing",
            "sep": ["</s>", vocabulary["</s>"]],
            "cls": ["<s>", vocabulary["<s>"]],
            "trim_offsets": True,
            "add_prefix_space": False,
        },
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "vocab": vocabulary, "merges": merges},
    }


def unigram() -> dict[str, Any]:
    """As XLM-R's: the most probable pieces, where `▁` stands for the space before a word."""
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁", *LETTERS, *LETTERS.upper()[:26], *(f"▁{word}" for word in WORDS)]
    scored = [[piece, 0.0 if number < 4 else -float(10 - len(piece))] for number, piece in enumerate(pieces)]
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "NFKC"},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"},
            ],
        },
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True},
        "post_processor": around("<s>", 0, "</s>", 2),
        "model": {"type": "Unigram", "unk_id": 3, "vocab": scored, "byte_fallback": False},
    }


def around(first: str, first_number: int, last: str, last_number: int) -> dict[str, Any]:
    """A post-processor that adds a piece before and after a text."""
    single: list[dict[str, Any]] = [
        {"SpecialToken": {"id": first, "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": last, "type_id": 0}},
    ]
    numbers = {first: first_number, last: last_number}
    special = {piece: {"id": piece, "ids": [number], "tokens": [piece]} for piece, number in numbers.items()}
    pair = [*single, {"Sequence": {"id": "B", "type_id": 1}}]
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": special}


TOKENIZERS = {"roberta": byte_pairs, "xlm-roberta": unigram}

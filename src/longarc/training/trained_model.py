"""A model in training or after it: configuration, vocabularies and network, and how a training folder stores them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from longarc.configuration import Configuration
from longarc.data.files import open_output
from longarc.data.language_profile import LanguageProfile
from longarc.errors import LongarcError
from longarc.model.network import Network
from longarc.model.tokenizer_network import TokenizerNetwork
from longarc.runtime.description import Description, TokenizerDescription
from longarc.runtime.model_file import DESCRIPTION, PROFILE, TOKENIZER, ModelFile
from longarc.training.checkpoint import load_tensors, require_fingerprint, save_tensors

WEIGHTS, TOKENIZER_WEIGHTS = "weights.safetensors", "tokenizer.safetensors"


@dataclass(frozen=True)
class TrainedTokenizer:
    """The tokenizer's network and description."""

    network: TokenizerNetwork
    description: TokenizerDescription


@dataclass(frozen=True)
class TrainedModel:
    """Everything that a model file is made from."""

    configuration: Configuration
    description: Description
    relation_mask: NDArray[np.float32]
    """[2, relations] added to the scores of relations; see training_data.relation_mask"""
    network: Network
    profile: LanguageProfile | None = None
    """Of the training data; folders of earlier versions have none"""
    tokenizer: TrainedTokenizer | None = None

    def to_model_file(self, card: dict[str, Any]) -> ModelFile:
        """Export the network in its present state."""
        graphs = self.network.export(self.relation_mask)
        description = self.description
        if self.tokenizer is not None:
            graphs[TOKENIZER] = self.tokenizer.network.export()
            description = replace(description, tokenizer=self.tokenizer.description)
        model = ModelFile(graphs, description, dict(card), self.profile)
        model.card["bytes"] = model.graph_bytes
        return model

    def save_description(self, folder: Path) -> None:
        """Write everything except weights to a training folder."""
        extra = {"configuration": self.configuration.as_dict(), "relation_mask": self.relation_mask.tolist()}
        with open_output(folder / DESCRIPTION) as stream:
            stream.write(json.dumps({**self.description.as_json(), **extra}, ensure_ascii=False, indent=1).encode())
        if self.profile is not None:
            with open_output(folder / PROFILE) as stream:
                stream.write(self.profile.to_bytes())

    @classmethod
    def load(cls, folder: Path) -> TrainedModel:
        """Read the model of a finished training run."""
        path = folder / DESCRIPTION
        try:
            data = json.loads(path.read_text("utf-8"))
        except OSError as error:
            raise LongarcError(f"{folder}: no finished training: {DESCRIPTION}: {error.strerror}") from None
        description = Description.from_json(data, str(path))
        configuration = Configuration().updated(data["configuration"], str(path))
        network = Network(configuration, description)
        tensors, _ = load_tensors(folder / WEIGHTS)
        network.load_state_dict(tensors)
        mask = np.array(data["relation_mask"], dtype=np.float32)
        path = folder / PROFILE
        profile = LanguageProfile.from_bytes(path.read_bytes()) if path.exists() else None
        return cls(configuration, description, mask, network, profile, load_tokenizer(folder))


def save_tokenizer(folder: Path, tokenizer: TrainedTokenizer, fingerprint: str) -> None:
    """Write the tokenizer to a training folder; `fingerprint` identifies the data and options of the training."""
    metadata = {**tokenizer.description.as_json(), "fingerprint": fingerprint}
    save_tensors(folder / TOKENIZER_WEIGHTS, tokenizer.network.state_dict(), metadata)


def load_tokenizer(folder: Path, fingerprint: str | None = None) -> TrainedTokenizer | None:
    """Read the tokenizer of a training folder; return None if there is none.

    With `fingerprint`, raise if it was trained on other data or with other options.
    """
    path = folder / TOKENIZER_WEIGHTS
    if not path.exists():
        return None
    tensors, metadata = load_tensors(path)
    if fingerprint is not None:
        # Earlier versions did not store the fingerprint.
        require_fingerprint(metadata.get("fingerprint", fingerprint), fingerprint, folder)
    try:
        description = TokenizerDescription.from_json(metadata)
    except ValueError:
        raise LongarcError(f"{path}: not a tokenizer of this version of Longarc") from None
    with torch.random.fork_rng(devices=[]):  # a training that loads its tokenizer equals one that has trained it
        network = TokenizerNetwork(description.character_numbers)
    network.load_state_dict(tensors)
    return TrainedTokenizer(network, description)

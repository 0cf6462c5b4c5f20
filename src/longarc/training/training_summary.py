"""What a training has: the size of its data, its labels and its network."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from longarc.training.prepare import TrainingData
from longarc.training.trained_model import TrainedModel


@dataclass(frozen=True)
class TrainingSummary:
    """Figures that a user wants to see before a training begins."""

    sentences: int
    words: int
    dev_sentences: int
    dev_words: int
    labels: dict[str, int]
    """How many labels each predicted column has, and how many relations there are, under `relations`"""
    system: str
    parameters: int
    """Trained ones; pretrained vectors that stay as they are do not count"""
    epochs: int
    threads: int
    """Of each process"""
    processes: int
    device: str


def summarize_training(
    model: TrainedModel, data: TrainingData, processes: int, device: torch.device
) -> TrainingSummary:
    """Count what a training has."""
    labels = {name: len(column.labels) for name, column in model.description.columns.items()}
    return TrainingSummary(
        sentences=len(data.examples),
        words=sum(len(example) - 1 for example in data.examples),
        dev_sentences=len(data.dev),
        dev_words=sum(map(len, data.dev)),
        labels={**labels, "relations": len(model.description.relations)},
        system=model.description.system,
        parameters=sum(values.numel() for values in model.network.parameters() if values.requires_grad),
        epochs=data.epochs,
        threads=torch.get_num_threads(),
        processes=processes,
        device=str(device),
    )

"""The featurizers by the name of their encoder. A new encoder has one here and a network in model.encoders."""

from __future__ import annotations

from longarc.runtime.features import Featurizer
from longarc.runtime.transformer_features import TransformerFeatures
from longarc.runtime.word_features import WordFeatures

FEATURIZERS: dict[str, type[Featurizer]] = {
    featurizer.kind: featurizer for featurizer in (WordFeatures, TransformerFeatures)
}

"""The encoders' networks by name; their numpy parts are in runtime.featurizers."""

from __future__ import annotations

from longarc.model.encoder import Encoder
from longarc.model.transformer_encoder import TransformerEncoder
from longarc.model.word_encoder import WordEncoder
from longarc.runtime.transformer_features import TransformerFeatures
from longarc.runtime.word_features import WordFeatures

ENCODERS: dict[str, type[Encoder]] = {
    WordFeatures.kind: WordEncoder,
    TransformerFeatures.kind: TransformerEncoder,
}

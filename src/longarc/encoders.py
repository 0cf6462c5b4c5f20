"""The encoders by name. An encoder turns the words of a batch into vectors.

Its numpy part, which training and parsing share, is a `runtime.features.Featurizer`. Its torch part, which computes the
vectors in training and writes the same computation as an ONNX graph, is a `model.encoder.Encoder`.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longarc.model.encoder import Encoder
    from longarc.runtime.features import Featurizer


@dataclass(frozen=True)
class EncoderEntry:
    """The two classes of an encoder as `module:class`; they are imported when first used, since one needs torch."""

    featurizer_path: str
    network_path: str

    @property
    def featurizer(self) -> type[Featurizer]:
        module, _, name = self.featurizer_path.partition(":")
        return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]

    @property
    def network(self) -> type[Encoder]:
        module, _, name = self.network_path.partition(":")
        return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]


ENCODERS: dict[str, EncoderEntry] = {
    "words": EncoderEntry("longarc.runtime.word_features:WordFeatures", "longarc.model.word_encoder:WordEncoder"),
}

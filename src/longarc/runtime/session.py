"""The graph of a model in onnxruntime: batches of word numbers in, scores out."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from longarc.errors import LongarcError
from longarc.runtime.package import Description
from longarc.transitions import get_system
from longarc.transitions.system import ScoreLayout

QUIET = 3  # onnxruntime's warnings are for its developers


@dataclass(frozen=True)
class BatchScores:
    """What the graph says of a batch; see longarc.model.export.export_onnx."""

    scores: NDArray[np.float32]
    totals: NDArray[np.float32] | None
    relations: NDArray[np.int16]
    tags: NDArray[np.int64]
    fine_tags: NDArray[np.int64] | None


class Session:
    """Runs the graph; may be used from several threads at once, and goes on working in a forked process."""

    def __init__(self, graph: bytes, description: Description, threads: int, name: str) -> None:
        self._graph = graph
        self._threads = threads
        self._name = name
        self._description = description
        self._owner = 0
        self._session: Any = None
        self._outputs = ["scores", "relations", "tags", *(["fine_tags"] if len(description.fine_tags) else [])]
        self._try_out()

    def run(self, words: NDArray[np.int64], lengths: NDArray[np.int32], totals: bool) -> BatchScores:
        """words: [N, batch]; lengths: [batch] in nodes."""
        names = [*self._outputs, *(["totals"] if totals else [])]
        found = dict(zip(names, self._get().run(names, {"words": words, "lengths": lengths}), strict=True))
        return BatchScores(
            found["scores"], found.get("totals"), found["relations"], found["tags"], found.get("fine_tags")
        )

    def _get(self) -> Any:
        """The session of this process: onnxruntime's threads do not survive a fork."""
        if self._owner != os.getpid():
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = self._threads
            options.log_severity_level = QUIET
            try:
                self._session = onnxruntime.InferenceSession(self._graph, options, providers=["CPUExecutionProvider"])
            except Exception as error:  # onnxruntime's exceptions have no common base but this
                raise LongarcError(f"{self._name}: the graph cannot be loaded: {error}") from None
            self._owner = os.getpid()
        return self._session

    def _try_out(self) -> None:
        """Parses two empty words, to find out now whether the graph is what the description says."""
        names = {output.name for output in self._get().get_outputs()}
        if missing := {*self._outputs, "totals"} - names:
            raise LongarcError(f"{self._name}: the graph does not give {', '.join(sorted(missing))}")
        words, lengths = np.array([[1, 1], [0, 0], [0, 0]]), np.array([3, 2], dtype=np.int32)
        last = np.full_like(words, len(self._description.words) - 1)
        try:
            found = self.run(words, lengths, totals=True)
            self.run(last, lengths, totals=True)
        except Exception as error:  # see above
            raise LongarcError(f"{self._name}: the graph does not work: {error}") from None
        width = ScoreLayout(3).width(get_system(self._description.system))
        shapes = (found.scores.shape, found.relations.shape, found.tags.shape)
        if shapes != ((2, width), (2, 3, 3), (2, 3)) or found.relations.max() >= len(self._description.relations):
            raise LongarcError(f"{self._name}: the graph does not fit its description")
        if not np.isfinite(found.scores).all():
            raise LongarcError(f"{self._name}: the graph gives scores that are not numbers", "Its weights are damaged.")

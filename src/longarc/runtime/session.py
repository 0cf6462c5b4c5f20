"""The graphs of a model in onnxruntime: batches of sentences in, scores out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from longarc.data.batches import groups_of_like_length
from longarc.data.sentence import NO_HEAD
from longarc.data.spelling import different_words
from longarc.data.vocabulary import UNKNOWN
from longarc.errors import LongarcError
from longarc.runtime.model_file import Description, ModelFile
from longarc.runtime.words import WordReader
from longarc.transitions import get_system
from longarc.transitions.system import Ints, ScoreLayout

GROUP_COST = 5
"""Sentences of a batch go through the network in groups of like length, since it takes as long for each of them as for
the longest. A group takes the time of so many words, whatever is in it. The search takes the whole batch."""
ARCS_AT_ONCE = 128
"""Arcs whose relations are found together: each takes a vector for every relation, and these shall stay in a cache."""
PAIRS = frozenset(["arcs", "best", "total", "relations", "no_arc"])
"""The outputs about pairs of words."""
QUIET = 3  # onnxruntime's warnings are for its developers


@dataclass(frozen=True)
class BatchScores:
    """What the graph says of a batch."""

    scores: NDArray[np.float32]
    """[batch, width], see ScoreLayout; of an arc the best relation's"""
    totals: NDArray[np.float32] | None
    """[batch, width] the same with the log of the summed exponentials over an arc's relations"""
    tags: dict[str, NDArray[np.int64]]
    """[batch, N] of each predicted column"""
    found: dict[str, NDArray[Any]]
    """What the relations of chosen arcs are found by"""


def open_graph(graph: bytes, name: str) -> Any:
    """A session of onnxruntime that runs in the thread that calls it."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the parser has a thread for each core, each with a batch of its own
    # Onnxruntime's own store of memory keeps what the largest batch took, and is no faster than the system's.
    options.enable_cpu_mem_arena = False
    options.log_severity_level = QUIET
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no common base but this
        raise LongarcError(f"{name}: the graph cannot be loaded: {error}") from None


def _of_group(inputs: dict[str, NDArray[Any]], rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """The inputs of some of the sentences; all share what was read of the words' characters."""
    lengths = inputs["lengths"][rows]
    own = {name: value[: lengths.max(), rows] for name, value in inputs.items() if name in ("words", "spellings")}
    return {**inputs, **own, "lengths": lengths}


class Session:
    """Runs the graphs; may be used from several threads at once, and goes on working in a forked process."""

    def __init__(self, package: ModelFile, read_again: Callable[[], ModelFile], name: str) -> None:
        """`read_again` gives the model once more in a forked process: here its graphs are not kept."""
        self._read_again = read_again
        self._name = name
        self._description: Description = package.description
        self._system = get_system(self._description.system)
        self._is_factored = bool(package.relation_graph)
        self._owner = 0
        self._graph: Any = None
        self._word_reader: WordReader | None = None
        self._relation_graph: Any = None
        self._outputs = ["shift", *self._description.tags]
        self._outputs += ["relation_heads", "relation_dependents"] if self._is_factored else ["relations"]
        self._outputs += ["no_arc"] if self._system.has_no_arc else []
        self._outputs += ["reduce"] if self._system.has_reduce else []
        self._try_out(package)

    def run(self, sentences: Sequence[Sequence[str]], totals: bool) -> BatchScores:
        """sentences: the forms of each one's words. What is beyond the end of a sentence means nothing."""
        self._get()
        inputs = self.inputs(sentences)
        nodes, batch = inputs["words"].shape
        layout = ScoreLayout(nodes)
        names = self._arc_scores(totals)
        scores = {name: np.zeros((batch, layout.width(self._system)), np.float32) for name in names}
        found: dict[str, NDArray[Any]] = {
            name: flat[:, : nodes**2].reshape(batch, nodes, nodes) for name, flat in scores.items()
        }
        if batch == 1:
            # They are written where they will be searched: for those of a long sentence there is no room twice.
            found |= self._run_graph(inputs, totals, found)
        else:
            for rows in groups_of_like_length(inputs["lengths"], GROUP_COST):
                for name, part in self._run_graph(_of_group(inputs, rows), totals).items():
                    axes = 2 if name in PAIRS else 1
                    if name not in found:
                        found[name] = np.zeros((batch, *[nodes] * axes, *part.shape[1 + axes :]), part.dtype)
                    own: Any = (rows, *[slice(part.shape[1])] * axes)
                    found[name][own] = part
        for flat in scores.values():
            self._add_other_scores(flat, layout, found)
        best = scores[names[0]]
        total = best if self._is_factored and totals else scores.get("total")
        return BatchScores(best, total, {name: found[name] for name in self._description.tags}, found)

    def _run_graph(
        self, inputs: dict[str, NDArray[Any]], totals: bool, targets: dict[str, NDArray[Any]] | None = None
    ) -> dict[str, NDArray[Any]]:
        """The outputs by sentence, [batch, N, …] each; those of `targets` are written there instead."""
        targets = targets or {}
        graph = self._graph
        binding = graph.io_binding()
        for name, value in inputs.items():
            binding.bind_cpu_input(name, np.ascontiguousarray(value))
        if not self._is_factored:
            binding.bind_cpu_input("with_total", np.array(totals))
        names = [*self._outputs, *self._arc_scores(totals)]
        for name in names:
            if name in targets:
                target = targets[name]
                shape = target.shape if self._is_factored else target.transpose(1, 0, 2).shape
                binding.bind_output(name, "cpu", 0, np.float32, shape, target.ctypes.data)
            else:
                binding.bind_output(name)
        graph.run_with_iobinding(binding)
        written = zip(names, binding.get_outputs(), strict=True)
        found = {name: value.numpy() for name, value in written if name not in targets}
        if self._is_factored:
            return found
        return {name: value.transpose(1, 0, 2) if name in PAIRS else value for name, value in found.items()}

    def _arc_scores(self, totals: bool) -> list[str]:
        """The outputs that score arcs."""
        if self._is_factored:
            return ["arcs"]
        return ["best", "total"] if totals else ["best"]

    def relations(self, scores: BatchScores, heads: Ints) -> tuple[Ints, NDArray[np.float32] | None]:
        """[batch, N] the best relation of each word to its head [batch, N]; and how probable it is, where that is not
        part of the arc's own score already. For the root and beyond a sentence's end they mean nothing."""
        rows, words = np.nonzero(heads != NO_HEAD)
        chosen = heads[rows, words]
        numbers = np.zeros(heads.shape, np.int64)
        if not self._is_factored:
            numbers[rows, words] = scores.found["relations"][rows, chosen, words]
            return numbers, None
        self._get()
        inputs: dict[str, Any] = {
            "heads": scores.found["relation_heads"][rows, chosen],
            "dependents": scores.found["relation_dependents"][rows, words],
            "is_root": chosen == 0,
        }
        probabilities = np.zeros(heads.shape, np.float32)
        for start in range(0, len(rows), ARCS_AT_ONCE):
            part = slice(start, start + ARCS_AT_ONCE)
            given = {name: value[part] for name, value in inputs.items()}
            found = self._relation_graph.run(["relations", "probabilities"], given)
            numbers[rows[part], words[part]], probabilities[rows[part], words[part]] = found
        return numbers, probabilities

    def inputs(self, sentences: Sequence[Sequence[str]]) -> dict[str, NDArray[Any]]:
        """What the main graph reads of sentences."""
        lengths = np.array([len(forms) + 1 for forms in sentences], dtype=np.int32)
        nodes = int(lengths.max())
        words = np.full((nodes, len(sentences)), UNKNOWN, dtype=np.int64)
        for column, forms in enumerate(sentences):
            words[: lengths[column], column] = self._description.words.numbers(forms)
        inputs: dict[str, NDArray[Any]] = {"words": words, "lengths": lengths}
        if self._word_reader is not None:
            different, places = different_words(sentences, nodes)
            inputs |= {"spelled": self._word_reader.read(different), "spellings": places.T}
        return inputs

    def _add_other_scores(self, flat: NDArray[np.float32], layout: ScoreLayout, found: dict[str, Any]) -> None:
        """Puts the scores that are not of arcs in their places in ScoreLayout rows."""
        nodes = layout.nodes
        flat[:, layout.shift(0) : layout.shift(nodes)] = found["shift"]
        if self._system.has_reduce:
            flat[:, layout.reduce(0) : layout.reduce(nodes)] = found["reduce"]
        if self._system.has_no_arc:
            flat[:, layout.reduce(0) : layout.reduce(nodes)] = 0  # no system has both
            no_arc = flat[:, layout.no_arc(0, 0) :].reshape(len(flat), nodes, nodes)
            no_arc[:] = found["no_arc"]

    def _get(self) -> Any:
        """The main graph, ready in this process: onnxruntime's threads do not survive a fork."""
        if self._owner != os.getpid():
            self._load(self._read_again())
        return self._graph

    def _load(self, package: ModelFile) -> None:
        self._graph = open_graph(package.graph, self._name)
        if self._description.characters is not None:
            self._word_reader = WordReader(open_graph(package.spelling_graph, self._name), self._description.characters)
        self._relation_graph = open_graph(package.relation_graph, self._name) if package.relation_graph else None
        self._owner = os.getpid()

    def _try_out(self, package: ModelFile) -> None:
        """Loads the graphs and parses a few words, to find out now whether they are what the description says."""
        last_word = self._description.words.forms[-1]
        known = self._description.characters
        last_character = known.characters[-1] if known is not None and known.characters else "a"
        heads = np.array([[NO_HEAD, 2, 0], [NO_HEAD, 0, NO_HEAD]])
        try:
            self._load(package)
            names = {output.name for output in self._graph.get_outputs()}
            wanted = {*self._outputs, *self._arc_scores(totals=True)}
            if missing := wanted - names:
                raise LongarcError(f"{self._name}: the graph does not give {', '.join(sorted(missing))}")
            found = self.run([["", last_word], [last_character]], totals=True)
            numbers, _ = self.relations(found, heads)
        except LongarcError:
            raise
        except Exception as error:  # see above
            raise LongarcError(f"{self._name}: the graph does not work: {error}") from None
        fits = numbers.max() < len(self._description.relations)
        for name, best in found.tags.items():
            fits = fits and best.shape == (2, 3) and best.max() < len(self._description.tags[name])
        if not fits:
            raise LongarcError(f"{self._name}: the graph does not fit its description")
        if not np.isfinite(found.scores).all():
            raise LongarcError(f"{self._name}: the graph gives scores that are not numbers", "Its weights are damaged.")

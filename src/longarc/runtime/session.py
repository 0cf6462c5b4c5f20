"""The graphs of a model in onnxruntime: batches of sentences in, scores out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from longarc.data.spelling import Spellings, different_words
from longarc.data.vocabulary import UNKNOWN
from longarc.errors import LongarcError
from longarc.runtime.package import Description, Package
from longarc.transitions import get_system
from longarc.transitions.system import Ints, ScoreLayout

WORD_LENGTHS = (3, 5, 7, 9, 12)
"""Words up to these lengths are read together: reading takes as many steps as the longest has characters."""
ARCS_AT_ONCE = 512
"""Arcs whose relations are found together: each takes the memory of a vector for every relation."""
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


class Session:
    """Runs the graphs; may be used from several threads at once, and goes on working in a forked process."""

    def __init__(self, package: Package, read_again: Callable[[], Package], name: str) -> None:
        """`read_again` gives the model once more in a forked process: here its graphs are not kept."""
        self._read_again = read_again
        self._name = name
        self._description: Description = package.description
        self._system = get_system(self._description.system)
        self._is_factored = bool(package.relation_graph)
        self._owner = 0
        self._graph: Any = None
        self._spelling_graph: Any = None
        self._relation_graph: Any = None
        self._outputs = ["shift", *self._description.tags]
        self._outputs += ["relation_heads", "relation_dependents"] if self._is_factored else ["relations"]
        self._outputs += ["no_arc"] if self._system.has_no_arc else []
        self._outputs += ["reduce"] if self._system.has_reduce else []
        self._load(package)
        self._try_out()

    def run(self, sentences: Sequence[Sequence[str]], totals: bool) -> BatchScores:
        """sentences: the forms of each one's words."""
        graph = self._get()
        inputs = self._inputs(sentences)
        if not self._is_factored:
            inputs["with_total"] = np.array(totals)
        nodes, batch = inputs["words"].shape
        layout = ScoreLayout(nodes)
        binding = graph.io_binding()
        for name, value in inputs.items():
            binding.bind_cpu_input(name, np.ascontiguousarray(value))
        names = ["arcs"] if self._is_factored else ["best", "total"][: 1 + totals]
        arcs = {name: np.empty((batch, layout.width(self._system)), np.float32) for name in names}
        # The scores of one sentence are written where they will be searched: of a long one there is room for no copy.
        direct = batch == 1
        shape = (1, nodes, nodes) if self._is_factored else (nodes, 1, nodes)
        for name, flat in arcs.items():
            if direct:
                binding.bind_output(name, "cpu", 0, np.float32, shape, flat.ctypes.data)
            else:
                binding.bind_output(name)
        for name in self._outputs:
            binding.bind_output(name)
        graph.run_with_iobinding(binding)
        values = binding.get_outputs()[len(arcs) :]
        found = {name: value.numpy() for name, value in zip(self._outputs, values, strict=True)}
        for number, flat in enumerate(arcs.values()):
            if not direct:
                pairs = binding.get_outputs()[number].numpy()
                flat[:, : nodes**2].reshape(batch, nodes, nodes)[:] = self._by_sentence(pairs)
            self._add_other_scores(flat, layout, found)
        best = arcs[names[0]]
        total = best if self._is_factored and totals else arcs.get("total")
        return BatchScores(best, total, {name: found[name] for name in self._description.tags}, found)

    def relations(self, scores: BatchScores, heads: Ints) -> tuple[Ints, NDArray[np.float32] | None]:
        """[batch, N] the best relation of each word to its head [batch, N]; and how probable it is, where that is not
        part of the arc's own score already. For the root and beyond a sentence's end they mean nothing."""
        rows, words = np.indices(heads.shape)
        chosen = np.maximum(heads, 0)
        if not self._is_factored:
            return scores.found["relations"][chosen, rows, words].astype(np.int64), None
        self._get()
        vectors = {
            "heads": scores.found["relation_heads"][rows, chosen],
            "dependents": scores.found["relation_dependents"],
        }
        inputs: dict[str, Any] = {name: value.reshape(heads.size, -1) for name, value in vectors.items()}
        inputs["is_root"] = chosen.reshape(-1) == 0
        parts = [
            self._relation_graph.run(
                ["relations", "probabilities"],
                {name: value[start : start + ARCS_AT_ONCE] for name, value in inputs.items()},
            )
            for start in range(0, heads.size, ARCS_AT_ONCE)
        ]
        numbers, probabilities = (np.concatenate(part).reshape(heads.shape) for part in zip(*parts, strict=True))
        return numbers, probabilities

    def _inputs(self, sentences: Sequence[Sequence[str]]) -> dict[str, NDArray[Any]]:
        lengths = np.array([len(forms) + 1 for forms in sentences], dtype=np.int32)
        nodes = int(lengths.max())
        words = np.full((nodes, len(sentences)), UNKNOWN, dtype=np.int64)
        for column, forms in enumerate(sentences):
            words[: lengths[column], column] = self._description.words.numbers(forms)
        inputs: dict[str, NDArray[Any]] = {"words": words, "lengths": lengths}
        if self._description.characters is not None:
            different, places = different_words(sentences, nodes)
            inputs |= {"spelled": self._read(self._description.characters.spell(different)), "spellings": places.T}
        return inputs

    def _read(self, words: Spellings) -> NDArray[np.float32]:
        """[words, width] what their characters say."""
        order = np.argsort(words.lengths, kind="stable")
        parts = np.split(order, np.searchsorted(words.lengths[order], WORD_LENGTHS, side="right"))
        read = []
        for rows in filter(len, parts):
            own = words.take(rows)
            given = {"characters": np.ascontiguousarray(own.characters.T), "character_counts": own.lengths}
            read.append(self._spelling_graph.run(["spelled"], given)[0])
        found = np.empty((len(order), read[0].shape[1]), np.float32)
        found[order] = np.concatenate(read)
        return found

    def _by_sentence(self, pairs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Scores of pairs as [batch, N, N]."""
        return pairs if self._is_factored else pairs.transpose(1, 0, 2)

    def _add_other_scores(self, flat: NDArray[np.float32], layout: ScoreLayout, found: dict[str, Any]) -> None:
        """Puts the scores that are not of arcs in their places in ScoreLayout rows."""
        nodes = layout.nodes
        flat[:, layout.shift(0) : layout.shift(nodes)] = found["shift"]
        if self._system.has_reduce:
            flat[:, layout.reduce(0) : layout.reduce(nodes)] = found["reduce"]
        if self._system.has_no_arc:
            flat[:, layout.reduce(0) : layout.reduce(nodes)] = 0  # no system has both
            no_arc = flat[:, layout.no_arc(0, 0) :].reshape(len(flat), nodes, nodes)
            no_arc[:] = self._by_sentence(found["no_arc"])

    def _get(self) -> Any:
        """The main graph, ready in this process: onnxruntime's threads do not survive a fork."""
        if self._owner != os.getpid():
            self._load(self._read_again())
        return self._graph

    def _load(self, package: Package) -> None:
        self._graph = open_graph(package.graph, self._name)
        self._spelling_graph = open_graph(package.spelling_graph, self._name) if package.spelling_graph else None
        self._relation_graph = open_graph(package.relation_graph, self._name) if package.relation_graph else None
        self._owner = os.getpid()

    def _try_out(self) -> None:
        """Parses a few words, to find out now whether the graphs are what the description says."""
        names = {output.name for output in self._graph.get_outputs()}
        wanted = {*self._outputs, *(("arcs",) if self._is_factored else ("best", "total"))}
        if missing := wanted - names:
            raise LongarcError(f"{self._name}: the graph does not give {', '.join(sorted(missing))}")
        last_word = self._description.words.forms[-1]
        known = self._description.characters
        last_character = known.characters[-1] if known is not None and known.characters else "a"
        heads = np.array([[-1, 2, 0], [-1, 0, -1]])
        try:
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

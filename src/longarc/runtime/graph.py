"""ONNX graphs in onnxruntime."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import onnxruntime

from longarc.errors import LongarcError

FATAL_ONLY = 4
"""Onnxruntime's log is for its developers: its errors are also raised."""


class Graph:
    """A graph that runs in the calling thread and is opened again in a forked process, where onnxruntime's state does
    not survive."""

    def __init__(self, content: bytes, reload: Callable[[], bytes], name: str, *, keeps_memory: bool = False) -> None:
        """`reload` returns the content once more: it is not kept in memory here. For `keeps_memory` see open_graph."""
        self._reload = reload
        self._name = name
        self._keeps_memory = keeps_memory
        self._session = open_graph(content, name, keeps_memory)
        self._process = os.getpid()

    @property
    def session(self) -> Any:
        """The onnxruntime session of this process."""
        if self._process != os.getpid():
            self._session = open_graph(self._reload(), self._name, self._keeps_memory)
            self._process = os.getpid()
        return self._session

    def run(self, outputs: list[str], inputs: dict[str, Any]) -> Any:
        """Return the outputs as arrays."""
        with self.errors():
            return self.session.run(outputs, inputs)

    def run_bound(self, binding: Any, *, is_large: bool) -> None:
        """Run with bound inputs and outputs. After a large batch, the graph gives back the memory that it keeps."""
        options = None
        if is_large and self._keeps_memory:
            options = onnxruntime.RunOptions()
            options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        with self.errors():
            self.session.run_with_iobinding(binding, options)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn the errors of a running graph into LongarcErrors."""
        try:
            yield
        except Exception as error:  # onnxruntime's exceptions have no other common base
            raise LongarcError(f"{self._name}: the graph does not work: {error}") from None


def open_graph(content: bytes, name: str, keeps_memory: bool = False) -> Any:
    """Return an onnxruntime session for a graph; `name` is the model's name in errors.

    keeps_memory: keep the memory of a batch for the next one. A graph with large intermediate values would otherwise
    spend half of its time in getting memory from the system; others are no faster.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the parser runs one batch per core instead
    options.enable_cpu_mem_arena = keeps_memory
    options.log_severity_level = FATAL_ONLY
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no other common base
        raise LongarcError(f"{name}: the graph cannot be loaded: {error}") from None

"""LSTMs for batches of padded sentences.

Each direction is a plain LSTM over padded sequences, the backward one over reversed sentences, so that padding comes
last and never reaches a word. Packed sequences are much slower in training: they add each time step's gradient to a
tensor of the whole batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from onnx import helper
from torch import Tensor, nn

from longarc.model.graph_writer import GraphWriter


class SharedDropout(nn.Module):
    """Dropout that hides the same dimensions in all words of a sentence (Gal & Ghahramani 2016)."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """x: [N, batch, width]"""
        if not self.training or not self.rate:
            return x
        mask = torch.empty(1, *x.shape[1:], device=x.device).bernoulli_(1 - self.rate)
        return x * mask.div_(1 - self.rate)


class BiLSTM(nn.Module):
    """Several layers, each reading both directions of the one below, with dropout on their inputs."""

    def __init__(self, inputs: int, size: int, layers: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = SharedDropout(dropout)
        widths = [inputs] + [2 * size] * (layers - 1)
        self.forwards = nn.ModuleList(nn.LSTM(width, size) for width in widths)
        self.backwards = nn.ModuleList(nn.LSTM(width, size) for width in widths)
        for pair in self.layers():
            for lstm in pair:
                _initialise(lstm)

    def layers(self) -> Iterator[tuple[nn.LSTM, nn.LSTM]]:
        """Yield the two LSTMs of each layer."""
        for forwards, backwards in zip(self.forwards, self.backwards, strict=True):
            assert isinstance(forwards, nn.LSTM) and isinstance(backwards, nn.LSTM)
            yield forwards, backwards

    def forward(self, x: Tensor, reversal: Tensor) -> Tensor:
        """Return [N, batch, 2 · size]. x: [N, batch, inputs]; reversal: see `reversal_of`."""
        for forwards, backwards in self.layers():
            x = self.dropout(x)
            there, _ = forwards(x)
            back, _ = backwards(reverse(x, reversal))
            x = torch.cat([there, reverse(back, reversal)], dim=-1)
        return x

    def export(self, g: GraphWriter, x: str, lengths: str) -> str:
        """Add [N, batch, inputs] → [N, batch, 2 · size]."""
        for pair in self.layers():
            y, _ = _export_layer(g, x, lengths, pair)
            y = g.add("Transpose", y, perm=[0, 2, 1, 3])
            x = g.add("Reshape", y, g.shape(0, 0, 2 * pair[0].hidden_size))
        return x

    def final_states(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Return [batch, 2 · size], the last state of both directions of a single layer. x: [N, batch, inputs]."""
        ((forwards, backwards),) = self.layers()
        last, column = lengths.long() - 1, torch.arange(len(lengths), device=x.device)
        there, _ = forwards(x)
        back, _ = backwards(reverse(x, reversal_of(lengths, len(x))))
        return torch.cat([there[last, column], back[last, column]], dim=-1)

    def export_final_states(self, g: GraphWriter, x: str, lengths: str) -> str:
        """Add [N, batch, inputs] → [batch, 2 · size]."""
        (pair,) = self.layers()
        _, last = _export_layer(g, x, lengths, pair)
        y = g.add("Transpose", last, perm=[1, 0, 2])
        return g.add("Reshape", y, g.shape(0, 2 * pair[0].hidden_size))


class ForwardLSTM(nn.Module):
    """One layer that reads from left to right, with dropout on its inputs."""

    def __init__(self, inputs: int, size: int, dropout: float) -> None:
        super().__init__()
        self.dropout = SharedDropout(dropout)
        self.lstm = nn.LSTM(inputs, size)
        _initialise(self.lstm)

    def forward(self, x: Tensor) -> Tensor:
        """Return [N, batch, size]. x: [N, batch, inputs]."""
        states: Tensor = self.lstm(self.dropout(x))[0]
        return states

    def export(self, g: GraphWriter, x: str, lengths: str) -> str:
        """Add [N, batch, inputs] → [N, batch, size]."""
        states, _ = _export_layer(g, x, lengths, (self.lstm,))
        return g.add("Squeeze", states, g.shape(1))


def _export_layer(g: GraphWriter, x: str, lengths: str, lstms: tuple[nn.LSTM, ...]) -> tuple[str, str]:
    """Add one layer of one or two directions; return all states [N, directions, batch, size] and the last ones
    [directions, batch, size]."""
    weights = [g.constant(np.stack([_gates(getattr(lstm, f"weight_{k}_l0")) for lstm in lstms])) for k in ("ih", "hh")]
    bias = np.stack([np.concatenate([_gates(lstm.bias_ih_l0), _gates(lstm.bias_hh_l0)]) for lstm in lstms])
    inputs = [x, *weights, g.constant(bias), lengths]
    states, last = (f"{g.prefix}n{len(g.nodes)}{part}" for part in ("", "_last"))
    direction = "bidirectional" if len(lstms) == 2 else "forward"
    attributes: dict[str, Any] = {"hidden_size": lstms[0].hidden_size, "direction": direction}
    g.nodes.append(helper.make_node("LSTM", inputs, [states, last], **attributes))
    return states, last


def _gates(tensor: Any) -> NDArray[np.float32]:
    """Reorder gates from torch's input, forget, cell, output to ONNX's input, output, forget, cell."""
    i, f, g, o = tensor.detach().cpu().numpy().reshape(4, -1, *tensor.shape[1:])
    return np.concatenate([i, o, f, g])


def _initialise(lstm: nn.LSTM) -> None:
    """Initialise as the authors' code does: uniform weights (Glorot & Bengio 2010), forget gates biased to remember."""
    size = lstm.hidden_size
    limit = (6 / (lstm.input_size + size + 4 * size)) ** 0.5
    for name, parameter in lstm.named_parameters():
        if name.startswith("weight"):
            nn.init.uniform_(parameter, -limit, limit)
        else:
            nn.init.zeros_(parameter)
    with torch.no_grad():
        forget_gate: Tensor = getattr(lstm, "bias_ih_l0")[size : 2 * size]  # noqa: B009 (named by torch)
        forget_gate.fill_(1.0)


def reversal_of(lengths: Tensor, nodes: int) -> Tensor:
    """[N · batch] Return the index that reverses every sentence of a flattened [N, batch] tensor."""
    time = torch.arange(nodes, device=lengths.device).unsqueeze(1)
    reversed_time = torch.where(time < lengths, lengths - 1 - time, time)
    return (reversed_time * len(lengths) + torch.arange(len(lengths), device=lengths.device)).view(-1)


def reverse(x: Tensor, reversal: Tensor) -> Tensor:
    """Return x [N, batch, width] with every sentence reversed; see `reversal_of`."""
    reordered: Tensor = _Reorder.apply(x.reshape(-1, x.shape[-1]), reversal)  # type: ignore[no-untyped-call]
    return reordered.view(x.shape)


class _Reorder(torch.autograd.Function):
    """Reorder rows by a permutation that is its own inverse, so that the gradient uses the same one."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: Tensor) -> Tensor:
        ctx.save_for_backward(order)
        return x.index_select(0, order)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (order,) = ctx.saved_tensors
        return gradient.index_select(0, order), None

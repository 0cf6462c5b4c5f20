"""A bidirectional LSTM for batches of padded sentences.

Each direction is a plain LSTM over padded sequences, the backward one over reversed sentences, so that padding always
comes last and never reaches a word. Torch's packed sequences would do the same much more slowly in training: there,
each time step's gradient is added to a tensor of the whole batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn


class SharedDropout(nn.Module):
    """Dropout that hides the same dimensions in all words of a sentence (Gal & Ghahramani 2016)."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """x: [N, batch, width]"""
        if not self.training or not self.rate:
            return x
        kept = torch.empty(1, *x.shape[1:]).bernoulli_(1 - self.rate)
        return x * kept.div_(1 - self.rate)


class BiLSTM(nn.Module):
    """Several layers, each reading both directions of the one below, with dropout on what each reads."""

    def __init__(self, inputs: int, size: int, layers: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = SharedDropout(dropout)
        self.input_size = inputs
        widths = [inputs] + [2 * size] * (layers - 1)
        self.forwards = nn.ModuleList(nn.LSTM(width, size) for width in widths)
        self.backwards = nn.ModuleList(nn.LSTM(width, size) for width in widths)
        for pair in self.layers():
            for lstm in pair:
                _initialise(lstm)

    def layers(self) -> Iterator[tuple[nn.LSTM, nn.LSTM]]:
        """The LSTMs of each layer, forwards and backwards."""
        for forwards, backwards in zip(self.forwards, self.backwards, strict=True):
            assert isinstance(forwards, nn.LSTM) and isinstance(backwards, nn.LSTM)
            yield forwards, backwards

    def forward(self, x: Tensor, reversal: Tensor) -> Tensor:
        """x: [N, batch, inputs]; reversal: see `reversal_of`. Gives [N, batch, 2 · size]."""
        for forwards, backwards in self.layers():
            x = self.dropout(x)
            there, _ = forwards(x)
            back, _ = backwards(reverse(x, reversal))
            x = torch.cat([there, reverse(back, reversal)], dim=-1)
        return x


def _initialise(lstm: nn.LSTM) -> None:
    """As in the authors' code: uniform weights after Glorot & Bengio (2010), and gates that begin by remembering."""
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
    """[N · batch] from where each place of a [N, batch] tensor takes its value when every sentence is turned round."""
    time = torch.arange(nodes).unsqueeze(1)
    turned = torch.where(time < lengths, lengths - 1 - time, time)
    return (turned * len(lengths) + torch.arange(len(lengths))).view(-1)


def reverse(x: Tensor, reversal: Tensor) -> Tensor:
    """x [N, batch, width] with every sentence turned round; see `reversal_of`."""
    reordered: Tensor = _Reorder.apply(x.reshape(-1, x.shape[-1]), reversal)  # type: ignore[no-untyped-call]
    return reordered.view(x.shape)


class _Reorder(torch.autograd.Function):
    """Takes rows in another order that is its own inverse; so the gradient goes back by the same order."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: Tensor) -> Tensor:
        ctx.save_for_backward(order)
        return x.index_select(0, order)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (order,) = ctx.saved_tensors
        return gradient.index_select(0, order), None

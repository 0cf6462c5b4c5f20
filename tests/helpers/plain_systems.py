"""The transition systems once more, for one sentence, with Python lists, straight from the literature.

They share nothing with longarc's definitions, which work on batches of arrays, and are there to be compared with them.
Node 0 is the artificial root. With `single_root` it takes one child only, which the literature leaves open; each class
says how that is kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

HEADLESS = -1


class Move(NamedTuple):
    """A transition: what kind, and its two words. Arcs: head and dependent. No-Arc: i and j. Shift: j twice. Reduce:
    the top of the stack twice."""

    kind: str
    first: int
    second: int

    @property
    def is_arc(self) -> bool:
        return self.kind in ("Left-Arc", "Right-Arc", "Attach")


class PlainSystem(ABC):
    """One configuration of one sentence, which changes as moves are taken."""

    name: str

    def __init__(self, words: int, single_root: bool) -> None:
        self.words = words
        self.single_root = single_root
        self.buffer = list(range(1, words + 1))
        self.heads = [HEADLESS] * (words + 1)

    @abstractmethod
    def moves(self) -> list[Move]:
        """The legal moves; none in a terminal configuration."""

    @abstractmethod
    def take(self, move: Move) -> None:
        """Changes the configuration as the move says."""

    @abstractmethod
    def lists(self) -> dict[str, list[int]]:
        """The lists of words."""

    @abstractmethod
    def complete(self, score: Callable[[Move], float]) -> None:
        """Gives headless words heads at the end."""

    def root_is_free(self) -> bool:
        return not self.single_root or 0 not in self.heads[1:]

    def dominates(self, ancestor: int, word: int) -> bool:
        """Whether there is a path from `ancestor` to `word`, an empty one included."""
        while word != ancestor and word != HEADLESS:
            word = self.heads[word]
        return word == ancestor

    def may_link(self, head: int, dependent: int) -> bool:
        """Single head, no cycle, nothing governs the root."""
        return (
            dependent != 0
            and self.heads[dependent] == HEADLESS
            and not self.dominates(dependent, head)
            and (head != 0 or self.root_is_free())
        )


# ---------------------------------------------------------------------------------------------------------------------
# Fernández-González & Gómez-Rodríguez 2018, figure 1.


class PlainCovington(PlainSystem):
    """λ1 | i, λ2, j | B. The root starts in λ1."""

    name = "covington"

    def __init__(self, words: int, single_root: bool) -> None:
        super().__init__(words, single_root)
        self.lambda1 = [0]
        self.lambda2: list[int] = []

    def moves(self) -> list[Move]:
        if not self.buffer:
            return []
        j = self.buffer[0]
        found = [Move("Shift", j, j)]
        if self.lambda1:
            i = self.lambda1[-1]
            found.append(Move("No-Arc", i, j))
            found += self.arcs_between(i, j)
        return found

    def arcs_between(self, i: int, j: int) -> list[Move]:
        found = []
        if self.may_link(j, i):
            found.append(Move("Left-Arc", j, i))
        if self.may_link(i, j):
            found.append(Move("Right-Arc", i, j))
        return found

    def take(self, move: Move) -> None:
        if move.kind == "Shift":
            self.lambda1 = [*self.lambda1, *self.lambda2, self.buffer.pop(0)]
            self.lambda2 = []
            return
        if move.is_arc:
            self.heads[move.second] = move.first
        i = move.second if move.kind == "Left-Arc" else move.first
        while True:
            passed = self.lambda1.pop()
            self.lambda2.insert(0, passed)
            if passed == i:
                break

    def lists(self) -> dict[str, list[int]]:
        return {"λ1": self.lambda1, "λ2": self.lambda2, "Buffer": self.buffer}

    def complete(self, score: Callable[[Move], float]) -> None:
        """If the root has no child it takes the best headless word; then each headless word, from left to right, takes
        its best head."""

        headless = [word for word in range(1, self.words + 1) if self.heads[word] == HEADLESS]
        if headless and 0 not in self.heads[1:]:
            root = max(headless, key=lambda word: score(Move("Right-Arc", 0, word)))
            self.heads[root] = 0
            headless.remove(root)
        for word in headless:
            arcs = [Move("Left-Arc", head, word) for head in range(self.words + 1) if self.may_link(head, word)]
            self.heads[word] = max(arcs, key=score).first


class PlainNLCovington(PlainCovington):
    """Left-Arc_k and Right-Arc_k reach any word of λ1."""

    name = "nl-covington"

    def moves(self) -> list[Move]:
        if not self.buffer:
            return []
        j = self.buffer[0]
        return [Move("Shift", j, j), *(arc for i in self.lambda1 for arc in self.arcs_between(i, j))]


# ---------------------------------------------------------------------------------------------------------------------
# Fernández-González & Gómez-Rodríguez 2017.


class PlainNonMonotonicCovington(PlainCovington):
    """An arc replaces the head of its dependent, and the arc into its head if that closes a cycle. One root: a second
    arc from it is not legal as long as it has a child."""

    name = "non-monotonic-covington"

    def arcs_between(self, i: int, j: int) -> list[Move]:
        found = [Move("Left-Arc", j, i)] if i != 0 else []
        return [*found, Move("Right-Arc", i, j)] if i != 0 or self.root_is_free() else found

    def take(self, move: Move) -> None:
        if move.is_arc and self.dominates(move.second, move.first):
            self.heads[move.first] = HEADLESS
        super().take(move)


class PlainNonMonotonicNLCovington(PlainNonMonotonicCovington, PlainNLCovington):
    name = "non-monotonic-nl-covington"


# ---------------------------------------------------------------------------------------------------------------------
# Word by word: Fernández-González & Gómez-Rodríguez 2019, and the maximum spanning tree.


class PlainPointer(PlainSystem):
    """Each word takes a head that closes no cycle. One root: its second child is not legal."""

    name = "pointer"

    def moves(self) -> list[Move]:
        if not self.buffer:
            return []
        word = self.buffer[0]
        return [Move("Attach", head, word) for head in range(self.words + 1) if self.may_link(head, word)]

    def take(self, move: Move) -> None:
        self.heads[self.buffer.pop(0)] = move.first

    def lists(self) -> dict[str, list[int]]:
        return {"Attached": list(range(1, self.words - len(self.buffer) + 1)), "Buffer": self.buffer}

    def complete(self, score: Callable[[Move], float]) -> None:
        pass


class PlainMst(PlainPointer):
    """Each word takes any head; the best of all trees, found by branch and bound, replaces heads that are no tree."""

    name = "mst"

    def moves(self) -> list[Move]:
        word = self.buffer[0] if self.buffer else 0
        return [Move("Attach", head, word) for head in range(self.words + 1) if head != word] if word else []

    def complete(self, score: Callable[[Move], float]) -> None:
        words = range(1, self.words + 1)
        arcs = {
            word: sorted(
                ((score(Move("Attach", h, word)), h) for h in range(self.words + 1) if h != word), reverse=True
            )
            for word in words
        }
        bounds = [sum(arcs[word][0][0] for word in words[done:]) for done in range(self.words + 1)]
        best = float("-inf")
        found = self.heads
        self.heads = [HEADLESS] * (self.words + 1)

        def search(word: int, total: float) -> None:
            nonlocal best, found
            if word > self.words:
                if total > best:
                    best, found = total, self.heads.copy()
                return
            for value, head in arcs[word]:
                if total + value + bounds[word] <= best:
                    return
                if self.may_link(head, word):
                    self.heads[word] = head
                    search(word + 1, total + value)
                    self.heads[word] = HEADLESS

        if self.words:
            search(1, 0.0)
        self.heads = found


# ---------------------------------------------------------------------------------------------------------------------
# The stack-based systems; the root lies at the bottom of the stack.


class PlainStackSystem(PlainSystem):
    def __init__(self, words: int, single_root: bool) -> None:
        super().__init__(words, single_root)
        self.stack = [0]

    def lists(self) -> dict[str, list[int]]:
        return {"Stack": self.stack, "Buffer": self.buffer}

    def shift(self) -> None:
        self.stack.append(self.buffer.pop(0))

    def complete(self, score: Callable[[Move], float]) -> None:
        """Headless words on the stack hang on the word below them."""
        for below, word in zip(self.stack[:-1], self.stack[1:], strict=True):
            if self.heads[word] == HEADLESS:
                self.heads[word] = below


class PlainArcStandard(PlainStackSystem):
    """Nivre 2004, with both words of an arc on the stack. One root: its child is attached when nothing else is left."""

    name = "arc-standard"

    def moves(self) -> list[Move]:
        found = [Move("Shift", self.buffer[0], self.buffer[0])] if self.buffer else []
        if len(self.stack) >= 2:
            second, top = self.stack[-2:]
            if second != 0:
                found.append(Move("Left-Arc", top, second))
            if second != 0 or not self.single_root or not self.buffer:
                found.append(Move("Right-Arc", second, top))
        return found

    def take(self, move: Move) -> None:
        if move.kind == "Shift":
            self.shift()
        else:
            self.heads[move.second] = move.first
            self.stack.remove(move.second)


class PlainArcHybrid(PlainStackSystem):
    """Kuhlmann, Gómez-Rodríguez & Satta 2011. One root: its child is attached when nothing else is left."""

    name = "arc-hybrid"

    def moves(self) -> list[Move]:
        found = [Move("Shift", self.buffer[0], self.buffer[0])] if self.buffer else []
        top = self.stack[-1]
        if top != 0 and self.buffer:
            found.append(Move("Left-Arc", self.buffer[0], top))
        if top != 0 and (self.stack[-2] != 0 or not self.single_root or not self.buffer):
            found.append(Move("Right-Arc", self.stack[-2], top))
        return found

    def take(self, move: Move) -> None:
        if move.kind == "Shift":
            self.shift()
        else:
            self.heads[move.second] = move.first
            assert self.stack.pop() == move.second


class PlainArcEager(PlainStackSystem):
    """Nivre 2003. The end is an empty buffer. One root: its child is never reduced."""

    name = "arc-eager"

    def moves(self) -> list[Move]:
        if not self.buffer:
            return []
        top, front = self.stack[-1], self.buffer[0]
        found = [Move("Shift", front, front)]
        if self.heads[top] != HEADLESS and not (self.single_root and self.heads[top] == 0):
            found.append(Move("Reduce", top, top))
        if self.may_link(front, top):
            found.append(Move("Left-Arc", front, top))
        if self.may_link(top, front):
            found.append(Move("Right-Arc", top, front))
        return found

    def take(self, move: Move) -> None:
        if move.is_arc:
            self.heads[move.second] = move.first
        if move.kind in ("Left-Arc", "Reduce"):
            self.stack.pop()
        else:
            self.shift()


class PlainArcSwift(PlainStackSystem):
    """Qi & Manning 2017: k − 1 Reduce transitions of arc-eager and an arc, in one. One root: a second right arc from it
    is not legal, so its child stays on the stack."""

    name = "arc-swift"

    def moves(self) -> list[Move]:
        if not self.buffer:
            return []
        front = self.buffer[0]
        found = [Move("Shift", front, front)]
        for word in reversed(self.stack):  # the words above `word` have heads: they can be reduced
            if self.may_link(word, front):
                found.append(Move("Right-Arc", word, front))
            if self.heads[word] == HEADLESS:
                if word != 0:
                    found.append(Move("Left-Arc", front, word))
                break
        return found

    def take(self, move: Move) -> None:
        if move.kind == "Left-Arc":
            while self.stack.pop() != move.second:
                pass
            self.heads[move.second] = move.first
            return
        if move.kind == "Right-Arc":
            while self.stack[-1] != move.first:
                self.stack.pop()
            self.heads[move.second] = move.first
        self.shift()


PLAIN_SYSTEMS: dict[str, type[PlainSystem]] = {
    system.name: system
    for system in (
        PlainCovington,
        PlainNLCovington,
        PlainNonMonotonicCovington,
        PlainNonMonotonicNLCovington,
        PlainPointer,
        PlainMst,
        PlainArcSwift,
        PlainArcEager,
        PlainArcStandard,
        PlainArcHybrid,
    )
}


def parse_plainly(system: PlainSystem, score: Callable[[Move], float]) -> list[int]:
    """The heads, by node, that greedy search finds: the best legal move again and again."""
    while moves := system.moves():
        system.take(max(moves, key=score))
    system.complete(score)
    return system.heads

"""Errors that users can fix. The command line prints them without a traceback and exits with status 2."""

from __future__ import annotations


class LongarcError(Exception):
    """A mistake in the user's input: `message` says what is wrong, `hint` how to fix it.

    >>> try:
    ...     longarc.load("klingon")
    ... except longarc.LongarcError as error:
    ...     print(error.message)
    klingon: neither a file nor the name of a model
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class InputError(LongarcError):
    """A mistake in an input file, at `path` and `line`; lines are counted from 1, and 0 stands for the whole file.

    >>> try:
    ...     longarc.Sentence.from_conll("1 She left")
    ... except longarc.InputError as error:
    ...     print(error.path, error.line)
    <text> 1
    """

    def __init__(self, path: str, line: int, message: str, hint: str = "") -> None:
        super().__init__(f"{path}:{line}: {message}" if line else f"{path}: {message}", hint)
        self.path = path
        self.line = line

"""The mistakes that a user can mend: they are shown as one message, without a traceback, and end with status 2."""

from __future__ import annotations


class LongarcError(Exception):
    """A problem with what the user gave: the message says what was found, the hint what to do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class InputError(LongarcError):
    """Something in an input file is not as it must be; `path` and `line` (counted from 1) say where."""

    def __init__(self, path: str, line: int, message: str, hint: str = "") -> None:
        super().__init__(f"{path}:{line}: {message}" if line else f"{path}: {message}", hint)
        self.path = path
        self.line = line

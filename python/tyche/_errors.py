"""What goes wrong, as exceptions."""
from __future__ import annotations

from typing import Optional


class Error(Exception):
    """Base of all errors of tyche."""


class InputError(Error, ValueError):
    """The data or the call is wrong. The message says what was expected and what came.

    ``graph`` is the number of the graph it is about, or None.
    """

    def __init__(self, message: str, graph: Optional[int] = None) -> None:
        super().__init__(message)
        self.graph = graph


class UnknownOptionError(InputError, TypeError):
    """A call has no option or parameter of this name. The message names the nearest."""


class IoError(Error, OSError):
    """The machine said no: a file that cannot be opened, a full disk."""


class InternalError(Error, RuntimeError):
    """A mistake of tyche's own; please report it."""

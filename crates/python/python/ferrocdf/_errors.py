"""Exceptions.

Each has the text that says what failed, where and why; ``code``, the number of the error in ``netcdf.h`` or the errno of the system; and
``path``, the path of the group or variable inside the dataset, where it is known.
"""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """The base of all exceptions of ferrocdf."""

    code: int
    path: str | None

    def __init__(self, what: str, code: int = 0, path: str | None = None) -> None:
        super().__init__(what)
        self.code = code
        self.path = path
        # By another name: type checkers take `self.errno` for an attribute of this class.
        failure: Exception = self
        if code > 0 and isinstance(failure, OSError):
            failure.errno = code

    def __reduce__(self) -> tuple[type[Error], tuple[Any, int, str | None]]:
        return type(self), (self.args[0], self.code, self.path)

    def __str__(self) -> str:
        return str(self.args[0])


class NotFound(Error, FileNotFoundError, KeyError):
    """A file, a group, a dimension, a variable, an attribute or a type does not exist."""


class AlreadyExists(Error, FileExistsError):
    """A file or a name exists already."""


class InvalidArgument(Error, ValueError):
    """An argument is wrong, or a number is out of the range of the type it is written to."""


class WrongType(Error, TypeError):
    """A value or a variable is of another type than the call needs."""


class OutOfBounds(Error, IndexError):
    """A selection is outside the shape of its variable, or of another shape than the data."""


class InvalidState(Error, RuntimeError):
    """The call comes too early or too late."""


class UnknownFormat(Error, OSError):
    """The file is of no known format."""


class Corrupt(Error, OSError):
    """The file is damaged."""


class FilterError(Error, RuntimeError):
    """A filter is not available, or refuses its parameters or its data."""


class Unsupported(Error, NotImplementedError):
    """The format cannot do what was asked for."""


class PermissionDenied(Error, PermissionError):
    """The dataset is open for reading only, or the system or a server denies access."""


class Conflict(Error, RuntimeError):
    """A change was not stored, since another writer had changed the same object."""


class IoError(Error, OSError):
    """The system refused to read or write."""


class NetworkError(Error, ConnectionError):
    """A server could not be reached, or refused to answer."""


class OutOfMemory(Error, MemoryError):
    """Memory does not suffice."""

"""The exceptions that programs for netCDF4-python expect."""

from __future__ import annotations

import os

from .._errors import Error


class NetCDF4MissingFeatureException(Exception):
    """A feature is missing. netCDF4-python raises it if its library was built without one; it is never raised here."""


class raised_as:
    """A context in which errors of the engine become exceptions of a class of Python: `RuntimeError` in most places."""

    __slots__ = ("_cls",)

    def __init__(self, cls: type[Exception] = RuntimeError) -> None:
        self._cls = cls

    def __enter__(self) -> raised_as:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Error) and not isinstance(error, self._cls):
            raise self._cls(str(error)) from error


def cannot_open(error: Error, path: str) -> OSError:
    """Returns the `OSError`, or the subclass for its code, of a dataset that cannot be opened."""
    return OSError(error.code, os.strerror(error.code) if error.code > 0 else str(error), path)

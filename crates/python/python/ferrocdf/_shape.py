"""What follows from the shape of a variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:

    class _WithShape(Protocol):
        @property
        def shape(self) -> tuple[int, ...]: ...


class HasShape:
    """A variable that tells its shape."""

    __slots__ = ()

    @property
    def ndim(self: _WithShape) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self: _WithShape) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=object))

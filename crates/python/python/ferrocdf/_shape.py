"""What follows from the shape of a variable."""

import numpy as np


class HasShape:
    """A variable that tells its shape."""

    __slots__ = ()

    @property
    def ndim(self):
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self):
        """The number of elements."""
        return int(np.prod(self.shape, dtype=object))

"""Dimensions."""

from __future__ import annotations

import weakref
from operator import index
from typing import TYPE_CHECKING, Any, NoReturn

from ._errors import raised_as

if TYPE_CHECKING:
    from ._dataset import Dataset, _Container


class Dimension:
    """A dimension of a group. ``len`` gives its length now."""

    def __init__(self, grp: _Container, name: str, size: int | None = None, **kwargs: Any) -> None:
        self._grp: Any = weakref.proxy(grp) if grp.keepweakref else grp
        self._ferrocdf = grp._ferrocdf
        self._name = name
        if not kwargs.get("exists"):
            # 0 is an unlimited dimension too.
            with raised_as():
                grp._ferrocdf._create_dimension(name, None if size is None else index(size) or None)

    def _facts(self) -> tuple[int, bool]:
        """Returns the length, and True if it grows."""
        return next((size, grows) for name, size, grows in self._ferrocdf._dimensions() if name == self._name)

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @name.setter
    def name(self, value: str) -> NoReturn:
        raise AttributeError("name cannot be altered")

    @property
    def size(self) -> int:
        """The length now."""
        return len(self)

    @size.setter
    def size(self, value: int) -> NoReturn:
        raise AttributeError("size cannot be altered")

    def _path(self) -> str:
        """Returns the path in the dataset, by which the engine finds it whatever other groups call theirs."""
        return f"{self._ferrocdf.path.rstrip('/')}/{self._name}"

    def __len__(self) -> int:
        return self._facts()[0]

    def group(self) -> Dataset:
        """Returns the group that it is defined in."""
        group: Dataset = self._grp
        return group

    def isunlimited(self) -> bool:
        """True if it grows."""
        return self._facts()[1]

    def __str__(self) -> str:
        if not dir(self._grp):
            return "Dimension object no longer valid"
        size, grows = self._facts()
        return f"\"<class 'netCDF4.Dimension'>\"{' (unlimited)' if grows else ''}: name = '{self._name}', size = {size}"

    __repr__ = __str__

    def __reduce__(self) -> NoReturn:
        raise NotImplementedError("Dimension is not picklable")


def find_dimension(group: Any, name: str) -> Dimension:
    """Returns a dimension by its name in a group or around it."""
    while group is not None:
        if name in group.dimensions:
            found: Dimension = group.dimensions[name]
            return found
        group = group.parent
    raise ValueError(f"cannot find dimension {name} in this group or parent groups")

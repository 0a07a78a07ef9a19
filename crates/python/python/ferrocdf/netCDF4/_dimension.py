"""Dimensions."""

import weakref
from operator import index

from ._errors import raised_as


class Dimension:
    """A dimension of a group. ``len`` gives its length now."""

    def __init__(self, grp, name, size=None, **kwargs):
        self._grp = weakref.proxy(grp) if grp.keepweakref else grp
        self._ferrocdf = grp._ferrocdf
        self._name = name
        if not kwargs.get("exists"):
            # 0 is an unlimited dimension too.
            with raised_as():
                grp._ferrocdf._create_dimension(name, None if size is None else index(size) or None)

    def _facts(self):
        """Returns the length, and True if it grows."""
        return next((size, grows) for name, size, grows in self._ferrocdf._dimensions() if name == self._name)

    @property
    def name(self):
        """The name."""
        return self._name

    @name.setter
    def name(self, value):
        raise AttributeError("name cannot be altered")

    @property
    def size(self):
        """The length now."""
        return len(self)

    @size.setter
    def size(self, value):
        raise AttributeError("size cannot be altered")

    def _path(self):
        """Returns the path in the dataset, by which the engine finds it whatever other groups call theirs."""
        return f"{self._ferrocdf.path.rstrip('/')}/{self._name}"

    def __len__(self):
        return self._facts()[0]

    def group(self):
        """Returns the group that it is defined in."""
        return self._grp

    def isunlimited(self):
        """True if it grows."""
        return self._facts()[1]

    def __str__(self):
        if not dir(self._grp):
            return "Dimension object no longer valid"
        size, grows = self._facts()
        return f"\"<class 'netCDF4.Dimension'>\"{' (unlimited)' if grows else ''}: name = '{self._name}', size = {size}"

    __repr__ = __str__

    def __reduce__(self):
        raise NotImplementedError("Dimension is not picklable")


def find_dimension(group, name):
    """Returns a dimension by its name in a group or around it."""
    while group is not None:
        if name in group.dimensions:
            return group.dimensions[name]
        group = group.parent
    raise ValueError(f"cannot find dimension {name} in this group or parent groups")

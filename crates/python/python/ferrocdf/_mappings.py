"""Groups, variables, dimensions, types and attributes by their names."""

from collections.abc import Mapping, MutableMapping


class _Named(Mapping):
    """Objects of a group, looked up when they are asked for."""

    __slots__ = ("_names", "_find")

    def __init__(self, names, find):
        self._names, self._find = names, find

    def __getitem__(self, name):
        if not isinstance(name, str) or "/" in name:
            raise KeyError(name)
        return self._find(name)

    def __iter__(self):
        return iter(self._names())

    def __len__(self):
        return len(self._names())

    def __repr__(self):
        return f"<{', '.join(self) or 'empty'}>"


class Attributes(MutableMapping):
    """The attributes of a group or a variable, in definition order.

    Text is ``str``; one number or string stands alone, several are an array or a list. An assignment takes the type that fits the value;
    ``set`` takes a type, by its name in netCDF or as a data type of NumPy.
    """

    __slots__ = ("_owner",)

    def __init__(self, owner):
        self._owner = owner

    def __getitem__(self, name):
        return self._owner._attribute(name)

    def __setitem__(self, name, value):
        self._owner._put_attribute(name, value)

    def __delitem__(self, name):
        self._owner._remove_attribute(name)

    def __iter__(self):
        return iter(self._owner._attribute_names())

    def __len__(self):
        return len(self._owner._attribute_names())

    def __contains__(self, name):
        return name in self._owner._attribute_names()

    def set(self, name, value, type=None):
        """Sets an attribute with values of a type."""
        self._owner._put_attribute(name, value, type)

    def asdict(self):
        """Returns all attributes as a ``dict``, read at once."""
        return self._owner._attributes()

    def __repr__(self):
        return repr(self.asdict())

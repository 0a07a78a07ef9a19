"""Groups, variables, dimensions, types and attributes by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from . import _ferrocdf
    from ._typing import DataType

_Object = TypeVar("_Object")


class _Named(Mapping[str, _Object]):
    """Objects of a group, looked up when they are asked for."""

    __slots__ = ("_names", "_find")

    def __init__(self, names: Callable[[], list[str]], find: Callable[[str], _Object]) -> None:
        self._names, self._find = names, find

    def __getitem__(self, name: str) -> _Object:
        if not isinstance(name, str) or "/" in name:
            raise KeyError(name)
        return self._find(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __repr__(self) -> str:
        return f"<{', '.join(self) or 'empty'}>"


class Attributes(MutableMapping[str, Any]):
    """The attributes of a group or a variable, in definition order.

    Text is ``str``; one number or string stands alone, several are an array or a list. An assignment takes the type that fits the value;
    ``set`` takes a type, by its name in netCDF or as a data type of NumPy.
    """

    __slots__ = ("_owner",)

    def __init__(self, owner: _ferrocdf.Group | _ferrocdf.Variable) -> None:
        self._owner = owner

    def __getitem__(self, name: str) -> Any:
        return self._owner._attribute(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._owner._put_attribute(name, value)

    def __delitem__(self, name: str) -> None:
        self._owner._remove_attribute(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._owner._attribute_names())

    def __len__(self) -> int:
        return len(self._owner._attribute_names())

    def __contains__(self, name: object) -> bool:
        return name in self._owner._attribute_names()

    def set(self, name: str, value: Any, type: DataType | None = None) -> None:
        """Sets an attribute with values of a type."""
        self._owner._put_attribute(name, value, type)

    def asdict(self) -> dict[str, Any]:
        """Returns all attributes as a ``dict``, read at once."""
        return self._owner._attributes()

    def __repr__(self) -> str:
        return repr(self.asdict())

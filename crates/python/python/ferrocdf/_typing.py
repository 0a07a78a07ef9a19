"""Types that annotations name. Only type checkers import this module."""

import os
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: An index of one dimension that keeps the dimension. An array is none, since it may have one element and no dimension.
KeptAxis: TypeAlias = slice | Sequence[int] | Sequence[bool]

#: An index of one dimension.
AxisIndex: TypeAlias = KeptAxis | SupportsIndex | NDArray[np.integer[Any]] | NDArray[np.bool_]

#: An index of a variable.
Index: TypeAlias = AxisIndex | EllipsisType | tuple[AxisIndex | EllipsisType, ...]

#: The result of an index: an array, or the element that an index of integers names: a scalar of NumPy, text, or an object of a user-defined type.
ArrayOrElement: TypeAlias = NDArray[Any] | Any

#: Values that can be written: those that NumPy makes an array of, and lists of objects of user-defined types.
Values: TypeAlias = ArrayLike | Sequence[Any]

#: The name of a netCDF type or of a type of the dataset, a type of Python, or a data type of NumPy.
DataType: TypeAlias = str | type[Any] | np.dtype[Any] | list[Any]

Path: TypeAlias = str | os.PathLike[str]
Mode: TypeAlias = Literal["r", "a", "r+", "w", "x"]
Endian: TypeAlias = Literal["native", "little", "big"]
Quantization: TypeAlias = Literal["BitGroom", "GranularBitRound", "BitRound"]
TypeKind: TypeAlias = Literal["compound", "enum", "vlen", "opaque"]


class BinaryFile(Protocol):
    """A file object that datasets are read from."""

    def read(self, size: int, /) -> bytes: ...
    def seek(self, offset: int, whence: int = ..., /) -> object: ...
    def tell(self) -> int: ...


#: What datasets are read from.
Source: TypeAlias = Path | bytes | bytearray | memoryview | BinaryFile

#: References: a dictionary, its text or its bytes in JSON, or where that is.
References: TypeAlias = Mapping[str, Any] | Source

#: What a dataset was opened from: its path, URL, bytes or file object; None for one made in memory.
Location: TypeAlias = str | bytes | BinaryFile | None


class BinaryTarget(Protocol):
    """A file object that datasets are written to."""

    def write(self, data: bytes, /) -> object: ...

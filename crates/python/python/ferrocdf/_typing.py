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


class FsspecMapping(Protocol):
    """A mapping of fsspec: a folder or a file of a file system."""

    @property
    def fs(self) -> Any: ...
    @property
    def root(self) -> str: ...


class FsspecFileSystem(Protocol):
    """A file system of fsspec."""

    @property
    def cat_ranges(self) -> Any: ...
    @property
    def info(self) -> Any: ...


class ObstoreStore(Protocol):
    """A store of obstore."""

    @property
    def get_ranges(self) -> Any: ...
    @property
    def list_with_delimiter(self) -> Any: ...


#: A store that datasets are in.
Store: TypeAlias = FsspecMapping | FsspecFileSystem | ObstoreStore

#: A request for a range of an object: its key, and the range as that of a slice.
Request: TypeAlias = tuple[str, int | None, int | None]

#: The answer: bytes, the position of the first one, the size of the object, its version; None for no such object; the exception of the request.
Answer: TypeAlias = tuple[bytes, int, int, str] | Exception | None


class Adapter(Protocol):
    """A store as the engine reads it."""

    name: str

    def get_many(self, requests: Sequence[Request], /) -> list[Answer]: ...
    def list(self, folder: str, /) -> tuple[list[str], list[str]]: ...


#: What datasets are read from.
Source: TypeAlias = Path | bytes | bytearray | memoryview | BinaryFile | FsspecMapping | ObstoreStore

#: References: a dictionary, its text or its bytes in JSON, or where that is.
References: TypeAlias = Mapping[str, Any] | Path | bytes | bytearray | memoryview | BinaryFile

#: What a dataset was opened from: its path, URL, bytes, file object or store; None for one made in memory.
Location: TypeAlias = str | bytes | BinaryFile | FsspecMapping | ObstoreStore | None


class BinaryTarget(Protocol):
    """A file object that datasets are written to."""

    def write(self, data: bytes, /) -> object: ...

"""Datasets, groups, variables and dimensions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, overload

import numpy as np

from . import _ferrocdf, _show
from ._decode import decode
from ._mappings import Attributes, _Named
from ._shape import HasShape

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from ._typing import (
        ArrayOrElement,
        DataType,
        Endian,
        Index,
        Location,
        Mode,
        Path,
        Quantization,
        Source,
        Store,
        TypeKind,
        Values,
    )

_Array = TypeVar("_Array", bound="NDArray[Any]")

# Levels of filters that need one.
_LEVELS = {"deflate": 4, "zstd": 3, "bzip2": 9}


class Dimension(NamedTuple):
    """A dimension: its name, its length when it was looked up, and whether it grows."""

    name: str
    size: int
    is_unlimited: bool

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return True


class Type(NamedTuple):
    """A type defined in a dataset: its name, its data type in NumPy, and ``"compound"``, ``"enum"``, ``"vlen"`` or ``"opaque"``."""

    name: str
    dtype: np.dtype[Any]
    kind: TypeKind


class Variable(HasShape, _ferrocdf.Variable):
    """A variable: an array in a dataset.

    ``variable[index]`` reads into a new array. An index has integers, slices with steps of either sign, ``...``, lists of integers and boolean
    lists; lists are orthogonal, each selects along its own dimension. ``variable[index] = values`` writes, broadcasts as NumPy does, and
    lengthens unlimited dimensions.
    """

    # No other attributes: `variable.units = "K"` must be an error, and not lost.
    __slots__ = ("__weakref__", "_dataset")

    _dataset: Dataset

    @property
    def group(self) -> Group:
        """The group it is in."""
        root, path = _ferrocdf.Group(self._open_file()), self._group_path()
        return Group._of(root if path == "/" else root._find_group(path), self._dataset)

    @property
    def attrs(self) -> Attributes:
        """The attributes, which can be assigned to."""
        return Attributes(self)

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements in memory."""
        return self.size * self.dtype.itemsize

    @overload
    def read(self, index: Index = ..., *, out: None = None, decode_cf: bool = False) -> ArrayOrElement: ...
    @overload
    def read(self, index: Index = ..., *, out: _Array, decode_cf: Literal[False] = False) -> _Array: ...
    @overload
    def read(self, index: Index = ..., *, out: NDArray[Any], decode_cf: bool) -> ArrayOrElement: ...
    def read(self, index: Index = ..., *, out: NDArray[Any] | None = None, decode_cf: bool = False) -> ArrayOrElement:
        """Reads elements.

        out: an array of the shape of the result, which is filled and returned.
        decode_cf: True for numbers as the CF conventions mean them: ``_Unsigned`` heeded, missing values masked (``_FillValue``,
            ``missing_value``, ``valid_range``, ``valid_min``, ``valid_max``), ``scale_factor`` and ``add_offset`` applied; the result is a
            masked array where elements are missing.
        """
        values = self[index] if out is None else self._read_into(index, out)
        return decode(values, self.attrs.asdict(), self._is_number()) if decode_cf else values

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a variable without dimensions has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[ArrayOrElement]:
        return (self[at] for at in range(len(self)))

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> NDArray[Any]:
        values = np.asarray(self[...])
        return values if dtype is None else values.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return _show.variable(self)

    def __reduce__(self) -> tuple[Callable[..., Variable], tuple[Dataset, str]]:
        return _variable_at, (self._dataset, self.path)


def _variable_at(dataset: Dataset, path: str) -> Variable:
    found: Variable = dataset[path]
    return found


class Group(_ferrocdf.Group):
    """A group: dimensions, variables, types, attributes and other groups. ``group["path/name"]`` finds groups and variables.

    Type checkers cannot tell which of the two a path names; ``group.groups["name"]`` and ``group.variables["name"]`` tell them.
    """

    __slots__ = ("__weakref__", "_dataset")

    _dataset: Dataset

    @classmethod
    def _of(cls, native: _ferrocdf.Group, dataset: Dataset) -> Group:
        made = _ferrocdf.Group.__new__(Group, native)
        made._dataset = dataset
        return made

    def _wrap(self, native: _ferrocdf.Variable) -> Variable:
        made = Variable(native)
        made._dataset = self._dataset
        return made

    @property
    def parent(self) -> Group | None:
        """The group that this one is in; None for the root group."""
        found = self._parent()
        return None if found is None else Group._of(found, self._dataset)

    @property
    def attrs(self) -> Attributes:
        """The attributes, which can be assigned to."""
        return Attributes(self)

    @property
    def groups(self) -> Mapping[str, Group]:
        """The groups in this group by name."""
        return _Named(self._group_names, lambda name: Group._of(self._find_group(name), self._dataset))

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The variables in this group by name."""
        return _Named(self._variable_names, lambda name: self._wrap(self._find_variable(name)))

    @property
    def dimensions(self) -> dict[str, Dimension]:
        """The dimensions defined in this group by name."""
        return {name: Dimension(name, size, grows) for name, size, grows in self._dimensions()}

    @property
    def types(self) -> dict[str, Type]:
        """The types defined in this group by name."""
        return {name: Type(name, dtype, kind) for name, dtype, kind in self._types()}

    def __getitem__(self, path: str) -> Any:
        try:
            return self._wrap(self._find_variable(path))
        except KeyError:
            return Group._of(self._find_group(path), self._dataset)

    def __contains__(self, path: str) -> bool:
        try:
            self[path]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        yield from self._group_names()
        yield from self._variable_names()

    def create_group(self, name: str, attrs: Mapping[str, Any] | None = None) -> Group:
        """Defines a group."""
        made = Group._of(self._create_group(name), self._dataset)
        made.attrs.update(attrs or {})
        return made

    def create_dimension(self, name: str, size: int | None = None) -> Dimension:
        """Defines a dimension; one that grows without a size."""
        self._create_dimension(name, size)
        return self.dimensions[name]

    def create_variable(
        self,
        name: str,
        dtype: DataType | None = None,
        dimensions: str | Iterable[str] = (),
        *,
        data: Values | None = None,
        attrs: Mapping[str, Any] | None = None,
        chunks: Sequence[int] | None = None,
        contiguous: bool = False,
        shards: Sequence[int] | None = None,
        filters: str | Iterable[str] = (),
        compression: str | None = None,
        level: int | None = None,
        shuffle: bool | None = None,
        fletcher32: bool = False,
        endian: Endian = "native",
        quantize: tuple[Quantization, int] | None = None,
        fill_value: Any = None,
        fill: bool = True,
    ) -> Variable:
        """Defines a variable, and writes ``data`` where it is given.

        dtype: a type of netCDF ("float", "string"), the name of a type of the dataset, a data type of NumPy, or ``str``.
        dimensions: the names of the dimensions, slowest first. Dimensions that do not exist are made as long as ``data``.
        chunks: the shape of the chunks in elements; contiguous: True for one run of bytes; shards: the shape of the shards of Zarr 3.
        filters: filters by name or number in the order in which they encode, as ``nccopy -F`` takes them: ``["shuffle", "zstd,3"]``.
        compression: "deflate", "zstd" or another filter, with ``level`` as its first parameter; ``shuffle`` goes before it unless it is False.
        quantize: ("BitGroom", 3), ("GranularBitRound", 3) or ("BitRound", 9): the digits, or bits, of floats that are kept.
        fill_value: the value of elements that are never written; fill: False to leave them undefined.
        """
        if data is not None and dtype is None:
            data = np.asarray(data)
            dtype = str if data.dtype.kind in "UT" else data.dtype
        if dtype is None:
            raise TypeError("a variable needs a dtype, or data that has one")
        dimensions = [dimensions] if isinstance(dimensions, str) else list(dimensions)
        self._make_dimensions(dimensions, data)
        stages = [filters] if isinstance(filters, str) else list(filters)
        if compression is not None:
            stages += ["shuffle"] if shuffle is None or shuffle else []
            level = _LEVELS.get(compression) if level is None else level
            stages.append(compression if level is None else f"{compression},{level}")
        elif shuffle:
            stages.insert(0, "shuffle")
        stages += ["fletcher32"] if fletcher32 else []
        storage: _ferrocdf._Storage = {
            "chunks": chunks,
            "contiguous": contiguous,
            "shards": shards,
            "filters": stages,
            "endian": endian,
            "quantize": quantize,
            "fill_value": fill_value,
            "no_fill": not fill,
        }
        made = self._wrap(self._create_variable(name, dtype, dimensions, storage))
        made.attrs.update(attrs or {})
        if data is not None:
            made[...] = data
        return made

    def _make_dimensions(self, names: Sequence[str], data: Values | None) -> None:
        shape = None if data is None else np.shape(data)
        for at, name in enumerate(names):
            group: Group | None = self
            while group is not None and name not in group.dimensions:
                group = group.parent
            if group is None:
                if shape is None or len(shape) != len(names):
                    raise KeyError(f"no dimension \"{name}\": make it with create_dimension, or give data of {len(names)} dimensions")
                self.create_dimension(name, shape[at])

    def create_type(self, name: str, dtype: DataType) -> Type:
        """Defines a type: a compound of a structured data type, an opaque type of ``"V16"``, an enumeration of a data type with the metadata
        ``{"enum": {name: value}}``, a list of one with ``{"vlen": type}``."""
        of = np.dtype(dtype)
        metadata: Mapping[str, Any] = of.metadata or {}
        if of.names:
            self._create_compound(name, [self._field(of, field) for field in of.names])
        elif "enum" in metadata:
            members = [(str(member), int(value)) for member, value in metadata["enum"].items()]
            self._create_enum(name, np.dtype(of.str), members)
        elif "vlen" in metadata:
            self._create_vlen(name, metadata["vlen"])
        elif of.kind == "V":
            self._create_opaque(name, of.itemsize)
        else:
            raise TypeError(f"{of} is a type of its own; a type is made of a structured data type, V, or metadata with enum or vlen")
        return self.types[name]

    @staticmethod
    def _field(of: np.dtype[Any], name: str) -> tuple[str, np.dtype[Any], list[int]]:
        field = of[name]
        element, shape = field.subdtype or (field, ())
        if element.kind == "S":
            element, shape = np.dtype("S1"), (*shape, *([element.itemsize] if element.itemsize > 1 else []))
        return name, element, list(shape)

    def remove(self, path: str) -> None:
        """Removes a variable, a group, a dimension or a type. Objects looked up before must be looked up again."""
        full = path if path.startswith("/") else f"{self.path.rstrip('/')}/{path}"
        parent, name = full.rstrip("/").rsplit("/", 1)
        group = self._find_group(parent) if parent else self._root()
        if name in group._variable_names():
            kind = "variable"
        elif name in group._group_names():
            kind = "group"
        elif any(name == known for known, *_ in group._dimensions()):
            kind = "dimension"
        elif any(name == known for known, *_ in group._types()):
            kind = "type"
        else:
            raise KeyError(path)
        self._remove(kind, full)

    def _root(self) -> _ferrocdf.Group:
        return _ferrocdf.Group(self._open_file())

    def rename(self, name: str) -> None:
        """Gives the group another name."""
        self._rename(name)

    def grow_dimension(self, name: str, size: int) -> None:
        """Makes a dimension at least ``size`` long: an unlimited one, or any of a Zarr store. Elements that are not written have the fill value.
        A netCDF-4 file keeps the length if elements are written that reach so far before it is closed."""
        self._grow_dimension(name, size)

    def rename_dimension(self, name: str, to: str) -> None:
        """Gives a dimension of this group another name."""
        self._rename_dimension(name, to)

    def __repr__(self) -> str:
        return _show.group(self)

    def _repr_html_(self) -> str:
        return _show.html(self)

    def __reduce__(self) -> tuple[Callable[..., Group], tuple[Any, ...]]:
        return _group_at, (self._dataset, self.path)


def _group_at(dataset: Dataset, path: str) -> Group:
    found: Group = dataset if path == "/" else dataset[path]
    return found


class Dataset(Group):
    """An open dataset, which is its root group too. Made by ``ferrocdf.open``; a context manager that closes it."""

    __slots__ = ("_file", "_opener", "_options", "location", "mode")

    def __new__(cls, open_file: _ferrocdf.OpenFile, *_: Any, **__: Any) -> Self:
        return _ferrocdf.Group.__new__(cls, open_file)

    def __init__(
        self, open_file: _ferrocdf.OpenFile, source: Location, mode: Mode, options: dict[str, Any], opener: Callable[..., Dataset] | None = None
    ) -> None:
        self._file, self.location, self.mode, self._options = open_file, source, mode, options
        # What opens it anew; None for `open`, which is defined below.
        self._opener = opener

    @property
    def _dataset(self) -> Dataset:  # type: ignore[override]
        # Not an attribute: a dataset that nobody holds any more is closed at once.
        return self

    @property
    def format(self) -> str:
        """The data model, as ``ncdump -k`` names it: "netCDF-4"."""
        return self._file.format[0]

    @property
    def container(self) -> str:
        """How bytes are arranged: "classic", "HDF5", "HDF4", "Zarr 2" or "Zarr 3"."""
        return self._file.format[1]

    @property
    def closed(self) -> bool:
        """True after ``close``."""
        return self._file.is_closed

    @property
    def skipped(self) -> list[str]:
        """What the file holds that netCDF has no name for, a line each."""
        return self._file.skipped()

    def close(self) -> None:
        """Closes the dataset; what was written is committed."""
        self._file.close()

    def sync(self) -> None:
        """Commits what was written."""
        self._file.sync()

    def refresh(self) -> None:
        """Looks for records that another process has written since."""
        self._file.refresh()

    def to_bytes(self) -> bytes | None:
        """Closes a dataset that was made in memory, and returns its bytes."""
        return self._file.close_to_bytes()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., Dataset], tuple[Any, ...]]:
        if self.mode != "r":
            raise TypeError("only datasets that are open for reading can be pickled")
        return _reopen, (self._opener or open, self.location, self._options)


def _reopen(opener: Callable[..., Dataset], location: Location, options: dict[str, Any]) -> Dataset:
    return opener(location, **options)


@overload
def open(
    source: Source,
    mode: Literal["r"] = "r",
    *,
    store: Store | None = None,
    all_attributes: bool = False,
    shared: bool = False,
    hdf_eos: bool = False,
    hdf4_all: bool = False,
) -> Dataset: ...
@overload
def open(
    source: Path | bytes | bytearray | memoryview,
    mode: Literal["a", "r+"],
    *,
    merge: bool = False,
    durable: bool | None = None,
) -> Dataset: ...
@overload
def open(
    source: Path | None,
    mode: Literal["w", "x"],
    *,
    kind: str = "netCDF-4",
    fill: bool = True,
    durable: bool | None = None,
) -> Dataset: ...
def open(source: Source | None, mode: Mode = "r", **options: Any) -> Dataset:
    """Opens or makes a dataset.

    source: a path, a URL (``https://``, ``s3://``, ``gs://``, ``az://``, with fragments such as ``#mode=nczarr,zip``), the bytes of a file, or a
        file object with ``read``, ``seek`` and ``tell`` (of ``open``, ``io.BytesIO``, fsspec). None with mode "w" makes it in memory. A mapping of
        fsspec (``fsspec.get_mapper``) is the Zarr store or the file at its root, a store of obstore the Zarr store that it is.
    mode: "r" reads; "a" or "r+" reads and changes, a copy in memory where bytes are given; "w" makes a new dataset in place of an old one; "x" makes one that does not exist yet.

    Options for reading: ``store`` (a store of obstore, or a file system or a mapping of fsspec, in which ``source`` is the path of a Zarr store or a
    file; datasets in stores are only read), ``all_attributes`` (True reads all attributes at once), ``shared`` (another process writes the file
    meanwhile), ``hdf_eos`` and ``hdf4_all`` (HDF4 files as their HDF-EOS2 metadata says; all that they hold). For "a": ``merge``, ``durable``. For "w" and "x":
    ``kind`` as ``nccopy -k`` has it ("netCDF-4", "classic", "cdf5", "zarr", "nczarr2", …), ``fill``, ``durable``.
    """
    # The overloads say what a mode takes.
    place: Any = os.fspath(source) if isinstance(source, os.PathLike) else source
    place = bytes(place) if isinstance(place, (bytearray, memoryview)) else place
    if mode == "r":
        made = _open(place, **options)
    elif options.get("store") is not None:
        raise ValueError(f"mode {mode!r}: datasets in stores of fsspec and obstore are only read; give a URL to write to")
    elif mode in ("a", "r+"):
        made = _ferrocdf.append(place, **options)
    elif mode in ("w", "x"):
        made = _ferrocdf.create(place, clobber=mode == "w", **options)
    else:
        raise ValueError(f"mode {mode!r}: it is \"r\", \"a\", \"r+\", \"w\" or \"x\"")
    return Dataset(made, place, mode, options)


def _open(place: Any, store: Store | None = None, **options: Any) -> _ferrocdf.OpenFile:
    """Opens a dataset for reading, in a store too."""
    if store is None and isinstance(place, (str, bytes)):
        return _ferrocdf.open(place, **options)
    # What few programs use is imported by those alone.
    from ._stores import adapt

    found = adapt(place, None) if store is None else adapt(store, os.fspath(place))
    if found is not None:
        return _ferrocdf.open(found[1], store=found[0], **options)
    if store is not None:
        raise TypeError(f"a store is one of obstore, or a file system or a mapping of fsspec; this is {type(store)}")
    return _ferrocdf.open(place, **options)

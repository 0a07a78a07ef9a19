"""Datasets, groups, variables and dimensions."""

import os
from typing import NamedTuple

import numpy as np

from . import _ferrocdf, _show
from ._decode import decode
from ._mappings import Attributes, _Named
from ._shape import HasShape


# Levels of filters that need one.
_LEVELS = {"deflate": 4, "zstd": 3, "bzip2": 9}


class Dimension(NamedTuple):
    """A dimension: its name, its length when it was looked up, and whether it grows."""

    name: str
    size: int
    is_unlimited: bool

    def __len__(self):
        return self.size

    def __bool__(self):
        return True


class Type(NamedTuple):
    """A type defined in a dataset: its name, its data type in NumPy, and ``"compound"``, ``"enum"``, ``"vlen"`` or ``"opaque"``."""

    name: str
    dtype: np.dtype
    kind: str


class Variable(HasShape, _ferrocdf.Variable):
    """A variable: an array in a dataset.

    ``variable[index]`` reads into a new array. An index has integers, slices with steps of either sign, ``...``, lists of integers and boolean
    lists; lists are orthogonal, each selects along its own dimension. ``variable[index] = values`` writes, broadcasts as NumPy does, and
    lengthens unlimited dimensions.
    """

    # No other attributes: `variable.units = "K"` must be an error, and not lost.
    __slots__ = ("__weakref__", "_dataset")

    @property
    def group(self):
        """The group it is in."""
        root, path = _ferrocdf.Group(self._open_file()), self._group_path()
        return Group._of(root if path == "/" else root._find_group(path), self._dataset)

    @property
    def attrs(self):
        """The attributes, which can be assigned to."""
        return Attributes(self)

    @property
    def nbytes(self):
        """The number of bytes of all elements in memory."""
        return self.size * self.dtype.itemsize

    def read(self, index=..., *, out=None, decode_cf=False):
        """Reads elements.

        out: an array of the shape of the result, which is filled and returned.
        decode_cf: True for numbers as the CF conventions mean them: ``_Unsigned`` heeded, missing values masked (``_FillValue``,
            ``missing_value``, ``valid_range``, ``valid_min``, ``valid_max``), ``scale_factor`` and ``add_offset`` applied; the result is a
            masked array where elements are missing.
        """
        values = self[index] if out is None else self._read_into(index, out)
        return decode(values, self.attrs.asdict(), self._is_number()) if decode_cf else values

    def __len__(self):
        if not self.shape:
            raise TypeError("a variable without dimensions has no length")
        return self.shape[0]

    def __iter__(self):
        return (self[at] for at in range(len(self)))

    def __array__(self, dtype=None, copy=None):
        values = np.asarray(self[...])
        return values if dtype is None else values.astype(dtype, copy=False)

    def __repr__(self):
        return _show.variable(self)

    def __reduce__(self):
        return _variable_at, (self._dataset, self.path)


def _variable_at(dataset, path):
    return dataset[path]


class Group(_ferrocdf.Group):
    """A group: dimensions, variables, types, attributes and other groups. ``group["path/name"]`` finds groups and variables."""

    __slots__ = ("__weakref__", "_dataset")

    @classmethod
    def _of(cls, native, dataset):
        made = _ferrocdf.Group.__new__(Group, native)
        made._dataset = dataset
        return made

    def _wrap(self, native):
        made = Variable(native)
        made._dataset = self._dataset
        return made

    @property
    def parent(self):
        """The group that this one is in; None for the root group."""
        found = self._parent()
        return None if found is None else Group._of(found, self._dataset)

    @property
    def attrs(self):
        """The attributes, which can be assigned to."""
        return Attributes(self)

    @property
    def groups(self):
        """The groups in this group by name."""
        return _Named(self._group_names, lambda name: Group._of(self._find_group(name), self._dataset))

    @property
    def variables(self):
        """The variables in this group by name."""
        return _Named(self._variable_names, lambda name: self._wrap(self._find_variable(name)))

    @property
    def dimensions(self):
        """The dimensions defined in this group by name."""
        return {name: Dimension(name, size, grows) for name, size, grows in self._dimensions()}

    @property
    def types(self):
        """The types defined in this group by name."""
        return {name: Type(name, dtype, kind) for name, dtype, kind in self._types()}

    def __getitem__(self, path):
        try:
            return self._wrap(self._find_variable(path))
        except KeyError:
            return Group._of(self._find_group(path), self._dataset)

    def __contains__(self, path):
        try:
            self[path]
        except KeyError:
            return False
        return True

    def __iter__(self):
        yield from self._group_names()
        yield from self._variable_names()

    def create_group(self, name, attrs=None):
        """Defines a group."""
        made = Group._of(self._create_group(name), self._dataset)
        made.attrs.update(attrs or {})
        return made

    def create_dimension(self, name, size=None):
        """Defines a dimension; one that grows without a size."""
        self._create_dimension(name, size)
        return self.dimensions[name]

    def create_variable(
        self,
        name,
        dtype=None,
        dimensions=(),
        *,
        data=None,
        attrs=None,
        chunks=None,
        contiguous=False,
        shards=None,
        filters=(),
        compression=None,
        level=None,
        shuffle=None,
        fletcher32=False,
        endian="native",
        quantize=None,
        fill_value=None,
        fill=True,
    ):
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
        storage = {
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

    def _make_dimensions(self, names, data):
        shape = None if data is None else np.shape(data)
        for at, name in enumerate(names):
            group = self
            while group is not None and name not in group.dimensions:
                group = group.parent
            if group is None:
                if shape is None or len(shape) != len(names):
                    raise KeyError(f"no dimension \"{name}\": make it with create_dimension, or give data of {len(names)} dimensions")
                self.create_dimension(name, shape[at])

    def create_type(self, name, dtype):
        """Defines a type: a compound of a structured data type, an opaque type of ``"V16"``, an enumeration of a data type with the metadata
        ``{"enum": {name: value}}``, a list of one with ``{"vlen": type}``."""
        of = np.dtype(dtype)
        metadata = of.metadata or {}
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
    def _field(of, name):
        field = of.fields[name][0]
        element, shape = field.subdtype or (field, ())
        if element.kind == "S":
            element, shape = np.dtype("S1"), (*shape, *([element.itemsize] if element.itemsize > 1 else []))
        return name, element, list(shape)

    def remove(self, path):
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

    def _root(self):
        return _ferrocdf.Group(self._open_file())

    def rename(self, name):
        """Gives the group another name."""
        self._rename(name)

    def grow_dimension(self, name, size):
        """Makes a dimension at least ``size`` long: an unlimited one, or any of a Zarr store. Elements that are not written have the fill value.
        A netCDF-4 file keeps the length if elements are written that reach so far before it is closed."""
        self._grow_dimension(name, size)

    def rename_dimension(self, name, to):
        """Gives a dimension of this group another name."""
        self._rename_dimension(name, to)

    def __repr__(self):
        return _show.group(self)

    def _repr_html_(self):
        return _show.html(self)

    def __reduce__(self):
        return _group_at, (self._dataset, self.path)


def _group_at(dataset, path):
    return dataset if path == "/" else dataset[path]


class Dataset(Group):
    """An open dataset, which is its root group too. Made by ``ferrocdf.open``; a context manager that closes it."""

    __slots__ = ("_file", "_options", "location", "mode")

    def __new__(cls, open_file, *_, **__):
        return _ferrocdf.Group.__new__(cls, open_file)

    def __init__(self, open_file, source, mode, options):
        self._file, self.location, self.mode, self._options = open_file, source, mode, options

    @property
    def _dataset(self):
        # Not an attribute: a dataset that nobody holds any more is closed at once.
        return self

    @property
    def format(self):
        """The data model, as ``ncdump -k`` names it: "netCDF-4"."""
        return self._file.format[0]

    @property
    def container(self):
        """How bytes are arranged: "classic", "HDF5", "HDF4", "Zarr 2" or "Zarr 3"."""
        return self._file.format[1]

    @property
    def closed(self):
        """True after ``close``."""
        return self._file.is_closed

    @property
    def skipped(self):
        """What the file holds that netCDF has no name for, a line each."""
        return self._file.skipped()

    def close(self):
        """Closes the dataset; what was written is committed."""
        self._file.close()

    def sync(self):
        """Commits what was written."""
        self._file.sync()

    def refresh(self):
        """Looks for records that another process has written since."""
        self._file.refresh()

    def to_bytes(self):
        """Closes a dataset that was made in memory, and returns its bytes."""
        return self._file.close_to_bytes()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __reduce__(self):
        if self.mode != "r":
            raise TypeError("only datasets that are open for reading can be pickled")
        return _reopen, (self.location, self._options)


def _reopen(location, options):
    return open(location, **options)


def open(source, mode="r", **options):
    """Opens or makes a dataset.

    source: a path, a URL (``https://``, ``s3://``, ``gs://``, ``az://``, with fragments such as ``#mode=nczarr,zip``), the bytes of a file, or a
        file object with ``read``, ``seek`` and ``tell`` (of ``open``, ``io.BytesIO``, fsspec). None with mode "w" makes it in memory.
    mode: "r" reads; "a" or "r+" reads and changes, a copy in memory where bytes are given; "w" makes a new dataset in place of an old one; "x" makes one that does not exist yet.

    Options for reading: ``all_attributes`` (True reads all attributes at once), ``shared`` (another process writes the file meanwhile),
    ``hdf_eos`` and ``hdf4_all`` (HDF4 files as their HDF-EOS2 metadata says; all that they hold). For "a": ``merge``, ``durable``. For "w" and "x":
    ``kind`` as ``nccopy -k`` has it ("netCDF-4", "classic", "cdf5", "zarr", "nczarr2", …), ``fill``, ``durable``.
    """
    place = os.fspath(source) if isinstance(source, os.PathLike) else source
    place = bytes(place) if isinstance(place, (bytearray, memoryview)) else place
    if mode == "r":
        made = _ferrocdf.open(place, **options)
    elif mode in ("a", "r+"):
        made = _ferrocdf.append(place, **options)
    elif mode in ("w", "x"):
        made = _ferrocdf.create(place, clobber=mode == "w", **options)
    else:
        raise ValueError(f"mode {mode!r}: it is \"r\", \"a\", \"r+\", \"w\" or \"x\"")
    return Dataset(made, place, mode, options)

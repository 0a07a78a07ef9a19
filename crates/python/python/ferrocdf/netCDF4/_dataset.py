"""Datasets and groups."""

from __future__ import annotations

import os
import posixpath
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from .. import _ferrocdf
from .._errors import Error, NotFound
from .._objects import open as open_dataset
from . import _settings, _types
from ._attributes import HasAttributes
from ._constants import ALIASES, DATA_MODELS, DISK_FORMATS, KINDS
from ._dimension import Dimension, find_dimension
from ._errors import cannot_open, raised_as
from ._text import encoded
from ._types import CompoundType, EnumType, VLType
from ._variable import Variable

if TYPE_CHECKING:
    from typing_extensions import Self

#: The numbers of data models in the words of ``ncgen -k``.
_NCGEN_KINDS = {"NETCDF4": 4, "NETCDF4_CLASSIC": 7, "NETCDF3_CLASSIC": 3, "NETCDF3_64BIT_OFFSET": 6, "NETCDF3_64BIT_DATA": 5}


def _inner(group):
    """Returns the groups inside a group, at any depth."""
    for each in group.groups.values():
        yield each
        yield from _inner(each)


class _Container(HasAttributes):
    """What datasets and groups have in common."""

    __slots__ = (
        "_ferrocdf",
        "groups",
        "dimensions",
        "variables",
        "cmptypes",
        "vltypes",
        "enumtypes",
        "data_model",
        "file_format",
        "disk_format",
        "parent",
        "keepweakref",
        "auto_complex",
        "_ncstring_attrs__",
        "__weakref__",
    )

    groups: dict[str, Group]
    dimensions: dict[str, Dimension]
    variables: dict[str, Variable]
    cmptypes: dict[str, CompoundType]
    vltypes: dict[str, VLType]
    enumtypes: dict[str, EnumType]
    data_model: str
    file_format: str
    disk_format: str
    parent: Dataset | None
    keepweakref: bool
    auto_complex: bool

    def _fill(self, exists):
        """Sets the dictionaries of what the group holds."""
        native = self._ferrocdf
        self._set(cmptypes={}, vltypes={}, enumtypes={}, dimensions={}, variables={}, groups={})
        if not exists:
            return
        cmptypes, vltypes, enumtypes = _types.of_group(self)
        self._set(cmptypes=cmptypes, vltypes=vltypes, enumtypes=enumtypes)
        for name, *_ in native._dimensions():
            self.dimensions[name] = Dimension(self, name, exists=True)
        for name, found in native.variables.items():
            made = Variable._of(self, found)
            if made is not None:
                self.variables[name] = made
        if self.data_model == "NETCDF4":
            for name in native.groups:
                self.groups[name] = Group(self, name, exists=True)

    @property
    def _group(self):
        return self

    def _root(self):
        """Returns the dataset."""
        return self if self.parent is None else self.parent._root()

    @property
    def name(self) -> str:
        """The name of the group; "/" of the dataset."""
        return self._ferrocdf.name

    @name.setter
    def name(self, value: str) -> NoReturn:
        raise AttributeError("name cannot be altered")

    @property
    def path(self) -> str:
        """The path in the dataset."""
        return self._ferrocdf.path

    def __getitem__(self, elem: str) -> Any:
        path, name = posixpath.split(posixpath.normpath(elem))
        group = self
        for part in path.split("/"):
            group = group.groups[part] if part else group
        for found in (group.groups, group.variables):
            if name in found:
                return found[name]
        raise IndexError(f"{name} not found in {group.path}")

    def __iter__(self) -> NoReturn:
        raise TypeError("Dataset is not iterable. Consider iterating on Dataset.variables.")

    def __contains__(self, key: object) -> NoReturn:
        raise TypeError(
            "Dataset does not support membership operations. Perhaps try 'varname in dataset.variables' or 'dimname in dataset.dimensions'."
        )

    def __str__(self) -> str:
        lines = [f"<class 'netCDF4.{type(self).__name__}'>"]
        if self.parent is None:
            lines.append(f"root group ({self.data_model} data model, file format {self.disk_format}):")
        else:
            lines.append(f"group {self.path}:")
        lines += [f"    {name}: {self.getncattr(name)}" for name in self.ncattrs()]
        dimensions = (f"{name}({len(dim)})" for name, dim in self.dimensions.items())
        variables = (f"{var.dtype} {name}({', '.join(var.dimensions)})" for name, var in self.variables.items())
        lines.append(f"    dimensions(sizes): {', '.join(dimensions)}")
        lines.append(f"    variables(dimensions): {', '.join(variables)}")
        lines.append(f"    groups: {', '.join(self.groups)}")
        return "\n".join(lines)

    __repr__ = __str__

    def createDimension(self, dimname: str, size: int | None = None) -> Dimension:
        """Defines a dimension; None and 0 make one that grows."""
        self.dimensions[dimname] = Dimension(self, dimname, size=size)
        return self.dimensions[dimname]

    def renameDimension(self, oldname: str, newname: str) -> None:
        """Gives a dimension another name."""
        if oldname not in self.dimensions:
            raise KeyError(f"{oldname} not a valid dimension name")
        with raised_as():
            self._ferrocdf._rename_dimension(oldname, newname)
        dim = self.dimensions.pop(oldname)
        dim._name = newname
        self.dimensions[newname] = dim

    def createCompoundType(self, datatype: Any, datatype_name: str) -> CompoundType:
        """Defines a compound type of a structured data type. Types of its fields must exist."""
        self.cmptypes[datatype_name] = CompoundType(self, datatype, datatype_name)
        return self.cmptypes[datatype_name]

    def createVLType(self, datatype: Any, datatype_name: str) -> VLType:
        """Defines a type of lists of a data type."""
        self.vltypes[datatype_name] = VLType(self, datatype, datatype_name)
        return self.vltypes[datatype_name]

    def createEnumType(self, datatype: Any, datatype_name: str, enum_dict: Mapping[str, int]) -> EnumType:
        """Defines an enumeration of an integer type with the values of a dictionary."""
        self.enumtypes[datatype_name] = EnumType(self, datatype, datatype_name, enum_dict)
        return self.enumtypes[datatype_name]

    def createVariable(
        self,
        varname: str,
        datatype: Any,
        dimensions: str | Dimension | Iterable[str | Dimension] = (),
        *args: Any,
        **kwargs: Any,
    ) -> Variable:
        """Defines a variable, and the groups of its path.

        datatype: a data type of NumPy, `str`, or a type of the dataset. dimensions: names or dimensions, slowest first. The others are those
        of ``Variable``: compression ("zlib", "szip", "zstd", "bzip2", "blosc_lz4", …), zlib, complevel, shuffle, szip_coding,
        szip_pixels_per_block, blosc_shuffle, fletcher32, contiguous, chunksizes, endian, least_significant_digit, significant_digits,
        quantize_mode, fill_value (False leaves elements undefined, "default" writes the usual value as an attribute), chunk_cache.
        """
        path, name = posixpath.split(posixpath.normpath(varname))
        group = self.createGroup(path) if path else self
        if isinstance(dimensions, (str, bytes, Dimension)):
            dimensions = (dimensions,)
        dimensions = tuple(find_dimension(group, dim) if isinstance(dim, (str, bytes)) else dim for dim in dimensions)
        group.variables[name] = Variable(group, name, datatype, dimensions, *args, **kwargs)
        return group.variables[name]

    def renameVariable(self, oldname: str, newname: str) -> None:
        """Gives a variable another name."""
        if oldname not in self.variables:
            raise KeyError(f"{oldname} not a valid variable name")
        with raised_as():
            self.variables[oldname]._ferrocdf.rename(newname)
        var = self.variables.pop(oldname)
        var._set(_name=newname)
        self.variables[newname] = var

    def createGroup(self, groupname: str) -> Group:
        """Returns the group of a path; groups that do not exist are defined."""
        group: Any = self
        for part in posixpath.normpath(groupname).split("/"):
            if not part:
                continue
            if part not in group.groups:
                group.groups[part] = Group(group, part)
            group = group.groups[part]
        return group

    def renameGroup(self, oldname: str, newname: str) -> None:
        """Gives a group another name."""
        if oldname not in self.groups:
            raise KeyError(f"{oldname} not a valid group name")
        with raised_as():
            self.groups[oldname]._ferrocdf._rename(newname)
        self.groups[newname] = self.groups.pop(oldname)

    def _all_variables(self):
        """Returns the variables of this group and all in it."""
        for group in (self, *_inner(self)):
            yield from group.variables.values()

    def set_auto_chartostring(self, value: bool) -> None:
        """Calls ``Variable.set_auto_chartostring`` of all variables that there are, in inner groups too."""
        for var in self._all_variables():
            var.set_auto_chartostring(value)

    def set_auto_maskandscale(self, value: bool) -> None:
        """Calls ``Variable.set_auto_maskandscale`` of all variables that there are, in inner groups too."""
        for var in self._all_variables():
            var.set_auto_maskandscale(value)

    def set_auto_mask(self, value: bool) -> None:
        """Calls ``Variable.set_auto_mask`` of all variables that there are, in inner groups too."""
        for var in self._all_variables():
            var.set_auto_mask(value)

    def set_auto_scale(self, value: bool) -> None:
        """Calls ``Variable.set_auto_scale`` of all variables that there are, in inner groups too."""
        for var in self._all_variables():
            var.set_auto_scale(value)

    def set_always_mask(self, value: bool) -> None:
        """Calls ``Variable.set_always_mask`` of all variables that there are, in inner groups too."""
        for var in self._all_variables():
            var.set_always_mask(value)

    def set_ncstring_attrs(self, value: bool) -> None:
        """Switches whether text attributes get the type `string`, for this group, all in it, and their variables."""
        for group in (self, *_inner(self)):
            group._set(_ncstring_attrs__=bool(value))
            for var in group.variables.values():
                var.set_ncstring_attrs(value)

    def get_variables_by_attributes(self, **kwargs: Any) -> list[Variable]:
        """Returns the variables of this group whose attributes have these values, or for which functions of the values are true.

        A function is given None where a variable has no such attribute.
        """

        def fits(var):
            answer = False
            for name, wanted in kwargs.items():
                answer = wanted(getattr(var, name, None)) if callable(wanted) else hasattr(var, name) and bool(getattr(var, name) == wanted)
                if answer is False:
                    break
            # Of several functions the last one must say True, the others anything but False, as in netCDF4-python.
            return answer is True

        return [var for var in self.variables.values() if fits(var)]

    def has_blosc_filter(self) -> bool:
        """True: the filter is part of the engine."""
        return True

    def has_zstd_filter(self) -> bool:
        """True: the filter is part of the engine."""
        return True

    def has_bzip2_filter(self) -> bool:
        """True: the filter is part of the engine."""
        return True

    def has_szip_filter(self) -> bool:
        """True: the filter is part of the engine."""
        return True


def _is_url(path):
    """True for a URL: ``file:…``, ``https://…``, ``s3://…``."""
    return isinstance(path, str) and (path.startswith("file:") or "://" in path)


class Dataset(_Container):
    """An open dataset, which is its root group too.

    filename: a path or a URL. mode: "r" reads; "w" makes a new dataset in place of an old one; "x" makes one that does not exist yet; "a" and
    "r+" read and change one, and make it if there is none. An "s" behind them says that another process uses the file too.
    clobber: False for mode "w" as "x". format: the data model of a new dataset.
    diskless: True keeps it in memory; persist: True writes it to the path when it is closed.
    keepweakref: True lets variables and dimensions not keep the dataset open.
    memory: with mode "r" the bytes of a dataset; with mode "w" any number, and ``close`` returns the bytes.
    encoding: that of the path. auto_complex: True for complex numbers as pairs of numbers.
    parallel, comm, info: MPI, which is not there.
    """

    __slots__ = ("_opened", "_inmemory", "_persist", "_no_fill")

    def __init__(
        self,
        filename: str | bytes | os.PathLike[str],
        mode: str = "r",
        clobber: bool = True,
        format: str = "NETCDF4",
        diskless: bool = False,
        persist: bool = False,
        keepweakref: bool = False,
        memory: Any = None,
        encoding: str | None = None,
        parallel: bool = False,
        comm: Any = None,
        info: Any = None,
        auto_complex: bool = False,
        **kwargs: Any,
    ) -> None:
        path = _path(filename, encoding)
        if memory is not None and mode not in ("r", "w"):
            raise ValueError("if memory kwarg specified, mode must be 'r' or 'w'")
        if parallel:
            raise ValueError("parallel mode requires MPI enabled netcdf-c")
        given, mode = mode, mode.replace("r+", "a")
        if mode == "x":
            mode, clobber = "w", False
        if mode in ("a", "as") and not (_is_url(path) or os.path.exists(path)):
            mode = mode.replace("a", "w")
        if mode not in ("r", "rs", "w", "ws", "a", "as"):
            raise ValueError(f"mode must be 'w', 'x', 'r', 'a' or 'r+', got '{given}'")
        format = ALIASES.get(format, format)
        if mode[0] == "w" and format not in KINDS:
            raise ValueError("unrecognized format requested")
        is_made_in_memory = mode[0] == "w" and memory is not None
        self._set(_opened=path, _no_fill=False, _inmemory=is_made_in_memory)
        self._set(_persist=bool(mode[0] == "w" and diskless and persist and not is_made_in_memory))
        try:
            native = self._open(path, mode, clobber, format, diskless, memory)
        except Error as error:
            raise cannot_open(error, path) from error
        model = DATA_MODELS[native.format]
        self._set(
            _ferrocdf=native,
            data_model=model,
            file_format=model,
            disk_format=DISK_FORMATS[native.container],
            parent=None,
            keepweakref=bool(keepweakref),
            auto_complex=bool(auto_complex),
            _ncstring_attrs__=False,
        )
        if mode[0] != "r" and native.container == "HDF5" and _settings.get_alignment()[1] > 0:
            native._file.set_alignment(*_settings.get_alignment())
        self._fill(exists=True)

    def _open(self, path, mode, clobber, format, diskless, memory):
        """Returns the dataset of the engine."""
        is_in_memory = memory is not None or diskless
        if mode[0] == "w":
            if diskless and not clobber and os.path.exists(path):
                raise Error(f"{path}: exists already", 17)
            return open_dataset(None if is_in_memory else path, "w" if clobber or is_in_memory else "x", kind=KINDS[format])
        if memory is not None:
            return open_dataset(bytes(memory))
        # Changes of what is read into memory are lost.
        source = Path(path).read_bytes() if diskless and os.path.isfile(path) else path
        if mode[0] != "a":
            return open_dataset(source, shared=mode == "rs")
        try:
            return open_dataset(source, "a")
        except NotFound:
            # Whether there is something at a URL only the attempt tells.
            if format not in KINDS:
                raise ValueError("unrecognized format requested") from None
            return open_dataset(source, "x", kind=KINDS[format])

    def filepath(self, encoding: str | None = None) -> str:
        """Returns the path or the URL that was opened."""
        path = self._root()._opened
        return path if encoding is None else os.fsencode(path).decode(encoding)

    def isopen(self) -> bool:
        """True until ``close``."""
        return not self._root()._ferrocdf.closed

    @property
    def _isopen(self):
        return int(self.isopen())

    def close(self) -> memoryview | None:
        """Closes the dataset; what was written is committed. Returns the bytes of one that was made with `memory`."""
        if not self.isopen():
            raise RuntimeError("NetCDF: Not a valid ID")
        with raised_as():
            if not (self._inmemory or self._persist):
                self._ferrocdf.close()
            else:
                made = self._ferrocdf.to_bytes()
                if self._inmemory:
                    return memoryview(made)
                Path(self._opened).write_bytes(made)
        return None

    def __del__(self) -> None:
        # Nobody can be told of an error; the engine says those of commits.
        try:
            if self.isopen():
                self.close()
        except Exception:
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def sync(self) -> None:
        """Commits what was written. Of a dataset that is read it looks for records that another process has written since."""
        native = self._root()._ferrocdf
        with raised_as():
            if native.mode == "r":
                native.refresh()
            else:
                native.sync()

    def set_fill_on(self) -> None:
        """Lets elements that are never written hold fill values."""
        self._set_fill(True)

    def set_fill_off(self) -> None:
        """Leaves elements that are never written undefined: of classic files those of all variables, of others those of new variables."""
        self._set_fill(False)

    def _set_fill(self, fill):
        root = self._root()
        if root._ferrocdf.mode == "r":
            raise RuntimeError("NetCDF: Write to read only")
        if self.data_model.startswith("NETCDF3"):
            with raised_as():
                root._ferrocdf._file.set_fill(fill)
        root._set(_no_fill=not fill)

    @staticmethod
    def fromcdl(
        cdlfilename: str | os.PathLike[str],
        ncfilename: str | os.PathLike[str] | None = None,
        mode: str = "a",
        format: str = "NETCDF4",
    ) -> Dataset:
        """Makes a dataset of the text of a file in CDL, and opens it."""
        source = Path(cdlfilename)
        target = source.with_suffix(".nc") if ncfilename is None else Path(ncfilename)
        format = ALIASES.get(format, format)
        if format not in _NCGEN_KINDS:
            raise ValueError("illegal format requested")
        if not source.exists():
            raise FileNotFoundError(source)
        if target.exists():
            raise FileExistsError(target)
        command = ["ncgen", f"-knc{_NCGEN_KINDS[format]}", "-o", str(target), str(source)]
        failed = _ferrocdf.run_tool(command)
        if failed:
            raise subprocess.CalledProcessError(failed, command)
        return Dataset(target, mode=mode)

    def tocdl(self, coordvars: bool = False, data: bool = False, outfile: str | os.PathLike[str] | None = None) -> str | None:
        """Returns the dataset as CDL, or writes it to a file.

        coordvars: True for the values of coordinates; data: True for those of all variables.
        """
        self.sync()
        options = "-cs" if coordvars else "-s"
        with raised_as():
            text = _ferrocdf.dump_as_reference([options if data else options + "h", self.filepath()]).decode("utf-8", "surrogateescape")
        if outfile is None:
            return text
        Path(outfile).write_text(text, encoding="utf-8", errors="surrogateescape")
        return None


class Group(Dataset):
    """A group of a dataset; use ``Dataset.createGroup``."""

    __slots__ = ()

    def __init__(self, parent: _Container, name: str, **kwargs: Any) -> None:
        exists = kwargs.get("exists", False)
        if not exists:
            with raised_as():
                parent._ferrocdf.create_group(name)
        self._set(
            _ferrocdf=parent._ferrocdf.groups[name],
            parent=parent,
            data_model=parent.data_model,
            file_format=parent.file_format,
            disk_format=parent.disk_format,
            keepweakref=parent.keepweakref,
            auto_complex=parent.auto_complex,
            _ncstring_attrs__=parent._ncstring_attrs__,
        )
        self._fill(exists)

    def close(self) -> NoReturn:
        """Raises `OSError`: a dataset is closed as a whole."""
        raise OSError("cannot close a `Group` (only applies to Dataset)")

    def __del__(self) -> None:
        # The dataset stays open.
        pass


def _path(filename, encoding):
    """Returns a path as Python names files: bytes that are no text in the encoding of the system are surrogates."""
    name = os.fspath(filename) if isinstance(filename, os.PathLike) else filename
    if isinstance(name, bytes):
        return os.fsdecode(name)
    return str(name) if encoding is None else os.fsdecode(encoded(str(name), encoding))

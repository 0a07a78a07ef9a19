"""Datasets in several files, joined along one dimension."""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from datetime import datetime
from glob import glob
from typing import Any

import numpy as np
from cftime import date2num
from numpy import ma

from .._shape import HasShape
from . import _indexing
from ._dataset import Dataset
from ._variable import Variable


class MFDataset(Dataset):
    """Files of the classic models as one dataset. Attributes, and variables without the joined dimension, are those of the master file.

    files: paths, or one with wildcards. check: True compares the variables of all files. aggdim: the name of the joined dimension, which must
    be the first one of its variables; the unlimited one without it. exclude: names of variables that are not joined.
    master_file: the file that says what there is; the first one without it.
    """

    def __init__(
        self,
        files: str | Sequence[str | os.PathLike[str]],
        check: bool = False,
        aggdim: str | None = None,
        exclude: Container[str] = [],
        master_file: str | os.PathLike[str] | None = None,
    ) -> None:
        paths: list[Any] = _paths(files)
        if master_file is not None and master_file not in paths:
            raise ValueError("master_file not in files list")
        master = paths[0] if master_file is None else master_file
        whole = Dataset(master)
        self.__dict__.update(whole.__dict__)
        joined = aggdim if aggdim in whole.dimensions else None
        if aggdim is None:
            joined = next((name for name, dim in whole.dimensions.items() if dim.isunlimited()), None)
        if joined is None:
            raise OSError(f"master dataset {master} does not have a aggregation dimension")
        names = [name for name, var in whole.variables.items() if name not in exclude and var.dimensions[:1] == (joined,)]
        if not names:
            raise OSError(f"master dataset {master} does not have any variables to aggregate")
        parts = [whole if path == master else Dataset(path) for path in paths]
        if any(part.data_model == "NETCDF4" for part in parts):
            raise ValueError("MFNetCDF4 only works with NETCDF3_* and NETCDF4_CLASSIC formatted files, not NETCDF4")
        if check:
            for path, part in zip(paths, parts):
                for name in names:
                    _check(name, whole.variables[name], part.variables.get(name), master, path)
        lengths = [len(part.dimensions[joined]) for part in parts]
        self._set(_files=paths, _cdf=parts, _ferrocdf=whole._ferrocdf, _opened=master, parent=None)
        self._set(keepweakref=False, auto_complex=False, _ncstring_attrs__=False)
        for name in ("cmptypes", "vltypes", "enumtypes", "groups"):
            self._set(**{name: getattr(whole, name)})
        for name in ("file_format", "data_model", "disk_format"):
            self._set(**{name: [getattr(part, name) for part in parts]})
        self._set(dimensions={**whole.dimensions, joined: _Dimension(joined, lengths)}, variables=dict(whole.variables))
        variables: dict[str, Any] = self.variables
        for name in names:
            variables[name] = _Variable(self, whole.variables[name], [part.variables[name] for part in parts], lengths, joined)

    def __setattr__(self, name, value):
        # Files are open for reading: attributes are those of the object.
        object.__setattr__(self, name, value)

    def close(self) -> None:
        """Closes all files."""
        for part in self._cdf:
            part.close()

    def isopen(self) -> bool:
        """True while all files are open."""
        return all(part.isopen() for part in self._cdf)

    def __del__(self):
        # Each file is closed when nobody holds it any more.
        pass

    def __str__(self):
        lines = ["<class 'netCDF4.MFDataset'>", f"root group ({self.data_model[0]} data model, file format {self.disk_format[0]}):"]
        lines += [f"    {name}: {self.getncattr(name)}" for name in self.ncattrs()]
        lines += [f"    dimensions = {tuple(self.dimensions)}", f"    variables = {tuple(self.variables)}", "    groups = ()"]
        return "\n".join(lines)

    __repr__ = __str__


def _paths(files):
    if isinstance(files, str):
        if files.startswith("http"):
            raise ValueError("cannot using file globbing for remote (OPeNDAP) datasets")
        files = sorted(glob(files))
    files = list(files)
    if not files:
        raise OSError("no files specified (file list is empty)")
    return files


def _check(name, wanted, found, master, path):
    """Checks that a variable of a file can be joined with that of the master file."""
    if found is None:
        raise OSError(f"aggregation variable {name} not defined in {path}")
    for what, of in (("dimensions", lambda var: var.dimensions), ("shape", lambda var: var.shape[1:]), ("data type", lambda var: var.dtype)):
        if of(wanted) != of(found):
            raise OSError(f"variable {name} : {what} mismatch between master {master} ({of(wanted)}) and extension {path} ({of(found)})")


class _Dimension:
    """The joined dimension."""

    def __init__(self, name, lengths):
        self._name, self.dimlens, self.dimtotlen = name, lengths, sum(lengths)

    name = property(lambda self: self._name)
    size = property(lambda self: self.dimtotlen)

    def __len__(self):
        return self.dimtotlen

    def isunlimited(self):
        """True: it grows with each file."""
        return True

    def __repr__(self):
        return f"\"<class 'netCDF4._Dimension'>\" (unlimited): name = '{self._name}', size = {len(self)}"


class _Variable(HasShape):
    """A variable that is joined from those of several files."""

    def __init__(self, dataset, master, parts, lengths, joined):
        self._dset = self._grp = dataset
        self._mastervar, self._recVar, self._recLen, self._recdimname = master, parts, lengths, joined
        self.dimensions, self.dtype, self._name = master.dimensions, master.dtype, master._name
        self.__dict__.update(master.__dict__)

    @property
    def name(self):
        """The name."""
        return self._name

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions, the joined one first."""
        return (sum(self._recLen), *self._mastervar.shape[1:])

    def typecode(self) -> Any:
        """Returns the data type."""
        return self.dtype

    def ncattrs(self):
        """Returns the names of the attributes."""
        return self._mastervar.ncattrs()

    def getncattr(self, name, encoding="utf-8"):
        """Returns the value of an attribute."""
        return self._mastervar.getncattr(name, encoding)

    def group(self):
        """Returns the dataset."""
        return self._dset

    def get_dims(self):
        """Returns the dimensions."""
        return tuple(self._dset.dimensions[name] for name in self.dimensions)

    def __len__(self):
        return self.shape[0]

    def _for_all(self, method, value):
        for part in self._recVar:
            getattr(part, method)(value)

    def set_auto_chartostring(self, val):
        """As ``Variable.set_auto_chartostring``, for all files."""
        self._for_all("set_auto_chartostring", val)

    def set_auto_maskandscale(self, val):
        """As ``Variable.set_auto_maskandscale``, for all files."""
        self._for_all("set_auto_maskandscale", val)

    def set_auto_mask(self, val):
        """As ``Variable.set_auto_mask``, for all files."""
        self._for_all("set_auto_mask", val)

    def set_auto_scale(self, val):
        """As ``Variable.set_auto_scale``, for all files."""
        self._for_all("set_auto_scale", val)

    def set_always_mask(self, val):
        """As ``Variable.set_always_mask``, for all files."""
        self._for_all("set_always_mask", val)

    def set_ncstring_attrs(self, val):
        """As ``Variable.set_ncstring_attrs``, for all files."""
        self._for_all("set_ncstring_attrs", val)

    def __getitem__(self, elem: Any) -> Any:
        records, *others = _indexing.select(elem, self.shape)
        if any(isinstance(selector, range) and selector.step < 0 for selector in (records, *others)):
            raise IndexError("negative strides not allowed when slicing MFVariable Variable instance")
        key = tuple(slice(s.start, s.stop, s.step) if isinstance(s, range) else s for s in others)
        if isinstance(records, range):
            data = self._joined(records, key)
        elif isinstance(records, int):
            part, at = self._part_of(records)
            data = Variable.__getitem__(self._recVar[part], (at, *key))
        else:
            data = self._picked(records, key)
        if ma.isMA(data) and not ma.getmaskarray(data).any():
            return data.filled()
        return data

    def _part_of(self, record):
        """Returns the number of the file that a record is in, and the number of the record there."""
        starts = np.cumsum([0, *self._recLen])
        part = int(np.searchsorted(starts, record, side="right")) - 1
        return part, int(record - starts[part])

    def _joined(self, records, key):
        """Returns a range of records of all files, one after the other."""
        found, offset = [], 0
        for part, length in zip(self._recVar, self._recLen):
            skipped = max(0, -(-(offset - records.start) // records.step))
            first = records.start + skipped * records.step - offset
            last = min(records.stop - offset, length)
            if first < last:
                found.append(Variable.__getitem__(part, (slice(first, last, records.step), *key)))
            offset += length
        # Without records the type is that of the first file.
        found = found or [Variable.__getitem__(self._recVar[0], (slice(0, 0), *key))]
        join = ma.concatenate if any(ma.isMA(part) for part in found) else np.concatenate
        return join(found) if len(found) > 1 else found[0]

    def _picked(self, records, key):
        """Returns records in any order. The data type is that of the file of the last one."""
        places = [self._part_of(record) for record in records]
        pieces = {}
        for part in {part for part, _ in places}:
            positions = [at for at, (which, _) in enumerate(places) if which == part]
            local = np.array([places[at][1] for at in positions])
            pieces[part] = positions, Variable.__getitem__(self._recVar[part], (local, *key))
        last = pieces[places[-1][0]][1]
        made = ma.empty((len(records), *last.shape[1:]), last.dtype)
        # Files may differ in what they make of characters; of nothing that does not matter.
        for positions, piece in pieces.values() if made.size else ():
            made[positions] = piece
        return made

    def __repr__(self):
        lines = ["<class 'netCDF4._Variable'>", f"{self.dtype} {self._name}{self.dimensions}"]
        lines += [f"    {name}: {self.getncattr(name)}" for name in self.ncattrs()]
        unlimited = tuple(dim.name for dim in self.get_dims() if dim.isunlimited())
        lines += [f"unlimited dimensions = {unlimited!r}", f"current size = {self.shape!r}"]
        return "\n".join(lines)


class MFTime(_Variable):
    """Times of an ``MFDataset`` in one unit.

    time: the variable. units: "days since 1979-01-01" or the like; those of the master file without it. calendar: the calendar of all files; it
    must be in all, and the same, without it.
    """

    def __init__(self, time: Any, units: str | None = None, calendar: str | None = None) -> None:
        self.__dict__.update(time.__dict__)
        self.__time = time
        if calendar is None:
            calendars = {getattr(part, "calendar", None) for part in self._recVar}
            if None in calendars:
                raise ValueError(
                    "MFTime requires that the time variable in all files have a calendar attribute if no default calendar is provided."
                )
            if len(calendars) > 1:
                raise ValueError("MFTime requires that the same time calendar is used by all files if no default calendar is provided.")
            (calendar,) = calendars
        self.calendar = calendar
        self.units = units or time.units
        # A date has other numbers in the units of each file; the difference is the same for all dates.
        date = datetime(1900, 1, 1)
        wanted = date2num(date, self.units, self.calendar)
        deltas = [wanted - date2num(date, part.units, self.calendar) for part in self._recVar]
        self.__delta = np.repeat(np.array(deltas), self._recLen).astype(time.dtype)

    def __getitem__(self, elem: Any) -> Any:
        return self.__time[elem] + self.__delta[elem]

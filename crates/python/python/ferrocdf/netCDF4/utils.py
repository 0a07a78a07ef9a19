"""Helpers that programs take from ``netCDF4.utils``, and its commands."""

import argparse
import sys

import numpy as np
from numpy import ma

from . import _indexing
from ._dimension import find_dimension


def _quantize(data, least_significant_digit):
    """Returns numbers rounded to a power of two that keeps a decimal digit, so that they can be compressed better."""
    exponent = np.log10(10.0**-least_significant_digit)
    exponent = int(np.floor(exponent)) if exponent < 0 else int(np.ceil(exponent))
    scale = 2.0 ** np.ceil(np.log2(10.0**-exponent))
    rounded = np.around(scale * data) / scale
    if ma.isMA(rounded):
        rounded.set_fill_value(data.fill_value)
    return rounded


def _StartCountStride(
    elem, shape, dimensions=None, grp=None, datashape=None, put=False, use_get_vars=True, return_selection=False
):
    """Returns the selections of an index expression as netCDF-C takes them: arrays of starts, counts and strides, and the indices into the
    data, with a dimension for each of the variable and one more for its dimensions.

    Lists that are no slice are a selection for each index. ``-1`` stands for a dimension that an integer takes away.
    """
    if put:
        lengths = shape or (1,)
        names = [dimensions[dim] for dim in range(len(lengths))] if dimensions else []
        unlimited = tuple(find_dimension(grp, name).isunlimited() for name in names)
        selectors = _indexing.select_to_write(elem, lengths, unlimited or (False,) * len(lengths), datashape or ())
    else:
        selectors = _indexing.select(elem, shape)
    rank = len(selectors)
    is_empty = 0 in _indexing.counts(selectors)
    grid = [len(s) if isinstance(s, np.ndarray) and not is_empty else 1 for s in selectors]
    start, count, stride = (np.ones((*grid, rank), np.intp) for _ in range(3))
    indices = np.empty((*grid, rank), object)
    for dim, selector in enumerate(selectors):
        if isinstance(selector, int):
            start[..., dim], indices[..., dim] = selector, -1
        elif isinstance(selector, range):
            start[..., dim], count[..., dim], stride[..., dim] = selector.start, len(selector), selector.step
            indices[..., dim] = slice(None)
        elif is_empty:
            start[..., dim], count[..., dim], indices[..., dim] = selector[0], len(selector), 0
        else:
            along = (-1,) + (1,) * (rank - 1 - dim)
            start[..., dim] = selector.reshape(along)
            indices[..., dim] = np.arange(len(selector)).reshape(along)
    return (start, count, stride, indices, selectors) if return_selection else (start, count, stride, indices)


def _out_array_shape(count):
    """Returns the shape of the data for the counts of ``_StartCountStride``."""
    lengths = enumerate(count.shape[:-1])
    return [int(count[..., dim].ravel()[0]) if n == 1 and count.size else n for dim, n in lengths]


def _group_at(dataset, path):
    for name in filter(None, path.split("/")):
        dataset = dataset.groups[name]
    return dataset


class _Parser(argparse.ArgumentParser):
    """A parser that prints its help where the commands of netCDF4-python do."""

    def print_help(self, file=None):
        super().print_help(sys.stderr)


def _switch(parser, name, default, what):
    parser.add_argument(f"--{name}", type=int, choices=(0, 1), default=default, help=what)


def ncinfo():
    """Prints what a file, or a group, a variable or a dimension of it, holds. A command that takes its arguments from ``sys.argv``."""
    from . import Dataset

    parser = _Parser(prog="ncinfo", description="Print summary information about a netCDF file.", allow_abbrev=False)
    parser.add_argument("-g", "--group", default="/", help="path of the group; the root group without it")
    parser.add_argument("-v", "--variable")
    parser.add_argument("-d", "--dimension")
    parser.add_argument("filename")
    given = parser.parse_args()
    with Dataset(given.filename) as dataset:
        group = _group_at(dataset, given.group)
        if given.variable is None and given.dimension is None:
            print(group)
        if given.variable is not None:
            print(group.variables[given.variable])
        if given.dimension is not None:
            print(group.dimensions[given.dimension])


def _copy_definitions(source, target, names, storage):
    """Defines the dimensions and variables of a dataset in another one. `storage` returns the data type, the attributes that differ and the
    options of a variable; an attribute of None is left out."""
    target.setncatts(source.__dict__)
    for name, dim in source.dimensions.items():
        target.createDimension(name, None if dim.isunlimited() else len(dim))
    for name in names:
        var = source.variables[name]
        attributes = var.__dict__
        dtype, changed, options = storage(var, attributes)
        options.setdefault("fill_value", attributes.get("_FillValue"))
        made = target.createVariable(name, dtype, var.dimensions, **options)
        attributes = {**attributes, **changed, "_FillValue": None}
        made.setncatts({name: value for name, value in attributes.items() if value is not None})


def _copy_values(source, target, names, nchunk, quiet, start=0, stop=-1):
    """Copies values, those with records `nchunk` records at once."""
    for name in names:
        if not quiet:
            print(f"copying variable {name}")
        var, made = source.variables[name], target.variables[name]
        dims = var.get_dims()
        if not dims or not dims[0].isunlimited():
            made[:] = var[:]
            continue
        end = len(dims[0]) if stop == -1 else stop
        for at in range(start, end, max(1, nchunk) if nchunk else max(1, end - start)):
            upto = min(at + nchunk, end) if nchunk else end
            made[at - start : upto - start] = var[at:upto]


def _nc4tonc3(filename4, filename3, clobber=False, nchunk=10, quiet=False, format="NETCDF3_64BIT"):
    """Copies a netCDF-4 file of the classic model to a classic file."""
    from . import Dataset

    with Dataset(filename4) as source:
        if source.file_format != "NETCDF4_CLASSIC":
            raise OSError("input file must be in NETCDF4_CLASSIC format")
        with Dataset(filename3, "w", clobber=clobber, format=format) as target:
            _copy_definitions(source, target, source.variables, lambda var, _: (var.dtype, {}, {}))
            _copy_values(source, target, source.variables, nchunk, quiet)


def nc4tonc3():
    """Copies a netCDF-4 file of the classic model to a classic file. A command that takes its arguments from ``sys.argv``."""
    parser = _Parser(prog="nc4tonc3", description="Convert a netCDF 4 file (in NETCDF4_CLASSIC format) to netCDF 3 format.", allow_abbrev=False)
    parser.add_argument("-o", dest="clobber", action="store_true", help="overwrite the destination")
    _switch(parser, "quiet", 0, "1 prints nothing")
    parser.add_argument("--format", default="NETCDF3_64BIT", help="NETCDF3_64BIT by default")
    parser.add_argument("--chunk", type=int, default=10, help="number of records that are copied at once; 0 for all")
    parser.add_argument("source")
    parser.add_argument("destination")
    given = parser.parse_args()
    _nc4tonc3(given.source, given.destination, clobber=given.clobber, nchunk=given.chunk, quiet=given.quiet, format=given.format)


def _nc3tonc4(
    filename3,
    filename4,
    unpackshort=True,
    zlib=True,
    complevel=6,
    shuffle=True,
    fletcher32=False,
    clobber=False,
    lsd_dict=None,
    nchunk=10,
    quiet=False,
    classic=0,
    vars=None,
    istart=0,
    istop=-1,
):
    """Copies a file to a netCDF-4 file. Packed integers are unpacked on request; `lsd_dict` has the digits that variables keep."""
    from . import Dataset

    def storage(var, attributes):
        options = {"zlib": zlib, "complevel": complevel, "shuffle": shuffle, "fletcher32": fletcher32}
        options["least_significant_digit"] = (lsd_dict or {}).get(var.name)
        fill = attributes.get("_FillValue", attributes.get("missing_value"))
        if not (unpackshort and "scale_factor" in attributes and "add_offset" in attributes):
            return var.dtype, {}, {**options, "fill_value": fill}
        fill = None if fill is None else 1e30
        changed = {"scale_factor": None, "add_offset": None}
        if "missing_value" in attributes:
            changed["missing_value"] = fill
        return "f4", changed, {**options, "fill_value": fill}

    with Dataset(filename3) as source:
        coordinates = [name for name in source.dimensions if name in source.variables]
        names = list(source.variables) if vars is None else [*vars, *(name for name in coordinates if name not in vars)]
        with Dataset(filename4, "w", clobber=clobber, format="NETCDF4_CLASSIC" if classic else "NETCDF4") as target:
            _copy_definitions(source, target, names, storage)
            _copy_values(source, target, names, nchunk, quiet, istart, istop)


def nc3tonc4():
    """Copies a classic file to a netCDF-4 file. A command that takes its arguments from ``sys.argv``."""
    parser = _Parser(prog="nc3tonc4", description="Convert a netCDF 3 file to netCDF 4 format.", allow_abbrev=False)
    parser.add_argument("-o", dest="clobber", action="store_true", help="overwrite the destination")
    parser.add_argument("--vars", help="names of variables to copy, separated by commas; all by default")
    _switch(parser, "classic", 1, "0 for the model NETCDF4 in place of NETCDF4_CLASSIC")
    _switch(parser, "zlib", 1, "0 for no compression")
    parser.add_argument("--complevel", type=int, default=6)
    _switch(parser, "shuffle", 1, "0 for bytes in their order")
    _switch(parser, "fletcher32", 0, "1 for checksums")
    _switch(parser, "unpackshort", 1, "0 keeps packed integers")
    parser.add_argument("--quantize", help="digits that variables keep: var1=n1,var2=n2")
    _switch(parser, "quiet", 0, "1 prints nothing")
    parser.add_argument("--chunk", type=int, default=1000, help="number of records that are copied at once; 0 for all")
    parser.add_argument("--istart", type=int, default=0, help="first record that is copied")
    parser.add_argument("--istop", type=int, default=-1, help="record that copying ends before")
    parser.add_argument("source")
    parser.add_argument("destination")
    given = parser.parse_args()
    pairs = [pair.split("=") for pair in given.quantize.split(",")] if given.quantize else []
    _nc3tonc4(
        given.source,
        given.destination,
        unpackshort=given.unpackshort,
        zlib=given.zlib,
        complevel=given.complevel,
        shuffle=given.shuffle,
        fletcher32=given.fletcher32,
        clobber=given.clobber,
        lsd_dict={name.strip(): int(digits) for name, digits in pairs} or None,
        nchunk=given.chunk,
        quiet=given.quiet,
        classic=given.classic,
        vars=given.vars.split(",") if given.vars else None,
        istart=given.istart,
        istop=given.istop,
    )

"""Random netCDF-4 files, and comparisons of what programs read of their copies, for the judges of Zarr stores."""

import base64
import json
import math
import random
import struct

import netCDF4
import numpy as np

NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
TEXTS = ["", "x", "sea level", "[1, 2]", "12", '{"a": 1}', "null", "é ü", "line\nline", 'quote " and \\', "NaN"]


def numbers(rng, kind, shape):
    """Random numbers of a type, the least and the greatest among them."""
    dtype = np.dtype(kind)
    source = np.random.default_rng(rng.getrandbits(32))
    if dtype.kind == "f":
        values = source.normal(size=shape).astype(dtype)
        special = [np.nan, np.inf, -np.inf, np.finfo(dtype).tiny, -0.0]
    else:
        info = np.iinfo(dtype)
        values = source.integers(info.min, info.max, shape, dtype, endpoint=True)
        special = [info.min, info.max]
    flat = values.reshape(-1)
    for place in range(min(len(flat), rng.choice([0, 1, 3]))):
        flat[place] = rng.choice(special)
    return values


def text(rng):
    return rng.choice(TEXTS) if rng.random() < 0.9 else "long " * rng.randrange(100)


def attributes(rng, owner):
    for number in range(rng.randrange(4)):
        name = f"a{number}"
        kind = rng.choice(NUMBERS + ["text", "strings"])
        if kind == "text":
            owner.setncattr(name, text(rng))
        elif kind == "strings":
            owner.setncattr_string(name, [text(rng) for _ in range(rng.randrange(1, 3))])
        else:
            owner.setncattr(name, numbers(rng, kind, rng.randrange(1, 4)))


def variable(rng, group, dims, number):
    own = [rng.choice(dims) for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]
    own = list(dict.fromkeys(own))
    kind = rng.choice(NUMBERS * 2 + ["S1", str])
    shape = [len(group_dim(group, name)) or 3 for name in own]
    options = {}
    if own and kind is not str:
        if rng.random() < 0.6:
            options["chunksizes"] = [rng.randrange(1, max(2, length + 1)) for length in shape]
        filters = rng.choice([None, "zlib", "zlib", "zstd", "bzip2"])
        if filters:
            options.update(compression=filters, complevel=rng.randrange(1, 6), shuffle=rng.random() < 0.5)
        options["fletcher32"] = rng.random() < 0.2
    if kind in NUMBERS:
        plain = kind
        if rng.random() < 0.3:
            kind, options["endian"] = np.dtype(kind).newbyteorder(">"), "big"
        if rng.random() < 0.4:
            options["fill_value"] = numbers(rng, plain, ())[()]
        elif rng.random() < 0.2:
            options["fill_value"] = False
    elif kind == "S1" and rng.random() < 0.3:
        options["fill_value"] = b"-"
    made = group.createVariable(f"v{number}", kind, own, **options)
    made.set_auto_maskandscale(False)
    attributes(rng, made)
    if kind in ("S1", str):
        letters = [chr(rng.randrange(97, 123)).encode() for _ in range(math.prod(shape))]
        words = [text(rng) for _ in range(math.prod(shape))]
        values = np.array(letters if kind == "S1" else words, dtype="S1" if kind == "S1" else object)
        values = values.reshape(shape)
    else:
        values = numbers(rng, np.dtype(kind).newbyteorder("=").str, shape)
    part = rng.random()
    # Elements without a fill value that nobody writes may hold anything.
    if part < 0.6 or not own or options.get("fill_value") is False:
        made[...] = values
    elif part < 0.8:
        half = max(1, shape[0] // 2)
        made[:half] = values[:half]
    return made


def group_dim(group, name):
    while name not in group.dimensions:
        group = group.parent
    return group.dimensions[name]


def make(path, seed):
    rng = random.Random(seed)
    with netCDF4.Dataset(path, "w") as root:
        attributes(rng, root)
        groups = [root]
        if rng.random() < 0.4:
            groups.append(root.createGroup("g1"))
            if rng.random() < 0.5:
                groups.append(groups[-1].createGroup("g2"))
        dims, number = [], 0
        for depth, group in enumerate(groups):
            if depth:
                attributes(rng, group)
            for at in range(rng.randrange(1, 4)):
                name = f"d{depth}{at}"
                group.createDimension(name, None if rng.random() < 0.25 else rng.randrange(1, 9))
                dims.append(name)
            for _ in range(rng.randrange(1, 5)):
                variable(rng, group, dims, number)
                number += 1
        # NetCDF-C makes wrong fill values of elements beyond the end of a dataset whose dimensions another variable made longer.
        for _, var in all_variables(root):
            if var.size and any(group_dim(var.group(), name).isunlimited() for name in var.dimensions):
                last = tuple(length - 1 for length in var.shape)
                var[last] = "z" if var.dtype is str else np.array(b"z", "S1") if var.dtype == np.dtype("S1") else 1


def all_variables(group, path=""):
    for name, found in group.variables.items():
        found.set_auto_maskandscale(False)
        found.set_auto_chartostring(False)
        yield f"{path}{name}", found
    for name, inner in group.groups.items():
        yield from all_variables(inner, f"{path}{name}/")


def all_groups(group, path=""):
    yield path, group
    for name, inner in group.groups.items():
        yield from all_groups(inner, f"{path}{name}/")


def same(one, other):
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype.kind == "f" and other.dtype.kind == "f":
        return one.shape == other.shape and np.array_equal(one, other, equal_nan=True)
    return one.shape == other.shape and bool(np.all(one == other))


def values_of(found):
    values = found[...]
    return np.asarray(values) if found.shape else np.asarray(values).reshape(())


def same_attribute(given, found):
    if isinstance(given, str):
        # NetCDF4-python writes empty text as one zero, which it leaves out when it reads.
        return given == found.rstrip("\0")
    if isinstance(given, list):
        return given == found
    given = np.atleast_1d(given)
    found = found if isinstance(found, list) else [found]
    if given.dtype.kind == "f":
        found = [float(item) for item in found]
    return same(given, np.array(found, dtype=given.dtype))


def check(holds, *what):
    if not holds:
        raise AssertionError(" ".join(map(repr, what)))


def compare_with_zarr(given, root, kind, judge=lambda path, values: None, is_copied=False):
    """The root group of a store of a kind, opened by some release of zarr-python, holds a dataset. `judge` is called with each array of
    numbers. Returns the number of arrays."""
    for path, group in all_groups(given):
        found = root[path.rstrip("/")] if path else root
        for name in group.ncattrs():
            check(same_attribute(group.getncattr(name), found.attrs[name]), kind, path, name, found.attrs[name])
    count = 0
    for path, var in all_variables(given):
        array, values = root[path], values_of(var)
        shape = (1,) if kind == "nczarr2" and not var.shape else var.shape
        check(array.shape == shape, kind, path, "shape", array.shape, var.shape)
        found = array[...]
        if var.dtype == np.dtype("S1"):
            if is_copied and kind == "zarr2":
                # Plain Zarr has no `char`: its copy is text.
                found = np.array([ord(text or "\0") for text in np.asarray(found, dtype=object).reshape(-1)], "u1")
            found = found.astype("u1") if kind.endswith("3") else np.asarray(found).view("u1")
            values = np.asarray(values).view("u1")
        elif var.dtype is str:
            if kind == "nczarr2":
                values = np.array([text.encode() for text in values.reshape(-1)], dtype=object)
            found = np.array([item for item in np.asarray(found, dtype=object).reshape(-1)], dtype=object)
            values = values.reshape(-1)
        else:
            check(array.dtype.newbyteorder("=") == var.dtype.newbyteorder("="), kind, path, array.dtype, var.dtype)
        check(same(found.reshape(-1), np.asarray(values).reshape(-1)), kind, path, "values", found, values)
        if var.dtype is not str and var.dtype != np.dtype("S1"):
            judge(path, found)
        if kind.endswith("3"):
            check(array.metadata.dimension_names == var.dimensions, kind, path, array.metadata.dimension_names)
        elif var.dimensions:
            check(tuple(array.attrs["_ARRAY_DIMENSIONS"]) == var.dimensions, kind, path, "dimensions")
        for name in var.ncattrs():
            value, wanted = array.attrs[name], var.getncattr(name)
            if name == "_FillValue":
                check(same_fill(array, wanted), kind, path, "fill value", array.fill_value, wanted)
                if kind.endswith("3") and np.asarray(wanted).dtype.kind == "f":
                    value = struct.unpack("<d", base64.b64decode(value))[0]
                elif kind.endswith("3") and isinstance(wanted, (str, bytes)):
                    wanted = ord(wanted)
            check(same_attribute(wanted, value), kind, path, name, value, wanted)
        extra = {"_ARRAY_DIMENSIONS", "_nczarr_array", "_nczarr_attr", "_nczarr_attrs"}
        check(set(array.attrs) - extra == set(var.ncattrs()), kind, path, dict(array.attrs))
        count += 1
    return count


def same_fill(array, wanted):
    found = array.fill_value
    if isinstance(wanted, (str, bytes)):
        wanted = wanted.encode() if isinstance(wanted, str) else wanted
        if isinstance(found, str):
            found = found.encode()
        return found == (ord(wanted) if array.dtype.kind == "u" else wanted)
    return same(np.asarray(found), np.asarray(wanted))


def compare_with_netcdf(given, found, how):
    """A netCDF library reads the same dataset."""
    for path, group in all_groups(given):
        other = found[path.rstrip("/")] if path else found
        check(list(group.dimensions) == list(other.dimensions), how, path, list(other.dimensions))
        for name, dim in group.dimensions.items():
            own = other.dimensions[name]
            check((len(dim), dim.isunlimited()) == (len(own), own.isunlimited()), how, path, name, own)
        check(group.ncattrs() == other.ncattrs(), how, path, other.ncattrs())
        for name in group.ncattrs():
            check(same_netcdf(group.getncattr(name), other.getncattr(name)), how, path, name)
    theirs = dict(all_variables(found))
    for path, var in all_variables(given):
        other = theirs[path]
        check(var.dimensions == other.dimensions, how, path, other.dimensions)
        is_char = var.dtype == np.dtype("S1")
        if how == "netCDF-C" and is_char:
            # It takes text of one byte for a string.
            continue
        check(var.dtype == other.dtype, how, path, var.dtype, other.dtype)
        # NetCDF-C gives missing chunks the fill value in the other byte order than it should.
        if how != "netCDF-C" or var.endian() != "big":
            check(same(values_of(var), values_of(other)), how, path, values_of(var), values_of(other))
        check(var.ncattrs() == other.ncattrs(), how, path, other.ncattrs(), var.ncattrs())
        for name in var.ncattrs():
            check(same_netcdf(var.getncattr(name), other.getncattr(name)), how, path, name, other.getncattr(name))
        if how == "ours" and not isinstance(var.dtype, type):
            check(var.endian() == other.endian() or var.dtype.itemsize == 1, how, path, other.endian())
            if var.filters() and var.chunking() != "contiguous":
                check(var.filters() == other.filters(), how, path, other.filters(), var.filters())
                check(var.chunking() == other.chunking(), how, path, other.chunking(), var.chunking())


def same_netcdf(one, other):
    if isinstance(one, (str, list)):
        return type(one) is type(other) and one == other
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and same(one, other)

"""Random netCDF-4 files: `models_netcdf4.py FOLDER FIRST COUNT` makes FOLDER/<seed>.nc for COUNT seeds from FIRST on."""

import os
import signal
import sys

import netCDF4
import numpy as np

NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


class Random:
    """Choices of one seed."""

    def __init__(self, seed):
        self.bits = np.random.default_rng(seed)

    def below(self, end):
        return int(self.bits.integers(end))

    def chance(self, part):
        return self.bits.random() < part

    def one(self, options):
        return options[self.below(len(options))]

    def name(self):
        return self.one(["", "ü", "x_", "日"]) + "".join(chr(97 + self.below(26)) for _ in range(3 + self.below(8)))

    def numbers(self, dtype, shape):
        dtype = np.dtype(dtype)
        if dtype.kind == "f":
            return (self.bits.normal(size=shape) * self.one([1, 1e10, 1e-10])).astype(dtype)
        info = np.iinfo(dtype)
        if self.chance(0.5):
            return self.bits.integers(info.min, info.max, shape, dtype, endpoint=True)
        return self.bits.integers(0, 100, shape).astype(dtype)

    def texts(self, count):
        return np.array([self.name() * self.below(3) for _ in range(count)], dtype=object)


def storage(r, shape, unlimited, kind):
    """Keywords of createVariable."""
    made = {}
    if r.chance(0.3) and kind != "text":
        made["endian"] = r.one(["little", "big"])
    if not shape:
        return made
    if not unlimited and r.chance(0.3):
        return made | {"contiguous": True}
    if r.chance(0.5):
        made["chunksizes"] = tuple(1 + r.below(n if n else 5) for n in shape)
    if r.chance(0.6) and kind == "number":
        packers = ["zlib", "szip", "zstd", "bzip2"]
        if np.prod([n if n else 1 for n in shape]) >= 100:
            packers += ["blosc_lz", "blosc_lz4", "blosc_lz4hc", "blosc_zlib", "blosc_zstd"]
        made["compression"] = r.one(packers)
        if made["compression"].startswith("blosc"):
            # It fails at what it cannot make smaller.
            made.pop("chunksizes", None)
        made["complevel"] = 1 + r.below(9)
        made["szip_coding"] = r.one(["nn", "ec"])
        made["szip_pixels_per_block"] = r.one([4, 8, 16])
        made["blosc_shuffle"] = r.below(3)
        made["shuffle"] = r.chance(0.5)
    made["fletcher32"] = r.chance(0.2)
    return made


def types(r, group):
    made = []
    for _ in range(r.one([0, 0, 1, 3])):
        name, choice = r.name(), r.below(3)
        if choice == 0:
            members = [(f"m{i}", r.one(NUMBERS), r.one([(), (2,), (2, 3)])) for i in range(1 + r.below(4))]
            if made and made[-1][0] == "compound" and r.chance(0.5):
                members.append(("inner", made[-1][1].dtype, ()))
            made.append(("compound", group.createCompoundType(np.dtype(members, align=r.chance(0.5)), name)))
        elif choice == 1:
            made.append(("vlen", group.createVLType(np.dtype(r.one(NUMBERS)), name)))
        else:
            values = {f"e{i}": i * 3 for i in range(1 + r.below(5))}
            made.append(("enum", group.createEnumType(np.dtype(r.one(["i1", "u1", "i2", "i8"])), name, values)))
    return made


def fill(r, kind, variable, made, shape):
    count = int(np.prod(shape))
    if kind == "number" and (variable.filters() or {}).get("blosc"):
        data = np.full(shape, r.below(99), variable.dtype)
    elif kind == "number":
        data = r.numbers(variable.dtype, shape)
    elif kind == "char":
        data = np.array([b"abcxyz\\"[i % 7 : i % 7 + 1] for i in range(count)], "S1").reshape(shape)
    elif kind == "text":
        data = r.texts(count).reshape(shape)
    elif kind == "enum":
        data = np.array([3 * r.below(len(made.enum_dict)) for _ in range(count)], made.dtype).reshape(shape)
    elif kind == "compound":
        data = np.frombuffer(r.bits.integers(0, 60, count * made.dtype.itemsize).astype("u1").tobytes(), made.dtype)
        data = data.reshape(shape)
    else:
        data = np.empty(count, object)
        for at in range(count):
            data[at] = r.numbers(made.dtype, r.below(6))
        data = data.reshape(shape)
    if shape:
        variable[tuple(slice(0, n) for n in shape)] = data
    else:
        variable[...] = data if kind in ("number", "enum", "char", "compound") else data.item()


def attributes(r, place):
    for _ in range(r.one([0, 1, 2, 10])):
        choice = r.below(4)
        if choice == 0:
            value = r.name() * r.below(20)
        elif choice == 1:
            value = r.numbers(r.one(NUMBERS), 1 + r.below(8))
        elif choice == 2:
            place.setncattr_string(r.name(), r.name())
            continue
        else:
            value = [r.name(), r.name()]
        place.setncattr(r.name(), value)


def content(r, group, depth, known):
    dims = list(known)
    for _ in range(r.one([0, 1, 2, 4])):
        unlimited = r.chance(0.35)
        dims.append(group.createDimension(r.name(), None if unlimited else 1 + r.below(12)))
    made = types(r, group)
    lengths = {}
    for _ in range(r.one([1, 2, 5])):
        some = [r.one(dims) for _ in range(r.below(4))] if dims else []
        if r.chance(0.8):
            some = list({id(dim): dim for dim in some}.values())
        name = some[0].name if some and r.chance(0.25) else r.name()
        if name in group.variables:
            continue
        kind, dtype = r.one(
            [("number", r.one(NUMBERS))] * 6 + [("char", "S1"), ("text", str)] + made * 2
        ) if made else r.one([("number", r.one(NUMBERS))] * 6 + [("char", "S1"), ("text", str)])
        unlimited = any(dim.isunlimited() for dim in some)
        shape = tuple(
            lengths.setdefault(id(dim), r.below(15)) if dim.isunlimited() and r.chance(0.7) else
            (r.below(15) if dim.isunlimited() else len(dim))
            for dim in some
        )
        keywords = storage(r, [0 if dim.isunlimited() else len(dim) for dim in some], unlimited, kind)
        if kind == "number" and r.chance(0.3):
            # Elements that are never filled nor written are whatever the reference's memory was.
            keywords["fill_value"] = r.one([7, 7 if unlimited else False])
        if dtype in ("f4", "f8") and r.chance(0.2):
            keywords["least_significant_digit" if r.chance(0.5) else "significant_digits"] = 2 + r.below(3)
        if kind in ("compound", "vlen", "text", "enum"):
            keywords.pop("endian", None)
        try:
            variable = group.createVariable(name, dtype, tuple(dim.name for dim in some), **keywords)
        except RuntimeError:
            # A filter that does not fit.
            continue
        variable.set_auto_mask(False)
        attributes(r, variable)
        if (r.chance(0.85) or keywords.get("fill_value") is False) and 0 not in shape:
            fill(r, kind, variable, dtype, shape)
    attributes(r, group)
    if depth < 3:
        for _ in range(r.one([0, 0, 1, 2])):
            content(r, group.createGroup(r.name()), depth + 1, dims)


def make(seed):
    r = Random(seed)
    with netCDF4.Dataset(f"{seed}.nc", "w", format=r.one(["NETCDF4"] * 4 + ["NETCDF4_CLASSIC"])) as file:
        if file.data_model == "NETCDF4_CLASSIC":
            classic(r, file)
        else:
            content(r, file, 0, [])


def classic(r, file):
    dims = [file.createDimension(r.name(), 1 + r.below(12)) for _ in range(1 + r.below(3))]
    record = file.createDimension(r.name(), None)
    for _ in range(1 + r.below(5)):
        some = [record] * r.below(2) + [r.one(dims) for _ in range(r.below(3))]
        dtype = r.one(["i1", "i2", "i4", "f4", "f8"])
        keywords = storage(r, [0 if dim.isunlimited() else len(dim) for dim in some], record in some, "number")
        try:
            variable = file.createVariable(r.name(), dtype, tuple(dim.name for dim in some), **keywords)
        except RuntimeError:
            continue
        shape = tuple(5 if dim is record else len(dim) for dim in some)
        fill(r, "number", variable, None, shape)


def main():
    folder, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.chdir(folder)
    for seed in range(first, first + count):
        if alone(lambda: make(seed)) != 0 and os.path.exists(f"{seed}.nc"):
            # What the library refuses, or fails at.
            os.remove(f"{seed}.nc")


def alone(work):
    """Does something in a process of its own; the status it ended with."""
    child = os.fork()
    if child == 0:
        try:
            signal.setitimer(signal.ITIMER_REAL, 20)
            work()
            os._exit(0)
        except Exception as error:
            if os.environ.get("FERROCDF_LOUD"):
                print(repr(error)[:200], file=sys.stderr)
            os._exit(1)
    return os.waitpid(child, 0)[1]


if __name__ == "__main__":
    main()

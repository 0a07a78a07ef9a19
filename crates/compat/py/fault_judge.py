"""Judges files that programs left whose requests to the system failed.

    fault_judge.py READER STORY FOLDER      reads names of cases from the standard input, and says of each what is wrong

READER is `h5py`, `netcdf4` or `zarr`. STORY is the path of a story (see fault_stories.py). A case is a file FOLDER/name with the log
FOLDER/name.log of c/faults/story.c: a line for each call, with its number in the story, what it answered, and the call.

What a file may hold follows from the log. There must be one moment T, not before the last call that confirmed (a sync or
close, or an end of define mode, that answered 0), such that

- definitions and attributes are those of the calls that went well before T; one that failed may or may not have come true;
- an element that no put reached has the fill value; zero is one too in variables without fill values, in those of h5py, and
  in those that were defined in a classic file after the last sync or close that answered 0;
- an element holds what the last put before T that went well gave it, or what a put that failed later would have given it,
  a chunk old or new as a whole; elements that are overwritten in place, those of classic files and of contiguous
  variables, may also hold what a put after T gave them.

A Zarr store is many objects, of which each is old or new: there is a moment T for each of its variables, groups and chunks. So
an element may hold what a put after T gave it, and what a put that failed gave to a chunk, it gave to the whole of it.

If the failing calls were repeated until none failed, the last call must have confirmed.
"""

import os
import sys

import numpy

WEIGHTS = (7, 317, 7919)
FILL = 0
GARBAGE = -1
EDIMSIZE = -63


def position(index):
    return sum(at * weight for at, weight in zip(index, WEIGHTS)) % 100000


def text_of(seed, at, length):
    text = f"s{seed}_{at}_"
    return text + "".join(chr(97 + rest % 26) for rest in range(len(text), length))


def positions(shape):
    place = numpy.zeros(shape, dtype=numpy.int64)
    for dim, length in enumerate(shape):
        along = [1] * len(shape)
        along[dim] = length
        place += (numpy.arange(length, dtype=numpy.int64) * WEIGHTS[dim]).reshape(along)
    return place % 100000


class Call:
    """A call of the log: its moment, its words, whether it went well."""

    def __init__(self, moment, status, line):
        self.moment, self.status, self.line = moment, status, line
        self.words = line.split()
        self.name = self.words[0]
        self.good = status == 0


class Variable:
    """What calls say of a variable."""

    def __init__(self, moment, kind, dims, options):
        self.moment, self.kind, self.dims = moment, kind, dims
        options = dict(word.split("=") for word in options)
        self.chunks = tuple(map(int, options["chunks"].split(","))) if "chunks" in options else None
        self.no_fill = "nofill" in options


class Maybe:
    """Values that something may have: the last one that was set for certain, and those that may have been set since."""

    def __init__(self):
        self.values = {None}

    def set(self, value, good):
        if good:
            self.values = {value}
        else:
            self.values.add(value)


def path_of(path, name):
    head, slash, _ = path.rpartition("/")
    return head + slash + name


class State:
    """What calls up to a moment make of a file: for each object what it may be."""

    def __init__(self, calls, moment):
        self.names = {}  # Variable number -> its name.
        self.variables = []
        self.attributes = {}  # (owner number or group path, name) -> text.
        self.dims = {}
        numbers = {}
        for call in calls:
            if call.moment >= moment:
                break
            words, good = call.words, call.good
            if call.name == "var":
                number = numbers.get(words[1], len(self.variables))
                if number == len(self.variables):
                    numbers[words[1]] = number
                    self.names[number] = Maybe()
                    self.variables.append(Variable(call.moment, words[2], words[3].split(","), words[4:]))
                self.names[number].set(words[1], good)
            elif call.name == "rename_var":
                number = numbers.get(words[1])
                if number is not None:
                    numbers[path_of(words[1], words[2])] = number
                    self.names[number].set(path_of(words[1], words[2]), good)
            elif call.name == "dim":
                self.dims[words[1]] = int(words[2])
            elif call.name == "rename_dim":
                self.dims[words[2]] = self.dims.get(words[1], 0)
            elif call.name in ("att", "att_string", "del_att", "rename_att"):
                owner = numbers.get(words[1], words[1])
                key = (owner, words[2])
                mine = self.attributes.setdefault(key, Maybe())
                if call.name == "rename_att":
                    known = [value for value in mine.values if value is not None]
                    mine.set(None, good)
                    for value in known[-1:]:
                        self.attributes.setdefault((owner, words[3]), Maybe()).set(value, good)
                elif call.name == "del_att":
                    mine.set(None, good)
                else:
                    mine.set(text_of(int(words[3]), 0, int(words[4])), good)
        self.numbers = numbers


def as_text(value):
    if isinstance(value, numpy.ndarray):
        value = value.reshape(-1)[0] if value.size else ""
    if isinstance(value, bytes):
        value = value.decode()
    return str(value)


class H5py:
    """Reads with h5py."""

    HIDDEN = ("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "_NCProperties", "_nc3_strict")

    def __init__(self, path):
        import h5py

        self.file = h5py.File(path, "r")

    def close(self):
        self.file.close()

    def variables(self):
        found = []
        self.file.visititems(lambda name, item: found.append(name) if hasattr(item, "shape") else None)
        is_dim = b"This is a netCDF dimension but not a netCDF variable"
        return [name for name in found if not bytes(self.file[name].attrs.get("NAME", b"")).startswith(is_dim)]

    def attributes(self, path):
        item = self.file["/" if path == "." else path]
        names = [name for name in item.attrs if name not in self.HIDDEN and not name.startswith("_Netcdf4")]
        return {name: as_text(item.attrs[name]) for name in names}

    def values(self, path):
        values = self.file[path][...]
        return values.astype(str) if values.dtype == object and values.size == 0 else values


class Zarr:
    """Reads with zarr-python, by consolidated metadata where there is some."""

    def __init__(self, path):
        import zarr

        self.root = zarr.open_group(path, mode="r")

    def close(self):
        pass

    def variables(self):
        return [path for path, _ in self.root.members(max_depth=None) if hasattr(self.root[path], "shape")]

    def attributes(self, path):
        attributes = (self.root if path == "." else self.root[path]).attrs
        return {name: as_text(attributes[name]) for name in attributes if not name.startswith("_")}

    def values(self, path):
        values = self.root[path][...]
        return values.astype(object) if values.dtype.kind == "T" else values


class Netcdf4:
    """Reads with the netCDF library under netCDF4-python."""

    def __init__(self, path):
        import netCDF4

        self.file = netCDF4.Dataset(f"file://{path}#mode=nczarr,file" if os.path.isdir(path) else path)
        self.file.set_auto_mask(False)
        self.file.set_auto_scale(False)

    def close(self):
        self.file.close()

    def groups(self):
        yield "", self.file
        for name, group in self.file.groups.items():
            yield name + "/", group

    def variables(self):
        return [prefix + name for prefix, group in self.groups() for name in group.variables]

    def attributes(self, path):
        item = self.file if path == "." else self.file[path]
        return {name: as_text(item.getncattr(name)) for name in item.ncattrs() if name != "_FillValue"}

    def values(self, path):
        return self.file[path][...]


def is_fill(values, takes_zero):
    fill = values > 9.9e36 if values.dtype.kind == "f" else values == -2147483647
    return fill | (values == 0) if takes_zero else fill


def seeds(values, places, takes_zero):
    """Which put each element is of: `FILL` if of none, `GARBAGE` if it holds what nobody wrote.

    `takes_zero` says whether an element that nobody wrote may be zero.
    """
    if values.dtype.kind in "OSU":
        found = numpy.full(values.shape, GARBAGE, dtype=numpy.int64)
        for at in numpy.ndindex(values.shape):
            text = as_text(values[at])
            seed = text[1:].split("_")[0]
            if text == "":
                found[at] = FILL
            elif seed.isdigit() and text == text_of(int(seed), int(places[at]), 20 + int(places[at]) % 300):
                found[at] = int(seed)
        return found
    whole = values.astype(numpy.float64)
    fill = is_fill(values, takes_zero)
    seed = numpy.where(fill, 0, (whole - places) / 100000)
    rounded = numpy.rint(seed)
    return numpy.where(fill, FILL, numpy.where((rounded == seed) & (rounded > 0), rounded, GARBAGE)).astype(numpy.int64)


class Judge:
    def __init__(self, story, reader):
        self.reader = {"h5py": H5py, "netcdf4": Netcdf4, "zarr": Zarr}[reader]
        with open(story) as file:
            self.story = file.read().splitlines()
        before = story + ".before"
        lines = open(before).read().splitlines() if os.path.exists(before) else []
        self.before = [Call(number - len(lines), 0, line) for number, line in enumerate(lines)]
        first = (lines or self.story)[0].split()
        self.is_classic = first[0] == "create" and first[1].startswith("cdf")
        self.is_store = first[0] == "create" and first[1].startswith("nczarr")
        # netCDF-C opens no store in which an array and its dimension differ in length, as they do until the last object of a commit
        # is put. A store whose close confirmed must open.
        self.takes_equal_lengths_only = self.is_store and reader == "netcdf4" and "LD_PRELOAD" not in os.environ
        self.is_foreign = bool(lines) and first[0] != "create"

    def calls(self, log):
        """The calls of a log, whether the process ended well, and whether the story came to its end."""
        calls, died = list(self.before), ""
        for moment, line in enumerate(log):
            words = line.split(" ", 2)
            if words[0] == "ended":
                died = line
                continue
            calls.append(Call(moment, int(words[1]), words[2]))
        return calls, died

    def judge(self, path, way, times):
        with open(path + ".log") as file:
            calls, died = self.calls(file.read().splitlines())
        if died:
            return f"the program {died}"
        new = [call for call in calls if call.moment >= 0]
        if not new or not new[0].good:
            return None  # Nothing was opened.
        may_end = way in "r" and 0 <= times <= 10 or way in "gsc" and 0 <= times <= 1
        if may_end and not (new[-1].name == "close" and new[-1].good):
            return f"the last call, {new[-1].line}, answered {new[-1].status}, though nothing fails any more"
        confirms = ("sync", "close", "enddef")
        data_confirms = ("sync", "close") if self.is_classic or self.is_store else confirms
        confirmed = [call.moment + 1 for call in new if call.name in confirms and call.good]
        data_confirmed = [call.moment + 1 for call in new if call.name in data_confirms and call.good]
        last = confirmed[-1] if confirmed else 0
        if not confirmed and not self.before:
            return None  # No state was ever confirmed.
        try:
            file = self.reader(path)
        except Exception as error:
            if self.takes_equal_lengths_only and getattr(error, "errno", 0) == EDIMSIZE and not (new[-1].name == "close" and new[-1].good):
                return None
            return f"it cannot be opened: {error}"
        try:
            found = self.read(file)
        except Exception as error:
            return f"it cannot be read: {error!r}"
        finally:
            file.close()
        end = new[-1].moment + 1
        if self.is_store:
            return self.compare_store(found, calls, (last, end), data_confirmed[-1] if data_confirmed else 0)
        first_wrong = None
        for moment in sorted({last} | set(range(last, end + 1))):
            data_moment = data_confirmed[-1] if self.is_classic and data_confirmed else 0 if self.is_classic else moment
            wrong = self.compare(found, calls, moment, data_moment)
            if wrong is None:
                return None
            first_wrong = first_wrong or wrong
        return first_wrong

    def read(self, file):
        variables = {name: file.values(name) for name in file.variables()}
        attributes = {name: file.attributes(name) for name in [".", *variables]}
        return variables, attributes

    def compare(self, found, calls, moment, data_moment):
        """What is wrong with a file if it is that of a moment."""
        state = State(calls, moment)
        variables, attributes = found
        owners = {".": "."}
        for number, names in state.names.items():
            there = [name for name in names.values if name is not None and name in variables]
            if len(there) != 1:
                if None in names.values and not there:
                    continue
                return f"variable {number} has the names {there}, not one of {names.values}"
            owners[number] = there[0]
        extra = set(variables) - set(owners.values())
        if extra:
            return f"there are variables that nobody made by then: {sorted(extra)}"
        for owner, name in owners.items():
            wrong = self.compare_attributes(state, owner, attributes[name])
            if wrong is None and owner != ".":
                wrong = self.compare_values(state, owner, variables[name], calls, data_moment)
            if wrong:
                return f"{name}: {wrong}"
        return None

    def compare_store(self, found, calls, moments, data_moment):
        """What is wrong with a store whose definitions were confirmed at the first moment, and data at another one."""
        variables, attributes = found
        states = [State(calls, moment) for moment in range(moments[0], moments[1] + 1)]
        first, last = states[0], states[-1]
        extra = set(variables) - set(last.numbers)
        if extra:
            return f"there are variables that nobody made: {sorted(extra)}"
        for name, number in last.numbers.items():
            if name not in variables:
                if number < len(first.variables) and None not in first.names[number].values:
                    return f"the variable {name} is missing"
                continue
            having = [state for state in states if number < len(state.variables)]
            wrong = [self.compare_attributes(state, number, attributes[name]) for state in having]
            if None not in wrong:
                return f"{name}: {wrong[0]}"
            wrong = self.compare_values(last, number, variables[name], calls, data_moment)
            if wrong:
                return f"{name}: {wrong}"
        wrong = [self.compare_attributes(state, ".", attributes["."]) for state in states]
        return None if None in wrong else f"attributes: {wrong[0]}"

    def compare_attributes(self, state, owner, there):
        for (of, name), may in state.attributes.items():
            if of == owner and there.get(name) not in may.values:
                return f"attribute {name} is {there.get(name)!r:.60}, not one of {len(may.values)} values"
        known = {name for of, name in state.attributes if of == owner}
        extra = set(there) - known
        return f"there are attributes that nobody set by then: {sorted(extra)}" if extra else None

    def compare_values(self, state, number, values, calls, moment):
        variable = state.variables[number]
        names = {name for name, of in state.numbers.items() if of == number}
        places = positions(values.shape)
        # Fill values of classic variables are written by the first sync, and those of h5py are zero.
        is_new = self.is_classic and variable.moment >= moment
        found = seeds(values, places, is_new or variable.no_fill or self.is_foreign and variable.moment < 0)
        in_place = self.is_classic or not self.is_store and variable.chunks is None and not any(state.dims.get(dim) == 0 for dim in variable.dims)
        base = numpy.zeros(values.shape, dtype=numpy.int64)
        allowed = numpy.zeros(values.shape, dtype=bool)
        long_enough = [0] * values.ndim
        for call in calls:
            if call.name != "put" or call.words[1] not in names:
                continue
            seed = int(call.words[2])
            start, count = ([int(word) for word in words.split(",")] for words in call.words[3:5])
            box = tuple(slice(at, at + many) for at, many in zip(start, count))
            if call.moment >= moment:
                if in_place or self.is_store:
                    allowed[box] |= found[box] == seed
            elif call.good:
                base[box] = seed
                allowed[box] = False
                long_enough = [max(have, at + many) for have, at, many in zip(long_enough, start, count)]
            else:
                allowed[box] |= found[box] == seed
                wrong = self.torn(variable, found[box], start, seed, in_place, calls, call, names)
                if wrong:
                    return wrong
        if any(have < need for have, need in zip(values.shape, long_enough)):
            return f"its shape is {values.shape}, and {long_enough} was confirmed"
        good = (found == base) | allowed
        if variable.no_fill:
            good |= base == FILL
        if good.all():
            return None
        at = tuple(numpy.argwhere(~good)[0])
        return f"{(~good).sum()} elements are wrong, the first at {at}: {values[at]!r} of put {found[at]}, not {base[at]}"

    def torn(self, variable, found, start, seed, in_place, calls, call, names):
        """Whether a put that failed left a part of a chunk, and no later put was there."""
        later = any(other.name == "put" and other.words[1] in names and other.moment > call.moment for other in calls)
        if in_place or later or variable.chunks is None or found.size == 0:
            return None
        along = [(numpy.arange(length) + at) // chunk for length, at, chunk in zip(found.shape, start, variable.chunks)]
        number = numpy.zeros(found.shape, dtype=numpy.int64)
        for dim, chunks in enumerate(along):
            number = number * 10000 + chunks.reshape([-1 if at == dim else 1 for at in range(found.ndim)])
        for chunk in numpy.unique(number):
            new = found[number == chunk] == seed
            if new.any() and not new.all():
                return f"a chunk holds {new.sum()} of {new.size} elements of put {seed}, which failed"
        return None


def main(reader, story, folder):
    judge = Judge(story, reader)
    for line in sys.stdin:
        name, _, _, times, way = line.split()
        wrong = judge.judge(os.path.join(folder, name), way, int(times))
        if wrong:
            print(f"{line.strip()}: {wrong}", flush=True)
    print("judged", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

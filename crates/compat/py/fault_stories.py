"""Stories of calls to the library, for programs whose requests to the system fail: see c/faults/story.c.

    fault_stories.py FOLDER     writes each story as FOLDER/name, with the calls that make the file it starts from in
                                FOLDER/name.before; where h5py makes that file, also FOLDER/name.start
"""

import os
import sys


def records(kind, options, rounds=10, each=30):
    """A record variable that grows between syncs, with an attribute each time."""
    yield from [f"create {kind}", "dim t 0", f"var v float t {options}", "att . title 1 30", "enddef"]
    for number in range(rounds):
        yield f"put v {number + 1} {number * each} {each}"
        if kind in ("cdf1", "cdf2", "cdf5", "nc4c"):
            yield from ["redef", f"att . note {number + 1} {20 + 40 * number}", "enddef"]
        else:
            yield f"att . note{number} {number + 1} {20 + 40 * number}"
        yield "sync"
    yield "close"


def overwritten(options, start="create nc4"):
    """A committed chunk that is written over whole and in part."""
    yield from [start, "dim y 10", "dim x 10000", f"var v float y,x {options}", "enddef"]
    yield from ["put v 1 0,0 10,10000", "sync", "put v 2 0,0 10,10000", "close"]


def parts(options, kind="nc4"):
    """Chunks and runs of elements of which parts are written again and again."""
    yield from [f"create {kind}", "dim y 40", "dim x 60", f"var v double y,x {options}", "var w int y,x", "enddef"]
    for number in range(6):
        yield f"put v {3 * number + 1} {number * 3},{number * 5} 12,20"
        yield f"put w {3 * number + 2} {number * 4},0 9,60"
        yield f"put v {3 * number + 3} {number},{7 * number} 3,9"
        if number == 2:
            yield "put v 40 0,0 40,60"
        if number % 2:
            yield "sync"
    yield "close"


def unlimited():
    """Several unlimited dimensions, groups and other names."""
    yield from ["create nc4", "dim t 0", "dim x 5", "group g", "dim g/s 0", "dim g/p 0", "dim g/q 0", "var a float t,x deflate=2 chunks=7,5"]
    yield from ["var g/b int s chunks=11", "var g/c double p,q chunks=4,6", "enddef"]
    for number in range(6):
        name = "first" if number == 3 else "a"
        yield f"put {name} {4 * number + 1} {number * 5},0 5,5"
        yield f"put g/b {4 * number + 2} {number * 9} 9"
        yield f"put g/c {4 * number + 3} {number * 2},0 3,{3 + number}"
        yield f"att {name} note{number} {number + 1} 50"
        if number == 2:
            yield from ["rename_var a first", "att g/b x 5 40", "sync"]
        if number == 3:
            yield from ["rename_att first note1 remark", "del_att first note0", "rename_var first a"]
        if number % 2:
            yield "sync"
    yield "close"


def strings(kind="nc4"):
    """Strings in a fixed variable that are written over, and in one that grows; attributes of strings."""
    yield from [f"create {kind}", "dim t 0", "dim x 12", "var s string x", "var r string t chunks=5", "enddef"]
    for number in range(6):
        yield f"put s {3 * number + 1} {number} 6"
        yield f"put r {3 * number + 2} {number * 4} 4"
        yield f"att_string . words{number % 3} {number + 1} {100 * number + 40}"
        if number % 2 == 0:
            yield "sync"
    yield from ["put s 40 0 12", "sync", "put s 41 2 3", "put r 42 0 24", "close"]


def many_definitions(kind="nc4"):
    """Variables that are defined and written by turns, and many attributes."""
    yield from [f"create {kind}", "dim x 20", "dim t 0"]
    for number in range(14):
        chunks = "chunks=6" if number % 2 else ""
        yield f"var v{number} int {'t' if number % 2 else 'x'} {chunks}".strip()
        yield f"put v{number} {number + 1} 0 20"
        yield f"att v0 a{number} {number + 1} {60 + number}"
        if number % 5 == 4:
            yield "sync"
    yield "close"


def classic(kind):
    """Fixed and record variables, a header that grows over its place, records that become longer."""
    yield from [f"create {kind}", "dim t 0", "dim x 30", "var f int x", "var r float t", "var q double t,x", "enddef"]
    yield from ["put f 1 0 30", "put r 2 0 4", "put q 3 0,0 4,30", "sync"]
    yield from ["redef", "att . history 4 700", "var h double x", "enddef", "put h 5 3 20", "put r 6 4 3", "sync"]
    yield from ["redef", "var p int t", "att f units 7 40", "rename_var r s", "enddef"]
    yield from ["put p 8 0 9", "put q 9 5,0 3,30", "put f 10 5 10", "put s 11 2 9", "sync"]
    yield from ["redef", "del_att f units", "rename_dim x column", "enddef", "put q 12 2,4 4,11", "put h 13 0 30", "close"]


def skipped_records(kind):
    """Puts that skip records, which get fill values, and a header that grows over its place between them."""
    yield from [f"create {kind}", "dim t 0", "dim x 10", "var a float t,x", "var b float t,x", "enddef", "put a 1 0,0 3,10", "sync"]
    for number in range(3):
        yield f"put a {3 * number + 2} {3 * number + 4},0 1,10"
        yield from ["redef", f"att . history {number + 1} {700 * (number + 1)}", "enddef"]
        yield f"put b {3 * number + 3} {3 * number + 3},0 1,10"
        yield "sync"
    yield "close"


def long_header():
    """A header of many blocks of which one attribute changes."""
    yield from ["create cdf5", "dim t 0"]
    for number in range(60):
        yield f"var v{number} float t"
        yield f"att v{number} long_name {number % 9 + 1} 120"
    yield from ["enddef", "put v3 1 0 5", "sync"]
    for number in range(4):
        yield from ["redef", f"att v{number * 15} long_name {number + 2} 120", f"rename_var v{number + 20} w{number}", "enddef"]
        yield f"put v5 {number + 5} {number * 3} 4"
        yield "sync"
    yield "close"


def no_fill(kind):
    """Variables without fill values, written here and there."""
    yield from [f"create {kind}", "dim t 0", "dim x 50", "var a int x nofill=1", "var b float t,x nofill=1", "enddef"]
    for number in range(5):
        yield from [f"put a {number + 1} {number * 10} 10", f"put b {number + 6} {number},5 2,30"]
        if number % 2:
            yield "sync"
    yield "close"


def edited():
    """A file that is there is edited."""
    yield from ["open", "put v 60 5 20", "redef", "att . note 61 90", "enddef", "sync", "redef", "dim n 7", "var n int n"]
    yield "enddef"
    yield from ["put n 62 0 7", "put v 63 300 40", "sync", "redef", "rename_var v value", "att value units 64 30", "enddef"]
    yield from ["put value 65 100 100", "sync", "redef", "del_att . title", "enddef", "close"]


def groups_of_stores(kind):
    """Groups with variables, which grow and get attributes by turns."""
    yield from [f"create {kind}", "dim t 0", "dim x 5", "group g", "dim g/s 0", "var a float t,x deflate=2 chunks=7,5"]
    yield from ["var g/b int s chunks=11", "enddef"]
    for number in range(6):
        yield f"put a {2 * number + 1} {number * 5},0 5,5"
        yield f"put g/b {2 * number + 2} {number * 9} 9"
        yield f"att a note{number} {number + 1} 50"
        if number == 2:
            yield from ["att g/b x 5 40", "sync"]
        if number == 3:
            yield from ["rename_att a note1 remark", "del_att a note0"]
        if number % 2:
            yield "sync"
    yield "close"


def edited_store():
    """A store that is there is edited."""
    yield from ["open", "put v 60 5 20", "redef", "att . note 61 90", "enddef", "sync", "redef", "dim n 7", "var n int n"]
    yield "enddef"
    yield from ["put n 62 0 7", "put v 63 300 40", "sync", "redef", "att v units 64 30", "enddef"]
    yield from ["put v 65 100 100", "sync", "redef", "del_att . title", "enddef", "close"]


def foreign_before():
    """What the file of h5py holds that `foreign` starts from."""
    yield from ["dim t 0", "dim y 12", "var v float t chunks=25 deflate=4", "var c int y", "group g", "var g/d double y chunks=5"]
    yield from ["put v 1 0 60", "put c 2 0 12", "put g/d 3 0 12", "att . title 4 40", "att v note 5 60"]
    for number in range(12):
        yield f"att c many{number} {number + 1} 30"


def foreign():
    """A file of h5py is edited."""
    yield from ["open", "put v 60 10 30", "put c 61 2 5", "att v note 62 500", "sync", "put g/d 63 3 6", "att c many3 64 90"]
    yield from ["sync", "redef", "dim n 7", "var n int n", "enddef", "put n 65 0 7", "att . late 66 30", "put v 67 40 50", "sync"]
    yield from ["put v 68 0 90", "put c 69 0 12", "close"]


STORIES = {
    "records": records("nc4", "chunks=50 deflate=1"),
    "records_plain": records("nc4", "chunks=50"),
    "records_model": records("nc4c", "chunks=50 deflate=1", 4),
    "overwritten": overwritten("chunks=10,10000"),
    "overwritten_deflate": overwritten("chunks=10,10000 deflate=1"),
    "overwritten_checked": overwritten("chunks=10,10000 fletcher=1"),
    "overwritten_contiguous": overwritten(""),
    "parts": parts("chunks=13,17"),
    "parts_deflate": parts("chunks=13,17 deflate=1"),
    "unlimited": unlimited(),
    "strings": strings(),
    "many_definitions": many_definitions(),
    "classic1": classic("cdf1"),
    "classic2": classic("cdf2"),
    "classic5": classic("cdf5"),
    "records_classic": records("cdf2", "", 6),
    "skipped_records": skipped_records("cdf2"),
    "long_header": long_header(),
    "no_fill": no_fill("cdf1"),
    "no_fill_netcdf4": no_fill("nc4"),
    "edited": edited(),
    "edited_classic": edited(),
    "foreign": foreign(),
    "records_zarr2": records("nczarr2", "chunks=50 deflate=1"),
    "records_zarr3": records("nczarr3", "chunks=50 deflate=1"),
    "overwritten_zarr2": overwritten("chunks=10,10000 deflate=1", "create nczarr2"),
    "overwritten_zarr3": overwritten("chunks=10,10000 fletcher=1", "create nczarr3"),
    "parts_zarr2": parts("chunks=13,17", "nczarr2"),
    "parts_zarr3": parts("chunks=13,17 deflate=1", "nczarr3"),
    "strings_zarr3": strings("nczarr3"),
    "many_definitions_zarr2": many_definitions("nczarr2"),
    "many_definitions_zarr3": many_definitions("nczarr3"),
    "groups_zarr2": groups_of_stores("nczarr2"),
    "groups_zarr3": groups_of_stores("nczarr3"),
    "edited_zarr2": edited_store(),
    "edited_zarr3": edited_store(),
}

BEFORE = {
    "edited": records("nc4", "chunks=50 deflate=1", 5),
    "edited_classic": records("cdf5", "", 5),
    "foreign": foreign_before(),
    "edited_zarr2": records("nczarr2", "chunks=50 deflate=1", 5),
    "edited_zarr3": records("nczarr3", "chunks=50 deflate=1", 5),
}


def make_foreign(path, lines):
    """The file that `foreign_before` describes."""
    import h5py

    from fault_judge import position, text_of

    with h5py.File(path, "w") as file:
        lens, shapes = {}, {}
        for line in lines:
            words = line.split()
            if words[0] == "dim":
                lens[words[1]] = int(words[2])
            elif words[0] == "group":
                file.create_group(words[1])
            elif words[0] == "var":
                options = dict(word.split("=") for word in words[4:])
                shapes[words[1]] = (words[2], lens[words[3]], options)
            elif words[0] == "put":
                kind, len_, options = shapes[words[1]]
                count = int(words[4])
                data = [int(words[2]) * 100000 + position([at]) for at in range(count)]
                kinds = {"float": "f4", "int": "i4", "double": "f8"}
                more = {}
                if "chunks" in options:
                    more = {"chunks": (int(options["chunks"]),), "maxshape": (None if len_ == 0 else count,)}
                if "deflate" in options:
                    more["compression"] = int(options["deflate"])
                file.create_dataset(words[1], data=data, dtype=kinds[kind], **more)
            else:
                owner = file if words[1] == "." else file[words[1]]
                owner.attrs[words[2]] = text_of(int(words[3]), 0, int(words[4]))


def main(folder):
    for name, lines in STORIES.items():
        with open(os.path.join(folder, name), "w") as file:
            file.writelines(line + "\n" for line in lines)
    for name, lines in BEFORE.items():
        lines = list(lines)
        with open(os.path.join(folder, name + ".before"), "w") as file:
            file.writelines(line + "\n" for line in lines)
        if name == "foreign":
            make_foreign(os.path.join(folder, name + ".start"), lines)


if __name__ == "__main__":
    main(sys.argv[1])

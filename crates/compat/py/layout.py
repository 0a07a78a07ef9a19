"""Prints where h5py and pyfive find the chunks of files, whose paths come on the standard input: layout.py < PATHS

A line for each chunked dataset with chunks: its path, its number of chunks and the position of the first from h5py; then, where pyfive
can read it, the same from pyfive and the position of the first node of its index. The last lines have the bytes of metadata that h5stat
counts, where it does, and what check_cmip7_packing says.
"""

import contextlib
import io
import os
import re
import runpy
import subprocess
import sys

import h5py
import pyfive

CHECK = os.path.join(os.path.dirname(sys.executable), "check_cmip7_packing")


def by_h5py(dataset):
    if dataset.chunks is None or dataset.shape is None:
        return None
    found = []
    dataset.id.chunk_iter(lambda chunk: found.append(chunk.byte_offset))
    return (len(found), min(found)) if found else None


def by_pyfive(file, name):
    try:
        found = file[name].id
        return found.get_num_chunks(), found.first_chunk, found.btree_range[0]
    except Exception:
        return ()


def datasets(file):
    names = []
    file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    return names


def consolidated(path):
    try:
        with pyfive.File(path) as file:
            return file.consolidated_metadata
    except Exception as error:
        return type(error).__name__


def checked(path):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            sys.argv = [CHECK, path]
            runpy.run_path(CHECK, run_name="__main__")
        except SystemExit as end:
            return f"{end.code} {said.getvalue().strip()!r}"
    return "nothing"


def tell(path):
    try:
        with h5py.File(path) as file, contextlib.suppress(UnicodeError):
            try:
                other = pyfive.File(path)
            except Exception:
                other = None
            for name in datasets(file):
                found = by_h5py(file[name])
                if found:
                    told = by_pyfive(other, name) if other else ()
                    print("dataset", *found, *told, "/" + name)
    except OSError:
        print("unreadable")
    stat = subprocess.run(["h5stat", "-S", path], capture_output=True, text=True)
    metadata = re.search(r"File metadata: (\d+) bytes", stat.stdout)
    if stat.returncode == 0 and metadata:
        print("metadata", metadata[1])
    print("consolidated", consolidated(path))
    print("cmip7", checked(path))


for line in sys.stdin:
    path = line.rstrip("\n")
    print("==", path)
    tell(path)
    sys.stdout.flush()

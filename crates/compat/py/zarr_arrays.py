"""Compares arrays as ferrocdf prints them with the same arrays in zarr-python.

Standard input has a line for each array: its folder, a tab, and the file with what `ferrocdf zarr-conformance` printed; the file is
missing where that failed. Prints a line for each array that is not equal: the kind of difference, a tab, and the folder.
"""

import json
import math
import os
import sys
import warnings

import numpy as np
import zarr

warnings.simplefilter("ignore")


def plain(value):
    """Returns an element as JSON has it; floats of less than 64 bits stay as they are."""
    if isinstance(value, np.void):
        if value.dtype.names:
            return [plain(value[name]) for name in value.dtype.names]
        return list(value.tobytes())
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return int(value.view("i8"))
    if isinstance(value, np.complex64):
        return [value.real, value.imag]
    if isinstance(value, np.generic) and not isinstance(value, (np.float16, np.float32)):
        value = value.item()
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.ravel()]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def same(theirs, ours):
    if theirs is None:
        # Of JSON objects.
        return ours == "null"
    if isinstance(theirs, bytes):
        # Bytes of any number are lists, text of a fixed length is text.
        return list(theirs) == ours or theirs.decode("utf-8", "replace").rstrip("\0") == ours
    if isinstance(theirs, list) or isinstance(ours, list):
        both = isinstance(theirs, list) and isinstance(ours, list)
        return both and len(theirs) == len(ours) and all(map(same, theirs, ours))
    if isinstance(theirs, str) or isinstance(ours, str):
        return theirs == ours
    if isinstance(theirs, bool) or isinstance(ours, bool):
        return theirs is ours
    if isinstance(theirs, (np.float16, np.float32)):
        ours = type(theirs)(ours)
    return theirs == ours or (math.isnan(theirs) and math.isnan(ours))


def elements(array):
    """Returns the elements of an array, and if they are numbers."""
    values = np.asarray(array[...]).ravel(order="C")
    is_number = values.dtype.kind in "iuf"
    return is_number, values if is_number else [plain(value) for value in values]


def compare(is_number, theirs, printed):
    """Compares elements with those in a file."""
    with open(printed) as file:
        ours = json.load(file)
    if is_number:
        # Of numbers without a fraction, `int` keeps all digits.
        ours = np.array(ours, dtype=theirs.dtype)
        return "equal" if np.array_equal(theirs, ours, equal_nan=theirs.dtype.kind == "f") else "different"
    return "equal" if same(theirs, ours) else "different"


def judge(folder, printed):
    try:
        is_number, theirs = elements(zarr.open_array(folder, mode="r"))
    except Exception as error:
        return "neither" if not os.path.exists(printed) else f"ours alone ({type(error).__name__})"
    return compare(is_number, theirs, printed) if os.path.exists(printed) else "theirs alone"


if __name__ == "__main__":
    for line in sys.stdin.read().splitlines():
        folder, printed = line.split("\t")
        print(f"{judge(folder, printed)}\t{folder}")

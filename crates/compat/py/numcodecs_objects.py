"""Stores of one chunk each, with the blocks of numcodecs that hold objects, and the elements of the arrays that were encoded.

Standard input has a line for each block: the file with its configuration, that with the encoded bytes, that with the array that was
encoded, and the folder of the store to make, with tabs between them. Beside the store, `.json` has the elements: a text as it is, bytes and
numbers as lists, and what else JSON knows as its text.
"""

import json
import pathlib
import sys

import numpy as np


def element(value):
    if isinstance(value, (str, np.str_)):
        return str(value)
    if isinstance(value, (bytes, np.ndarray)):
        return list(value) if isinstance(value, bytes) else value.tolist()
    value = value.item() if isinstance(value, np.generic) else value
    return json.dumps(value, separators=(",", ":"))


for line in sys.stdin.read().splitlines():
    configuration, encoded, array, store = map(pathlib.Path, line.split("\t"))
    codec = json.loads(configuration.read_text())
    wanted = np.load(array, allow_pickle=True)
    shape = list(wanted.shape)
    metadata = {"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": "|O", "filters": [codec], "compressor": None}
    store.mkdir()
    (store / ".zarray").write_text(json.dumps({**metadata, "fill_value": None, "order": "C"}))
    (store / ".".join("0" * len(shape))).write_bytes(encoded.read_bytes())
    # The codecs vlen-* take the elements in the order of the memory.
    elements = [element(value) for value in wanted.ravel("A" if codec["id"].startswith("vlen") else "C")]
    store.with_suffix(".json").write_text(json.dumps(elements))

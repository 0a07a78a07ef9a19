"""Checks the records of stores whose writers were killed.

Arguments: a store and the number of its records that were synced, then the next one, and so on. Record n has n * 31 + x as its element x.
Everything that the store names can be read, with consolidated metadata and without.
"""

import sys

import numpy as np
import zarr

for store, synced in zip(sys.argv[1::2], map(int, sys.argv[2::2])):
    for consolidated in (True, False):
        try:
            group = zarr.open_group(store, mode="r", use_consolidated=consolidated)
        except ValueError:
            # A writer that was killed before it could put consolidated metadata.
            assert consolidated and synced == 0, (store, synced)
            continue
        for name in ("packed", "plain"):
            values = group[name][:]
            assert len(values) >= synced, (store, name, consolidated, len(values), synced)
            wanted = np.arange(synced)[:, None] * 31 + np.arange(500)[None, :]
            assert (values[:synced] == wanted).all(), (store, name, consolidated)

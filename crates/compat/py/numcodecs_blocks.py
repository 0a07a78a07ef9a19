"""Compares decoded blocks with what numcodecs decodes.

Standard input has a line for each block: the file with its configuration, that with the encoded bytes, and that with the bytes that
ferrocdf decoded, with tabs between them. Prints the encoded files whose bytes differ.
"""

import json
import sys

import numcodecs
import numpy as np

for line in sys.stdin.read().splitlines():
    configuration, encoded, decoded = line.split("\t")
    with open(configuration) as file:
        codec = numcodecs.get_codec(json.load(file))
    with open(encoded, "rb") as file:
        theirs = np.asarray(codec.decode(file.read()))
    # Texts of any length are compared in the form of another codec.
    theirs = numcodecs.VLenUTF8().encode(theirs) if theirs.dtype == object else theirs.tobytes()
    with open(decoded, "rb") as file:
        if file.read() != theirs:
            print(encoded)

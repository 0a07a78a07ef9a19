"""Prints the objects of a Zarr store as netCDF-C's `zmapio` does, which needs the inside of netCDF-C: scripts of its folder
`nczarr_test` call it.

Arguments: [-h] [-t TYPE] [-x objdump] URL. With `-h` chunks are not printed. Types are `ubyte`, `int`, and `string/N`.
"""

import getopt
import pathlib
import struct
import sys
import zipfile

import s3util


def objects(url):
    """Returns the content of each object by its key; of a zip file without the folder around all, in S3 without the key of the store."""
    path, _, fragment = url.removeprefix("file://").partition("#")
    storage = fragment.removeprefix("mode=").split(",")
    if "s3" in storage:
        bucket, key = s3util.bucket_and_key(path)
        names = s3util.keys(bucket, f"{key}/")
        if not names:
            sys.exit(f"no store: {path}")
        return {name.removeprefix(f"{key}/"): s3util.get(bucket, name) for name in names}
    if "zip" in storage:
        with zipfile.ZipFile(path) as packed:
            names = [name for name in packed.namelist() if not name.endswith("/")]
            return {name.partition("/")[2] if "/" in name else name: packed.read(name) for name in names}
    root = pathlib.Path(path)
    if not root.is_dir():
        sys.exit(f"no store: {path}")
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in root.rglob("*") if file.is_file()}


def chunk(content, kind):
    if kind.startswith("string/"):
        size = int(kind.removeprefix("string/"))
        texts = [content[at : at + size].split(b"\0")[0].decode() for at in range(0, len(content), size)]
        return [text.rjust(size) for text in texts]
    code, size = {"ubyte": ("B", 1), "int": ("i", 4)}[kind]
    return [str(number) for number in struct.unpack(f"<{len(content) // size}{code}", content)]


options, (url,) = getopt.getopt(sys.argv[1:], "ht:x:")
options = dict(options)
kind = options.get("-t", "ubyte")
found = objects(url)
keys = set()
for key in found:
    parts = key.split("/")
    keys.update("/".join(parts[:number]) for number in range(1, len(parts) + 1))
for number, key in enumerate(sorted(keys, key=lambda key: key.split("/"))):
    if key not in found:
        continue
    if key.split("/")[-1].startswith("."):
        print(f"[{number}] /{key} : ({len(found[key])}) |{found[key].decode()}|")
        continue
    values = chunk(found[key], kind)
    label = "" if kind.startswith("string") else f" ({kind})"
    print(f"[{number}] /{key} : ({len(values)}){label} |{'...' if '-h' in options else ', '.join(values)}|")

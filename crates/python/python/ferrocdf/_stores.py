"""Stores of fsspec and obstore, as the engine reads them.

An adapter answers requests ``(key, start, stop)`` for ranges of objects, which are those of a slice: ``None, None`` for all bytes, ``-n, None`` for the
last ``n`` of them. An answer is the bytes, the position of the first of them, the size of the object and its version; None if there is no such
object; or the exception of this request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ._typing import Adapter, Answer, Request

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# Requests that are sent at once.
IN_FLIGHT = 32

# What fsspec raises for a file that does not exist.
_MISSING = (FileNotFoundError, IsADirectoryError, NotADirectoryError)


def adapt(store: Any, path: str | None) -> tuple[Adapter, str] | None:
    """Returns the adapter of a store, and the key of the object or the folder at a path in it. Without a path: those of a mapping of fsspec, which has
    one, and of all of a store of obstore. None for what is no store."""
    if all(hasattr(store, name) for name in ("get_ranges", "list_with_delimiter", "head")):
        return ObstoreAdapter(store), (path or "").strip("/")
    missing = _MISSING
    # Paths with a file system, as those of universal_pathlib, have a root too, and are no mappings.
    if all(hasattr(store, name) for name in ("root", "getitems", "missing_exceptions")) and hasattr(getattr(store, "fs", None), "cat_ranges"):
        root = str(store.root).rstrip("/")
        # Files that a dataset refers to are looked for in the folder of the mapping, and not above.
        folder, slash, key = root.rpartition("/") if path is None else (root, "/" if root else "", path.strip("/"))
        missing = (*_MISSING, *getattr(store, "missing_exceptions", ()))
        return FsspecAdapter(store.fs, folder + slash, missing), key
    if path is not None and hasattr(store, "cat_ranges"):
        place = str(store._strip_protocol(path)).rstrip("/")
        # Files that a dataset refers to are looked for in its folder; on a server in all of the server or the bucket, whose name comes first.
        folder, slash, key = place.rpartition("/")
        if slash and not place.startswith("/"):
            top, slash, key = re.fullmatch("((?:[^/]+://)?[^/]+)(/?)(.*)", place, flags=re.DOTALL).groups()  # type: ignore[union-attr]
            folder = top
        return FsspecAdapter(store, folder + slash, missing), key
    return None


class FsspecAdapter:
    """The files of a file system of fsspec whose paths begin with ``prefix``.

    The size of a file of which ranges are read is asked for once, with a request of its own: fsspec does not tell it with the bytes. It tells no version
    either, so all answers have the same one.
    """

    def __init__(self, fs: Any, prefix: str, missing: tuple[type[Exception], ...]) -> None:
        self._fs, self._prefix, self._missing = fs, prefix, missing
        self._sizes: dict[str, int] = {}
        protocol = fs.protocol if isinstance(fs.protocol, str) else fs.protocol[0]
        self.name = (prefix if "://" in prefix else f"{protocol}://{prefix}").rstrip("/")

    def get_many(self, requests: Sequence[Request]) -> list[Answer]:
        """Answers requests, in one round for sizes that are not known, and one for bytes."""
        paths = [self._prefix + key for key, _, _ in requests]
        sizes = self._sizes_of({path for path, (_, start, _) in zip(paths, requests) if start is not None})
        answers: list[Answer] = [None] * len(requests)
        sent: list[tuple[int, int | None, int | None]] = []
        for number, (path, (_, start, stop)) in enumerate(zip(paths, requests)):
            size = sizes.get(path)
            if start is None:
                sent.append((number, None, None))
            elif isinstance(size, int):
                first, end, _ = slice(start, stop).indices(size)
                if first < end:
                    sent.append((number, first, end))
                else:
                    answers[number] = b"", first, size, ""
            else:
                answers[number] = size
        places, starts, ends = [paths[number] for number, _, _ in sent], [start for _, start, _ in sent], [end for _, _, end in sent]
        found = self._fs.cat_ranges(places, starts, ends, on_error="return") if sent else []
        for (number, first_sent, _), part in zip(sent, found):
            if not isinstance(part, Exception):
                answers[number] = bytes(part), first_sent or 0, len(part) if first_sent is None else self._sizes[paths[number]], ""
            elif not isinstance(part, self._missing):
                answers[number] = part
        return answers

    def list(self, folder: str) -> tuple[list[str], list[str]]:
        """Returns the names of objects and of folders in a folder."""
        path = (self._prefix + folder).rstrip("/")
        try:
            entries = self._fs.ls(path, detail=True)
        except self._missing:
            return [], []
        names: dict[bool, list[str]] = {True: [], False: []}
        for entry in entries:
            whole = entry["name"].rstrip("/")
            # Some file systems list the object that stands for the folder in it.
            if whole != path:
                names[entry["type"] == "directory"].append(whole.rpartition("/")[2])
        return names[False], names[True]

    def _sizes_of(self, paths: Iterable[str]) -> dict[str, int | Exception | None]:
        """The sizes of files; None for a file that does not exist."""
        paths = list(paths)
        unknown = [path for path in paths if path not in self._sizes]
        asked = dict(zip(unknown, in_parallel(self._ask_for_size, unknown)))
        self._sizes.update({path: size for path, size in asked.items() if isinstance(size, int)})
        return {path: self._sizes[path] if path in self._sizes else asked[path] for path in paths}

    def _ask_for_size(self, path: str) -> int | Exception | None:
        try:
            size: int | None = self._fs.info(path)["size"]
        except self._missing:
            return None
        except Exception as error:
            return error
        return OSError(f"the file system does not tell the size of {path}") if size is None else size


class ObstoreAdapter:
    """The objects of a store of obstore. Each answer tells size and version."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.name = repr(store)

    def get_many(self, requests: Sequence[Request]) -> list[Answer]:
        """Answers requests, as many at once as are worth it."""
        return in_parallel(self._get, requests)

    def list(self, folder: str) -> tuple[list[str], list[str]]:
        """Returns the names of objects and of folders in a folder."""
        listed = self._store.list_with_delimiter(folder or None)
        objects = [found["path"].rpartition("/")[2] for found in listed["objects"]]
        return objects, [path.rstrip("/").rpartition("/")[2] for path in listed["common_prefixes"]]

    def _get(self, request: Request) -> Answer:
        key, start, stop = request
        try:
            return self._fetch(key, start, stop)
        except FileNotFoundError:
            return None
        except Exception as error:
            if start is None:
                return error
            # A range behind the end of an object is an error, and some servers know no ranges that are counted from the end.
            try:
                meta = self._store.head(key)
                first, end, _ = slice(start, stop).indices(meta["size"])
                return self._fetch(key, first, end) if first < end else (b"", first, meta["size"], _version(meta))
            except Exception:
                return error

    def _fetch(self, key: str, start: int | None, stop: int | None) -> Answer:
        if start is None:
            found = self._store.get(key)
        else:
            found = self._store.get(key, options={"range": {"suffix": -start} if start < 0 else (start, stop)})
        return bytes(found.bytes()), found.range[0], found.meta["size"], _version(found.meta)


def _version(meta: Any) -> str:
    # The name of a store does not tell which one it is: no version of an object counts for longer than this process.
    return f"{meta['last_modified']} {meta['e_tag']}"


def in_parallel(call: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
    """Calls a function with each item, in threads that end with it: a process that forks has none of them."""
    if len(items) < 2:
        return [call(item) for item in items]
    with ThreadPoolExecutor(min(IN_FLIGHT, len(items))) as threads:
        return list(threads.map(call, items))

"""Settings of the process."""

from __future__ import annotations

import os
import sys

from . import _ferrocdf


def configure(*, threads: int | None = None, cache: int | None = None) -> None:
    """Sets what the environment variables ``FERROCDF_THREADS`` and ``FERROCDF_CACHE`` set otherwise. None leaves a setting as it is.

    threads: how many threads work on one large request, with the one that asks; 1 makes no threads. By default as many as there are cores,
    and 1 in a worker of Dask, which has threads or neighbours of its own.
    cache: bytes of decoded chunks in memory, of all datasets together.

    Raises InvalidArgument if data was read or written before, with another value.
    """
    _ferrocdf.configure(threads, cache)


def be_one_thread_of_a_dask_worker() -> None:
    """Makes 1 the default number of threads in a process that is a worker of Dask."""
    worker = sys.modules.get("distributed.worker")
    # The set that Worker.__init__ enters each worker of the process in.
    if worker is not None and getattr(worker.Worker, "_instances", None):
        os.environ.setdefault("FERROCDF_THREADS", "1")

"""The command-line tools."""

from __future__ import annotations

import sys
from typing import NoReturn

from . import _ferrocdf


def _run(name: str) -> NoReturn:
    sys.exit(_ferrocdf.run_tool([name, *sys.argv[1:]]))


def ferrocdf() -> NoReturn:
    """Runs the tool ``ferrocdf``."""
    _run("ferrocdf")


def ncdump() -> NoReturn:
    """Runs the tool ``ncdump``."""
    _run("ncdump")


def ncgen() -> NoReturn:
    """Runs the tool ``ncgen``."""
    _run("ncgen")


def nccopy() -> NoReturn:
    """Runs the tool ``nccopy``."""
    _run("nccopy")

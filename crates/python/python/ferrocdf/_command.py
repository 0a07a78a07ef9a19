"""The command-line tools."""

import sys

from . import _ferrocdf


def _run(name):
    sys.exit(_ferrocdf.run_tool([name, *sys.argv[1:]]))


def ferrocdf():
    """Runs the tool ``ferrocdf``."""
    _run("ferrocdf")


def ncdump():
    """Runs the tool ``ncdump``."""
    _run("ncdump")


def ncgen():
    """Runs the tool ``ncgen``."""
    _run("ncgen")


def nccopy():
    """Runs the tool ``nccopy``."""
    _run("nccopy")

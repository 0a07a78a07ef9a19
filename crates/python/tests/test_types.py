"""The types that the package tells: a type checker agrees with the package, with a program that uses it, and with the native module."""

import pathlib
import subprocess
import sys

import ferrocdf
import pytest
import typed_netcdf4
import typed_program
from ferrocdf import netCDF4

FOLDER = pathlib.Path(__file__).parent
SETTINGS = FOLDER.parent / "pyproject.toml"
PROGRAMS = [typed_program, typed_netcdf4]


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    """Runs a module of mypy, and fails on any message of it."""
    folder = tmp_path_factory.mktemp("mypy")

    def run(module, *arguments):
        command = [sys.executable, "-m", module, *map(str, arguments)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.startswith("Success"), done.stdout + done.stderr

    return run


def test_package_has_no_type_errors(check):
    check("mypy", "--config-file", SETTINGS, "--package", "ferrocdf")


def test_programs_that_use_the_package_have_the_types_they_expect(check):
    check("mypy", "--strict", "--config-file=", *(program.__file__ for program in PROGRAMS))


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_that_use_the_package_run(program, tmp_path):
    program.main(tmp_path)


def test_programs_use_all_names_of_the_package():
    text = "".join((FOLDER / f"{program.__name__}.py").read_text() for program in PROGRAMS)
    # The functions for dates are those of cftime; `stand_in` changes the whole process.
    others = {"date2index", "date2num", "num2date", "num2pydate", "stand_in"}
    names = [f"ferrocdf.{name}" for name in (*ferrocdf.__all__, "to_netcdf", "to_zarr")]
    names += [f"netCDF4.{name}" for name in netCDF4.__all__ if name not in others]
    assert [name for name in names if name not in text] == []


def test_signatures_of_the_native_module_are_those_of_its_stub(check):
    check("mypy.stubtest", "ferrocdf._ferrocdf")

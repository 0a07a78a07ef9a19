"""The types that the package tells: a type checker agrees with the package, with a program that uses it, and with the native module."""

import pathlib
import subprocess
import sys

import ferrocdf
import pytest
import typed_program

PROGRAM = pathlib.Path(typed_program.__file__)
SETTINGS = PROGRAM.parents[1] / "pyproject.toml"


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


def test_program_that_uses_the_package_has_the_types_it_expects(check):
    check("mypy", "--strict", "--config-file=", PROGRAM)


def test_program_that_uses_the_package_runs(tmp_path):
    typed_program.main(tmp_path)


def test_program_uses_all_names_of_the_package():
    text = PROGRAM.read_text()
    assert [name for name in (*ferrocdf.__all__, "to_netcdf", "to_zarr") if f"ferrocdf.{name}" not in text] == []


def test_signatures_of_the_native_module_are_those_of_its_stub(check):
    check("mypy.stubtest", "ferrocdf._ferrocdf")

"""What is around the module: the examples of the documents, the tools, the entry points."""

import doctest
import importlib.metadata
import pathlib
import subprocess
import sys

import ferrocdf
import ferrocdf.parts

PROJECT = pathlib.Path(__file__).parents[3]


def run_examples(readme, count):
    blocks = [part.split("```")[0] for part in readme.read_text().split("```python\n")[1:]]
    assert len(blocks) == count
    for block in blocks:
        exec(compile(block, str(readme), "exec"), {})


def test_examples_of_the_project_run(monkeypatch, capsys):
    monkeypatch.chdir(PROJECT)
    run_examples(PROJECT / "README.md", 1)
    assert "group north" in capsys.readouterr().out


def test_examples_of_the_package_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_examples(PROJECT / "crates/python/README.md", 5)
    with ferrocdf.open("crabs.nc") as data:
        assert data["coolness"].chunks == (100,) and len(data["coolness"]) == 250


def test_example_of_the_module_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for module, examples in ((ferrocdf, 5), (ferrocdf.parts, 9)):
        found = doctest.testmod(module)
        assert found.attempted == examples and found.failed == 0


def test_tools_are_commands(tmp_path):
    place = tmp_path / "a.nc"
    ferrocdf.open(place, "w").close()
    scripts = importlib.metadata.distribution("ferrocdf").entry_points.select(group="console_scripts")
    assert sorted(script.name for script in scripts) == ["ferrocdf", "ferrocdf-nccopy", "ferrocdf-ncdump", "ferrocdf-ncgen"]
    for script in scripts:
        if script.name == "ferrocdf-ncdump":
            call = f"import sys; sys.argv[1:] = [{str(place)!r}]; from {script.module} import {script.attr}; {script.attr}()"
            done = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, check=True)
            assert done.stdout == "netcdf a {\n}\n"

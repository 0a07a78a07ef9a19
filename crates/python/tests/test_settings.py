"""Settings of a process, each in a process of its own."""

import os
import subprocess
import sys

READ = """
import numpy as np, ferrocdf
def read():
    data = ferrocdf.open(None, "w")
    data.create_variable("v", dimensions=["x"], data=np.zeros(1_000_000), chunks=[1000], compression="deflate")[...]
"""


def _run(program, **environment):
    return subprocess.run([sys.executable, "-c", READ + program], capture_output=True, text=True, env={**os.environ, **environment})


def test_settings_hold_from_the_first_read():
    done = _run("ferrocdf.configure(threads=2, cache=1000)\nread()\nferrocdf.configure(threads=2)\nferrocdf.configure(threads=3)")
    assert "InvalidArgument: the number of threads cannot change any more: 2 is in use" in done.stderr, done.stderr
    done = _run("read()\nferrocdf.configure(cache=2000)", FERROCDF_CACHE="1000")
    assert "the size of the cache cannot change any more: 1000 is in use" in done.stderr, done.stderr


def test_outside_of_a_worker_the_environment_stays_as_it_is():
    done = _run("import distributed.worker, os, importlib\nimportlib.reload(ferrocdf)\nassert 'FERROCDF_THREADS' not in os.environ")
    assert done.returncode == 0, done.stderr

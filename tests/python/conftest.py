"""The module as it stands in the tree, over the library that $TYCHE_LIBRARY names; the program is $TYCHE_PROGRAM."""
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
if not os.environ.get("TYCHE_TEST_INSTALLED"):
    sys.path.insert(0, str(ROOT / "python"))
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs in the background is deaf to Ctrl-C


@pytest.fixture(scope="session")
def program():
    """The program, as a function: the words of a call, to what it prints."""
    path = os.environ.get("TYCHE_PROGRAM")
    if not path:
        pytest.skip("TYCHE_PROGRAM names no program to compare with")

    def run(*args, json_out=False):
        done = subprocess.run([path, *map(str, args)] + (["--json"] if json_out else []), capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout) if json_out else done.stdout

    return run


@pytest.fixture(scope="session")
def exp():
    import tyche

    return tyche.datasets.exp(pairs=20, seed=3)

"""Runs the code blocks of README.md, CONTRIBUTING.md and docs/ as tests.

Blocks marked ``python`` and ``bash`` run from top to bottom, each document in an empty folder of its own:
Python blocks share their names, bash blocks share the files and find `recordmill` on PATH. A block that
installs or clones something is left out by the line ``<!-- skip: next -->`` above it. Guides to training in a
framework, and with other libraries, are deep tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

BASH_LIMIT_S = 100

# Modules that pass names on to Keras, also the names that pytest looks for; the fast tests have no Keras.
collect_ignore = [f"src/recordmill/compat/tensorflow/keras/{name}.py" for name in ("__init__", "backend", "callbacks")]


def _enter_empty_folder(namespace: dict[str, Any]) -> None:
    folder = tempfile.TemporaryDirectory(prefix="recordmill-docs-")
    namespace["_before"] = (Path.cwd(), os.environ.get("XDG_CACHE_HOME"), folder)
    os.environ["XDG_CACHE_HOME"] = folder.name
    os.chdir(folder.name)


def _leave_folder(namespace: dict[str, Any]) -> None:
    cwd, cache, folder = namespace["_before"]
    os.chdir(cwd)
    if cache is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = cache
    folder.cleanup()


def _run_bash(example: Example) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", example.parsed],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=BASH_LIMIT_S,
        env={**os.environ, "PATH": path},
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"exit code {done.returncode} from\n{example.parsed}\n{done.stdout}")


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), CodeBlockParser("bash", _run_bash), SkipParser()],
    patterns=["README.md", "CONTRIBUTING.md", "docs/*.md", "docs/**/*.md"],
    setup=_enter_empty_folder,
    teardown=_leave_folder,
).pytest()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the blocks of guides that need a framework."""
    for item in items:
        if item.path.name.startswith(("training-", "augmenting")):
            item.add_marker(pytest.mark.deep)
            item.add_marker(pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"))  # Keras's

"""Run the code blocks of README.md, CONTRIBUTING.md and docs/ as tests.

Blocks marked ``python`` and ``bash`` run from top to bottom, each document in its own empty folder. Python blocks of a
document share their names; bash blocks share the files and find `recordmill` on PATH. The line ``<!-- skip: next -->``
skips the block after it, which installs or clones something. Guides that need a framework are deep tests.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

BASH_LIMIT_S = 100
# Tests that start Ray send no statistics, and use the loopback address.
os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0")

# These modules forward names to frameworks, also those that pytest looks up, and fast tests run without frameworks.
collect_ignore = [
    *(f"src/recordmill/compat/tensorflow/keras/{name}.py" for name in ("__init__", "backend", "callbacks")),
    *(f"src/recordmill/adapters/{name}/__init__.py" for name in ("keras", "torch")),
]


def _enter_empty_folder(namespace: dict[str, Any]) -> None:
    folder = tempfile.TemporaryDirectory(prefix="recordmill-docs-")
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    namespace["_before"] = (Path.cwd(), os.environ.get("XDG_CACHE_HOME"), folder, handlers)
    os.environ["XDG_CACHE_HOME"] = folder.name
    os.chdir(folder.name)


def _leave_folder(namespace: dict[str, Any]) -> None:
    cwd, cache, folder, handlers = namespace["_before"]
    for number, handler in handlers.items():  # Ray replaces them.
        signal.signal(number, handler)
    os.chdir(cwd)
    if cache is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = cache
    folder.cleanup()


def _run_bash(example: Example) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    process = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", example.parsed],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=BASH_LIMIT_S,
        env={**os.environ, "PATH": path},
        check=False,
    )
    if process.returncode:
        raise AssertionError(f"exit code {process.returncode} from\n{example.parsed}\n{process.stdout}")


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), CodeBlockParser("bash", _run_bash), SkipParser()],
    patterns=["README.md", "CONTRIBUTING.md", "docs/*.md", "docs/**/*.md"],
    setup=_enter_empty_folder,
    teardown=_leave_folder,
    fixtures=["_object_store_of_guide"],
).pytest()


@pytest.fixture(autouse=True)
def _folder_of_examples(request: pytest.FixtureRequest) -> None:
    """Run examples of docstrings in a folder with the files that docs/reference/index.md describes."""
    if not isinstance(request.node, pytest.DoctestItem):
        return
    request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))
    import numpy as np

    import recordmill as rm

    request.getfixturevalue("doctest_namespace").update(Path=Path, np=np, rm=rm)
    if "photo.jpg" not in request.node.dtest.docstring and "train.tfrecord" not in request.node.dtest.docstring:
        return
    from PIL import Image

    photo = np.arange(48 * 64 * 3, dtype=np.uint8).reshape(48, 64, 3)
    Image.fromarray(photo).save("photo.jpg")
    Image.fromarray(photo[..., 0]).save("mask.png")
    with rm.ShardWriter("train.tfrecord") as writer:
        for label in range(8):
            writer.write({"image": Path("photo.jpg").read_bytes(), "label": label})


@pytest.fixture(scope="session")
def _bucket() -> Iterator[dict[str, str]]:
    """Start an object store with the bucket of docs/guide/remote-data.md; return the environment variables for it."""
    from tests.remote.object_store import MotoServer, create_environment

    with MotoServer() as server:
        server.run("create", "my-bucket")
        yield create_environment(server.url)


@pytest.fixture
def _object_store_of_guide(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the blocks of the guide "Remote data" use a bucket on this machine."""
    if request.node.path.name == "remote-data.md":
        for name, value in request.getfixturevalue("_bucket").items():
            monkeypatch.setenv(name, value)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the blocks of guides, and the examples of docstrings, that need a framework, pyarrow or obstore."""
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name.endswith((".to_arrow", ".iter_arrow", ".to_pandas")):
            item.add_marker(pytest.mark.deep)
        if item.path.name.startswith(("training-", "augmenting", "arrow", "remote-", "cluster")):
            item.add_marker(pytest.mark.deep)
            item.add_marker(pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"))  # Keras's
        if item.path.name == "cluster.md":  # Ray leaves its processes to the system, and warns about itself.
            for warning in (
                "ResourceWarning",
                "UserWarning",  # Arrays of Arrow are read-only.
                "FutureWarning",
                "DeprecationWarning",
                "pytest.PytestUnraisableExceptionWarning",
            ):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{warning}"))

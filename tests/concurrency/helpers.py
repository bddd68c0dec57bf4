"""Helpers for tests of worker pools: values, what a process has open, scripts that run in a process of their own."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from recordmill.types import Ragged

PATIENCE_S = 60.0


def wait_until(condition: Callable[[], Any], patience_s: float = PATIENCE_S) -> bool:
    """Wait until a condition is true; return its last value."""
    deadline = time.monotonic() + patience_s
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    return bool(condition())


def num_threads() -> int:
    """Return the number of threads of this process, including native ones."""
    return len(os.listdir("/proc/self/task"))


def descriptors() -> int:
    return len(open_descriptors())


def open_descriptors() -> list[str]:
    """Return number and target of each descriptor of this process."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the one that the list was read with
            found.append(f"{name}: {os.readlink(f'/proc/self/fd/{name}')}")
    return found


def child_processes(process: int | None = None) -> list[int]:
    """Return the children of a process, this one by default, including zombies."""
    parent, found = process or os.getpid(), []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(stat.parent.name))
    return found


def is_running(process: int) -> bool:
    try:
        text = Path(f"/proc/{process}/stat").read_text("utf-8", "replace")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


@contextmanager
def check_no_leftovers() -> Iterator[None]:
    """Check that no threads, descriptors or child processes remain, perhaps after a moment.

    There may be fewer threads than before, as a fork may end threads of native libraries.
    """
    gc.collect()  # what earlier tests have left
    before, files = (num_threads(), descriptors(), sorted(child_processes())), open_descriptors()
    yield
    assert wait_until(
        lambda: num_threads() <= before[0] and descriptors() <= before[1] and sorted(child_processes()) == before[2]
    ), (
        f"threads, descriptors, children were {before}, are {num_threads(), descriptors(), child_processes()}; "
        f"{[thread.name for thread in threading.enumerate()]}; new are {sorted(set(open_descriptors()) - set(files))}"
    )


def run_script(text: str, folder: Path, *, name: str = "script.py") -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own and wait for it."""
    with running_script(text, folder, name=name) as process:
        out, err = process.communicate(timeout=PATIENCE_S)
    return subprocess.CompletedProcess(name, process.returncode, out, err)


@contextmanager
def running_script(text: str, folder: Path, *, name: str = "script.py") -> Iterator[subprocess.Popen[str]]:
    """Run a script in a process of its own, with its output in pipes."""
    path = folder / name
    path.write_text(text, "utf-8")
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, str(path)], stdout=pipe, stderr=pipe, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def call_until_interrupted(go_on: Callable[[], Any], after_s: float = 0.002) -> None:
    """Call a function repeatedly until a simulated Ctrl-C arrives."""
    main = threading.main_thread().ident
    timer = threading.Timer(after_s, lambda: signal.pthread_kill(main or 0, signal.SIGINT))
    try:
        timer.start()
        while True:
            go_on()
    except KeyboardInterrupt:
        timer.join()


def build_mixed_batch(number: int) -> dict[str, Any]:
    """Return a batch with values of many types and sizes."""
    rng = np.random.default_rng(number)
    return {
        "image": rng.integers(0, 255, (4, 32, 32, 3), np.uint8),
        "large": rng.random((3, 70_000), np.float32),
        "empty": np.zeros((0, 5), np.int16),
        "fortran": np.asfortranarray(rng.random((40, 50))),
        "part": rng.random((200, 100))[::2, 1::3],
        "text": Ragged.from_rows([b"x" * n for n in range(number % 7)]),
        "deep": Ragged(Ragged.from_rows([b"ab", b"", b"c" * 9000]), np.array([0, 1, 3])),
        "names": [b"a" * 5000, b"", b"\0"],
        "rows": [np.arange(n * 1000) for n in range(3)],
        "number": number,
        "scalar": np.float32(number),
        "none": None,
        "word": "ü",
    }


def are_equal(first: Any, second: Any) -> bool:
    """Compare two values by type, dtype, shape and content."""
    if type(first) is not type(second):
        return False
    if isinstance(first, dict):
        return list(first) == list(second) and all(are_equal(first[name], second[name]) for name in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(are_equal, first, second))
    if isinstance(first, Ragged):
        return are_equal(first.data, second.data) and are_equal(first.row_splits, second.row_splits)
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and first.shape == second.shape and bool((first == second).all())
    return bool(first == second)

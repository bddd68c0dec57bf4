"""Runs cases in a child process, so that one that kills the framework is recorded as a crash.

The child is the same script with `CHILD` as first argument; it gets the names of the cases, prints one
JSON line as each is finished, and is started again behind the case in which it died.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

CHILD = "--child"


def _describe(returncode: int) -> dict[str, Any]:
    if returncode < 0:
        return {"signal": signal.Signals(-returncode).name}
    return {"exit_code": returncode}


def _limit(gigabytes: int | None) -> Callable[[], None] | None:
    if gigabytes is None:
        return None
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))


def _run_child(
    script: Path, names: Sequence[str], folder: Path, memory_gb: int | None, timeout: float
) -> tuple[list[dict[str, Any]], int, list[str]]:
    child = subprocess.run(
        [sys.executable, str(script), CHILD, str(folder), *names],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=timeout,
        preexec_fn=_limit(memory_gb),
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""},
    )
    lines = [json.loads(line[6:]) for line in child.stdout.splitlines() if line.startswith("FOUND ")]
    return lines, child.returncode, child.stderr.splitlines()


def run_cases(
    script: Path,
    names: Sequence[str],
    folder: Path,
    *,
    memory_gb: int | None = None,
    at_once: int | None = None,
    timeout: float = 300,
) -> dict[str, Any]:
    """Return what the child found for each name: its JSON value, or {"crash": {...}, "log": [...]}.

    `at_once` limits the cases of one process. With 1, a process that dies after its answer is a crash too.
    """
    found: dict[str, Any] = {}
    waiting = list(names)
    while waiting:
        lines, status, log = _run_child(script, waiting[:at_once], folder, memory_gb, timeout)
        found.update({line["name"]: line["found"] for line in lines})
        died_in = waiting[0] if at_once == 1 else waiting[len(lines)] if len(lines) < len(waiting) else None
        if status and died_in is not None:
            found[died_in] = {"crash": _describe(status), "log": log}
        elif not lines:
            raise RuntimeError("\n".join(["the child ended without an answer", *log]))
        waiting = [name for name in waiting if name not in found]
    return found


def child_main(look: Callable[[Path, str], Any], arguments: Sequence[str]) -> None:
    """Answer the cases named in the arguments, as `run_cases` asks for them."""
    folder, names = Path(arguments[0]), arguments[1:]
    for name in names:
        answer = look(folder, name)
        print("FOUND " + json.dumps({"name": name, "found": answer}), flush=True)

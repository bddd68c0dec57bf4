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


def run_cases(
    script: Path, names: Sequence[str], folder: Path, *, memory_gb: int | None = None, timeout: float = 300
) -> dict[str, Any]:
    """Return what the child found for each name: its JSON value, or {"crash": {...}, "log": [...]}."""
    found: dict[str, Any] = {}
    waiting = list(names)
    while waiting:
        child = subprocess.run(
            [sys.executable, str(script), CHILD, str(folder), *waiting],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            preexec_fn=_limit(memory_gb),
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""},
        )
        lines = [json.loads(line[6:]) for line in child.stdout.splitlines() if line.startswith("FOUND ")]
        found.update({line["name"]: line["found"] for line in lines})
        waiting = waiting[len(lines) :]
        if waiting and child.returncode:
            found[waiting.pop(0)] = {"crash": _describe(child.returncode), "log": child.stderr.splitlines()}
        elif waiting:
            raise RuntimeError(f"the child ended early without an error: {child.stdout}{child.stderr}")
    return found


def child_main(look: Callable[[Path, str], Any], arguments: Sequence[str]) -> None:
    """Answer the cases named in the arguments, as `run_cases` asks for them."""
    folder, names = Path(arguments[0]), arguments[1:]
    for name in names:
        answer = look(folder, name)
        print("FOUND " + json.dumps({"name": name, "found": answer}), flush=True)

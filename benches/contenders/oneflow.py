"""Programs for OneFlow with OneFlow 0.9.0, in the environment in which the test recordings were made."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benches.contenders.ours_programs import arrays
from benches.environments import UnavailableError
from benches.jobs import Job
from benches.programs import for_oneflow

__all__ = ["arrays"]
ENVIRONMENT = "oneflow"
REQUIREMENTS = ("oneflow==0.9.0", "numpy==1.23.5")
VARIANTS = {"of-photos": ("",)}
_RECORDINGS = Path(__file__).parents[2] / "tests" / "recordings"


def interpreter() -> str:
    """Return the interpreter of an environment with OneFlow, CPython 3.10 and CUDA libraries; no GPU is used.

    Returns
    -------
    str

    Raises
    ------
    UnavailableError
        If OneFlow cannot be installed.
    """
    command = [sys.executable, str(_RECORDINGS / "environments.py"), "oneflow"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnavailableError((done.stderr.strip().splitlines() or ["OneFlow cannot be installed"])[-1])
    return done.stdout.strip()


def prepare(_: Job) -> None:
    """Do nothing, because `ours_programs` has packed the parts."""


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Run the program; yield item counts and results."""
    sys.path.insert(0, str(_RECORDINGS))
    from recipes.oneflow_runtime import find_cuda_libraries

    find_cuda_libraries()
    import oneflow as flow

    yield from for_oneflow.photographs(flow, job)

"""One measurement in a fresh process of a contender's environment: check what is delivered, then take the time.

Usage: python -m benches.worker prepare|measure JOB
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import platform
import re
import sys
import time
from dataclasses import replace
from types import ModuleType
from typing import Any

from benches.digest import Digest
from benches.jobs import Job
from benches.usage import busy_seconds, own_seconds

# Passes that are not counted at first: threads start, buffers grow.
_WARM_UP_S = 1.0


class Clock:
    """Wall time and CPU time from now on."""

    def __init__(self) -> None:
        self.start, self.own, self.busy = time.perf_counter(), own_seconds(), busy_seconds()

    def read(self, num_items: int) -> dict[str, float]:
        """Rate since the start, and the cores that this process tree and all others kept busy."""
        elapsed = time.perf_counter() - self.start
        cores = (own_seconds() - self.own) / elapsed
        others = max(0.0, (busy_seconds() - self.busy) / elapsed - cores)
        return {"rate": num_items / elapsed, "cores": cores, "others": others}


def _check(module: ModuleType, job: Job) -> dict[str, Any]:
    """Digest of one pass over all data."""
    job = replace(job, checking=True)
    if hasattr(module, "checked"):
        return dict(module.checked(job))
    digest = Digest()
    for _, delivered in module.run(job):
        if delivered is None:
            continue
        if job.task_name.startswith("P3"):
            digest.add_columns(module.columns(job, delivered))
        else:
            digest.add_payloads(module.payloads(job, delivered))
    return digest.to_json()


def _measure_passes(module: ModuleType, job: Job) -> dict[str, float]:
    """Rate of passes over the data, one after another, from the end of the warming up."""
    clock, num_items, ready = None, 0, time.perf_counter() + min(_WARM_UP_S, job.seconds)
    while True:
        count = 0
        for count, _ in module.run(job):
            if clock is None:
                if time.perf_counter() >= ready:
                    clock = Clock()
                continue
            num_items += count
            if time.perf_counter() - clock.start >= job.seconds:
                return clock.read(num_items)
        if not count:
            raise RuntimeError("a pass over the data delivers nothing")


def _measure_pack(module: ModuleType, job: Job) -> tuple[dict[str, float], dict[str, Any]]:
    """Rate of one run from call to end, and the digest of what it wrote."""
    job.empty_out()
    module.load(job)
    os.sync()
    clock = Clock()
    figures = clock.read(sum(count for count, _ in module.run(job)))
    digest = Digest()
    digest.add_images(module.images(job))
    return figures, digest.to_json()


def measure(module: ModuleType, job: Job) -> dict[str, Any]:
    """Check and measure.

    Parameters
    ----------
    module : module
        Of the contender.
    job : Job

    Returns
    -------
    dict
        ``figures``, ``digest`` and ``versions``.
    """
    digest: dict[str, Any] = {}
    if job.task.measure == "value":
        figures = module.figures(job)
    elif job.task.measure == "pack":
        figures, digest = _measure_pack(module, job)
    else:
        if job.task_name != "limits":
            digest = _check(module, job)
        figures = _measure_passes(module, job)
    return {"figures": figures, "digest": digest, "versions": _versions(module)}


def _versions(module: ModuleType) -> dict[str, str]:
    names = [re.split("[<>=]", requirement)[0] for requirement in module.REQUIREMENTS]
    return {name: importlib.metadata.version(name) for name in names} | {"Python": platform.python_version()}


def main() -> None:
    """Do what the command line says and print the result as the last line."""
    job = Job(**json.loads(sys.argv[2]))
    module = importlib.import_module(f"benches.contenders.{job.contender}")
    if sys.argv[1] == "prepare":
        module.prepare(job)
        result: dict[str, Any] = {"figures": {}}
    else:
        result = measure(module, job)
    print("RESULT " + json.dumps(result), flush=True)
    # Threads of the peers may hang at the usual exit.
    os._exit(0)


if __name__ == "__main__":
    main()

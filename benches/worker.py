"""Run one measurement in a new process of a contender's environment: check the results, then measure the time.

Usage: python -m benches.worker prepare|measure JOB
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from benches.digest import Digest
from benches.jobs import Job
from benches.likeness import Likeness
from benches.usage import busy_seconds, own_seconds

# Seconds before the measurement starts, in which threads start and buffers grow.
_WARM_UP_S = 1.0


class Clock:
    """Measures wall time and CPU time from its creation on."""

    def __init__(self) -> None:
        self.start, self.own, self.busy = time.perf_counter(), own_seconds(), busy_seconds()

    def read(self, num_items: int) -> dict[str, float]:
        """Return the rate since the start, and how many cores this process tree and all others kept busy."""
        elapsed = time.perf_counter() - self.start
        cores = (own_seconds() - self.own) / elapsed
        others = max(0.0, (busy_seconds() - self.busy) / elapsed - cores)
        rate = num_items / elapsed
        return {"rate": rate, "cores": cores, "others": others, "rate_per_core": rate / max(cores, 0.01)}


def _check(module: ModuleType, job: Job) -> dict[str, Any]:
    """Return the digest of one pass over all data; colors of crops are saved to a file instead."""
    job = replace(job, is_check_pass=True)
    if hasattr(module, "checked"):
        return dict(module.checked(job))
    digest, likeness = Digest(), Likeness(job.task.recipe)
    for _, delivered in module.run(job):
        if job.task.compare == "columns":
            digest.add_columns(module.columns(job, delivered))
        elif job.task.compare == "payloads":
            digest.add_payloads(module.payloads(job, delivered))
        elif job.task.compare == "records":
            digest.add_images(module.records(job, delivered))
        elif job.task.compare == "pixels":
            digest.add_images(_digits(*module.arrays(job, delivered)))
        elif job.task.compare == "twin":
            digest.add_images(_pictures(*module.arrays(job, delivered)))
        else:
            likeness.add(*module.arrays(job, delivered))
    if job.task.compare in ("crops", "center"):
        os.makedirs(job.out, exist_ok=True)
        likeness.save(job.delivered)
    return digest.to_json()


def _pictures(images: Any, labels: Any) -> Iterator[tuple[bytes, int]]:
    """Yield dtype, shape and pixels of each image as bytes, and its label."""
    for image, label in zip(np.asarray(images), np.asarray(labels).reshape(-1).tolist(), strict=True):
        yield f"{image.dtype} {image.shape} ".encode() + image.tobytes(), int(label)


def _digits(images: Any, labels: Any) -> Iterator[tuple[bytes, int]]:
    """Yield the pixels of digits as bytes, and labels; raise ValueError if a value is not an 8-bit level over 255."""
    levels = np.asarray(images, np.float64).reshape(-1, 28 * 28) * 255
    if np.asarray(images).dtype != np.float32 or np.abs(levels - levels.round()).max() > 1e-4:
        raise ValueError("digits must be float32 levels from 0 to 1")
    for level, label in zip(levels.round().astype(np.uint8), np.asarray(labels).reshape(-1).tolist(), strict=True):
        yield level.tobytes(), int(label)


def _measure_passes(module: ModuleType, job: Job) -> dict[str, float]:
    """Measure the rate of consecutive passes over the data after a warm-up."""
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
            raise RuntimeError("a pass over the data yielded no batch")


def _measure_start(module: ModuleType, job: Job) -> dict[str, float]:
    """Measure the seconds from process start to first batch, and the megabytes of the batches in flight."""
    clock, first_s, in_flight_mb, num_items = Clock(), 0.0, 0.0, 0
    for count, delivered in module.run(job):
        num_items += count
        if not first_s:
            first_s = time.monotonic() - float(os.environ["RECORDMILL_BENCH_STARTED"])
            in_flight_mb = module.arrays(job, delivered)[0].nbytes / 1e6 * getattr(module, "BATCHES_IN_FLIGHT", 1)
        if time.perf_counter() - clock.start >= job.seconds:
            break
    return clock.read(num_items) | {"first_s": first_s, "in_flight_mb": in_flight_mb}


def _measure_pack(module: ModuleType, job: Job) -> tuple[dict[str, float], dict[str, Any]]:
    """Measure the rate of one packing run; return it with the digest of the packed files."""
    job.empty_out()
    module.load(job)
    os.sync()
    clock = Clock()
    figures = clock.read(sum(count for count, _ in module.run(job)))
    digest = Digest()
    digest.add_images(module.images(job))
    return figures, digest.to_json()


def measure(module: ModuleType, job: Job) -> dict[str, Any]:
    """Check the results of a contender if requested, and measure it.

    Parameters
    ----------
    module : module
        Module of the contender.
    job : Job

    Returns
    -------
    dict
        ``figures``, ``digest`` and ``versions``.
    """
    digest: dict[str, Any] = {}
    if job.task.measure == "value":
        figures = module.figures(job)
    elif job.task.measure == "start":
        figures = _measure_start(module, job)
    elif job.task.measure == "pack":
        figures, digest = _measure_pack(module, job)
    else:
        if job.check:
            digest = _check(module, job)
        figures = _measure_passes(module, job)
    return {"figures": figures, "digest": digest, "versions": _versions(module)}


def _versions(module: ModuleType) -> dict[str, str]:
    # Imported here, because they take 50 ms, which would add to the contender's time to the first batch.
    import importlib.metadata
    import platform
    import re

    names = [re.split("[<>=]", requirement)[0] for requirement in (*getattr(module, "BUILT", ()), *module.REQUIREMENTS)]
    return {name: importlib.metadata.version(name) for name in names} | {"Python": platform.python_version()}


def main() -> None:
    """Run the action of the command line, and print its result as the last line."""
    job = Job(**json.loads(sys.argv[2]))
    module = importlib.import_module(f"benches.contenders.{job.contender}")
    if sys.argv[1] == "prepare":
        module.prepare(job)
        result: dict[str, Any] = {"figures": {}}
    else:
        result = measure(module, job)
    print("RESULT " + json.dumps(result), flush=True)
    # A normal exit may hang, because contenders may leave threads running.
    os._exit(0)


if __name__ == "__main__":
    main()

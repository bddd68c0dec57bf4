"""CPU time of recordmill's loader while the consumer keeps a batch and all prefetched batches are ready."""

from __future__ import annotations

import time

from benches.contenders.ours_images import BATCHES_IN_FLIGHT, prepare, run
from benches.jobs import Job
from benches.usage import own_seconds

LABEL = "ours"
__all__ = ["prepare"]
ENVIRONMENT = ""
REQUIREMENTS = ("recordmill", "numpy")
VARIANTS = {"waiting": ("",)}
# Minimum time for the queues to fill up; the time is longer if the first batches took long.
_FILLING_S = 1.0


def figures(job: Job) -> dict[str, float]:
    """Keep one batch until the queues are full, and measure the CPU time from then on."""
    start, batches = time.perf_counter(), run(job)
    for _ in range(BATCHES_IN_FLIGHT + 1):
        next(batches)
    time.sleep(max(_FILLING_S, 3 * (time.perf_counter() - start)))
    start, before = time.perf_counter(), own_seconds()
    time.sleep(job.seconds)
    spent = (own_seconds() - before) / (time.perf_counter() - start)
    next(batches)
    return {"waiting_percent": spent * 100}

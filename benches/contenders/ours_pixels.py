"""recordmill's `decode_batch`: one call per batch, and one large photograph per call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

from benches.contenders.ours_images import spec_of
from benches.jobs import Job
from benches.tasks.pixels import CROP, QUICK_CROP

LABEL = "ours"
ENVIRONMENT = ""
REQUIREMENTS = ("recordmill", "numpy")
VARIANTS = {"image-threads": ("1 thread", "2 threads"), "image-large": (CROP, QUICK_CROP)}


def prepare(_: Job) -> None:
    """Do nothing, because the contender reads the image files."""


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Decode all photographs again and again."""
    yield from _batches(job) if job.task_name == "image-threads" else _single(job)


def _batches(job: Job) -> Iterator[tuple[int, Any]]:
    import numpy as np

    import recordmill as rm

    files = [Path(path).read_bytes() for path, _ in job.rows()[: job.num_records]]
    out = {"image": np.empty((len(files), 3, 224, 224), np.float32)}
    specs, epoch = {"image": spec_of(job)}, 0
    while True:
        batch = rm.decode_batch(files, specs, rng=1, epoch=epoch, threads=int(job.variant[0]), out=out)
        yield len(files), batch
        epoch += 1


def _single(job: Job) -> Iterator[tuple[int, Any]]:
    import recordmill as rm

    spec = spec_of(job)
    specs = {"image": replace(spec, reduce="auto") if job.variant == QUICK_CROP else spec}
    for data in cycle([Path(path).read_bytes() for path, _ in job.rows()]):
        yield 1, rm.decode_batch([data], specs)

"""Programs for MXNet: load batches of photographs with ImageRecordIter, and read single records."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from benches.jobs import Job, count_in_chunks
from benches.steps import MEAN, SHORTER, SIDE, STD
from benches.tasks.programs import IN_ORDER

_CENTER_SIDE = 227


def photographs(mx: Any, job: Job) -> Iterator[tuple[int, Any]]:
    """Yield batches of center crops, or of random crops with flips and normalization; one epoch in the check pass.

    Parameters
    ----------
    mx : module
        MXNet or `recordmill.compat.mxnet`.
    job : Job

    Yields
    ------
    int
        Number of samples of the batch.
    DataBatch
    """
    if job.task.recipe == "crop":
        options: dict[str, Any] = {"data_shape": (3, SIDE, SIDE), "shuffle": True, "rand_mirror": True}
        options |= {"random_resized_crop": True, "min_random_area": 0.08, "max_random_area": 1.0}
        options |= {"min_aspect_ratio": 3 / 4, "max_aspect_ratio": 4 / 3}
        options |= dict(zip(("mean_r", "mean_g", "mean_b"), MEAN, strict=True))
        options |= dict(zip(("std_r", "std_g", "std_b"), STD, strict=True))
    else:
        options = {"data_shape": (3, _CENTER_SIDE, _CENTER_SIDE), "resize": SHORTER}
    iterator = mx.io.ImageRecordIter(
        path_imgrec=job.packed(".rec"),
        batch_size=job.num_records,
        preprocess_threads=2,
        prefetch_buffer=4,
        verbose=False,
        **options,
    )
    while True:
        for batch in iterator:
            batch.data[0].wait_to_read()
            yield job.num_records - batch.pad, batch
        if job.is_check_pass:
            return
        iterator.reset()


def records(mx: Any, job: Job) -> Iterator[tuple[int, Any]]:
    """Yield unpacked records in order or at random positions; each record once in the check pass.

    Parameters
    ----------
    mx : module
    job : Job

    Yields
    ------
    int
    list or None
        Headers and images in the check pass.
    """
    reader = mx.recordio.MXIndexedRecordIO(job.packed(".idx"), job.packed(".rec"), "r")
    draw, size = random.Random(1), job.size
    places = range(size) if job.is_check_pass else (draw.randrange(size) for _ in range(4096))
    payloads = iter(reader.read, None) if job.variant == IN_ORDER else map(reader.read_idx, places)
    unpacked = map(mx.recordio.unpack, payloads)
    if job.is_check_pass:
        yield size, list(unpacked)
    else:
        yield from count_in_chunks(unpacked)

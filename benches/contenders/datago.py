"""datago, an image loader in Rust that decodes the files of a folder in its own threads and returns single samples.

OpenCV and NumPy crop, flip and normalize in the thread that takes the samples.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from benches.jobs import Job
from benches.steps import SIDE, Steps

ENVIRONMENT = "datago"
REQUIREMENTS = ("datago==2026.10.1", "opencv-python-headless==5.0.0.93", "numpy==2.4.6")
VARIANTS = dict.fromkeys(("P4a", "P4b", "P4c", "P4-large", "P4-progressive", "P6a"), ("cv2",)) | {"P5": ("",)}


def prepare(_: Job) -> None:
    """Do nothing, because the contender reads the image files."""


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Yield batches of one epoch after another; of a single epoch in the check pass."""
    samples = _samples(job)
    num_left = job.size if job.is_check_pass else -1
    while num_left:
        count = job.num_records if num_left < 0 else min(job.num_records, num_left)
        batch = _new_batch(job, count)
        for place in range(count):
            batch[0][place], batch[1][place] = next(samples)
        yield count, batch
        num_left -= count if num_left > 0 else 0


def _new_batch(job: Job, count: int) -> tuple[Any, Any]:
    shape = (28, 28) if job.task.recipe == "digit" else (SIDE, SIDE, 3)
    dtype = np.uint8 if job.task.recipe == "crop-uint8" else np.float32
    return np.empty((count, *shape), dtype), np.empty(count, np.int64)


def _samples(job: Job) -> Iterator[tuple[Any, int]]:
    """Yield transformed images and their labels, which are the names of the folders."""
    from datago import DatagoClient

    root = os.path.dirname(os.path.dirname(job.rows()[0][0]))
    source = {"root_path": root, "random_sampling": not job.is_check_pass, "rank": 0, "world_size": 1}
    settings = {"source_type": "file", "source_config": source, "limit": job.size, "samples_buffer_size": 256}
    client, steps = DatagoClient(json.dumps(settings)), Steps(job.task.recipe)
    while True:
        client.start()
        while (sample := client.get_sample()) is not None:
            pixels, label = sample.image.to_numpy_array(), int(sample.id.rsplit("/", 2)[1])
            if job.task.recipe == "digit":
                yield pixels.reshape(28, 28) * np.float32(1 / 255), label
            else:
                yield steps.pixels(pixels), label


def arrays(_: Job, delivered: Any) -> tuple[Any, Any]:
    """Return images and labels of a batch."""
    return delivered

"""datago, an image loader in Rust: a folder of files, decoded in threads of its own; samples reach Python one by one.

It decodes; cutting, mirroring and normalizing are OpenCV and NumPy in the thread that takes the samples.
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
    """Nothing to do: it reads the image files."""


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Epoch after epoch; one if results are compared."""
    samples = _samples(job)
    num_left = job.size if job.checking else -1
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
    """Images as they go into the batch, and labels, which are the names of the folders."""
    from datago import DatagoClient

    root = os.path.dirname(os.path.dirname(job.rows()[0][0]))
    source = {"root_path": root, "random_sampling": not job.checking, "rank": 0, "world_size": 1}
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
    """Images and labels of a batch."""
    return delivered

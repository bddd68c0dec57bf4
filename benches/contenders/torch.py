"""PyTorch's DataLoader with two worker processes over a folder of files, OpenCV decodes; plain files by position."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benches.jobs import Job
from benches.steps import Steps

ENVIRONMENT = "torch"
REQUIREMENTS = ("torch==2.13.0", "opencv-python-headless==5.0.0.93", "numpy==2.4.6")
_CV2 = ("cv2",)
VARIANTS = dict.fromkeys(("P4a", "P4b", "P4c", "P4-large", "P4-progressive", "P5", "P5-function", "P6a"), _CV2)
VARIANTS |= {"P6b": ("files of a folder",)}


class Folder:
    """Image files as a map-style data set.

    Parameters
    ----------
    job : Job
    """

    def __init__(self, job: Job) -> None:
        self._rows, self._steps = job.rows(), Steps(job.task.recipe)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: int) -> tuple[Any, int]:
        path, label = self._rows[place]
        return self._steps.file(Path(path).read_bytes()), label


def prepare(_: Job) -> None:
    """Nothing to do: it reads the image files."""


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """One endless epoch, so that the workers start once; one pass if results are compared."""
    if job.task_name == "P6b":
        yield from _by_position(job)
        return
    from torch.utils.data import DataLoader, RandomSampler

    folder = Folder(job)
    sampler = RandomSampler(
        range(len(folder)), replacement=not job.checking, num_samples=None if job.checking else 10**8
    )
    options = {"num_workers": 2, "prefetch_factor": 4, "drop_last": not job.checking}
    for batch in DataLoader(folder, job.num_records, sampler=sampler, **options):
        yield len(batch[1]), batch


def _by_position(job: Job) -> Iterator[tuple[int, Any]]:
    """Files at random positions, each once if results are compared."""
    rows, draw = job.rows(), random.Random(1)
    places = range(len(rows)) if job.checking else [draw.randrange(len(rows)) for _ in range(4096)]
    for place in places:
        with open(rows[place][0], "rb") as file:
            yield 1, (file.read(), rows[place][1])


def records(_: Job, delivered: Any) -> list[tuple[bytes, int]]:
    """Images and labels of records."""
    return [delivered]


def arrays(_: Job, delivered: Any) -> tuple[Any, Any]:
    """Images and labels of a batch."""
    return delivered[0].numpy(), delivered[1].numpy()

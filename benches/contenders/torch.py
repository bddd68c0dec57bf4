"""PyTorch's DataLoader with two worker processes and OpenCV on image files; and plain files by position."""

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
    """Map-style dataset of transformed image files.

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
    """Do nothing, because the contender reads the image files."""


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Yield batches of one endless epoch, so that workers start once; of one pass in the check pass."""
    if job.task_name == "P6b":
        yield from _by_position(job)
        return
    from torch.utils.data import DataLoader, RandomSampler

    folder = Folder(job)
    sampler = RandomSampler(
        range(len(folder)), replacement=not job.is_check_pass, num_samples=None if job.is_check_pass else 10**8
    )
    options = {"num_workers": 2, "prefetch_factor": 4, "drop_last": not job.is_check_pass}
    for batch in DataLoader(folder, job.num_records, sampler=sampler, **options):
        yield len(batch[1]), batch


def _by_position(job: Job) -> Iterator[tuple[int, Any]]:
    """Yield files at random positions; each file once in the check pass."""
    rows, draw = job.rows(), random.Random(1)
    places = range(len(rows)) if job.is_check_pass else [draw.randrange(len(rows)) for _ in range(4096)]
    for place in places:
        with open(rows[place][0], "rb") as file:
            yield 1, (file.read(), rows[place][1])


def records(_: Job, delivered: Any) -> list[tuple[bytes, int]]:
    """Return images and labels of records."""
    return [delivered]


def arrays(_: Job, delivered: Any) -> tuple[Any, Any]:
    """Return images and labels of a batch."""
    return delivered[0].numpy(), delivered[1].numpy()

"""recordmill's random access to records: single records, and batches."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from benches.jobs import Job

LABEL = "ours"
ENVIRONMENT = ""
REQUIREMENTS = ("recordmill", "numpy")
VARIANTS = {"P6b": ("one", "batch")}


def prepare(job: Job) -> None:
    """Index the shards."""
    import recordmill as rm

    rm.build_index(job.shards)


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Yield records at random positions; each record once in the check pass."""
    import recordmill as rm

    dataset, draw, step = rm.open(job.shards), random.Random(1), 1 if job.variant == "one" else job.num_records
    if job.is_check_pass:
        for start in range(0, len(dataset), step):
            yield step, _fetch(dataset, list(range(start, min(start + step, len(dataset)))))
        return
    size = job.size
    while True:
        yield step, _fetch(dataset, [draw.randrange(size) for _ in range(step)])


def _fetch(dataset: Any, places: list[int]) -> list[Any]:
    return [dataset[places[0]]] if len(places) == 1 else dataset.fetch(places)


def records(_: Job, delivered: Any) -> Iterator[tuple[bytes, int]]:
    """Return images and labels of records."""
    return ((record["image"], int(record["label"])) for record in delivered)

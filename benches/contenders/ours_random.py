"""recordmill's records by position: one at a time, and batches of them."""

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
    """Records at random positions, each once if results are compared."""
    import recordmill as rm

    dataset, draw, step = rm.open(job.shards), random.Random(1), 1 if job.variant == "one" else job.num_records
    if job.checking:
        for start in range(0, len(dataset), step):
            yield step, _fetched(dataset, list(range(start, min(start + step, len(dataset)))))
        return
    size = job.size
    while True:
        yield step, _fetched(dataset, [draw.randrange(size) for _ in range(step)])


def _fetched(dataset: Any, places: list[int]) -> list[Any]:
    return [dataset[places[0]]] if len(places) == 1 else dataset.fetch(places)


def records(_: Job, delivered: Any) -> Iterator[tuple[bytes, int]]:
    """Images and labels of records."""
    return ((record["image"], int(record["label"])) for record in delivered)

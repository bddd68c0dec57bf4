"""recordmill's readers, writers and loader for records and columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from benches import wire
from benches.jobs import Job

ENVIRONMENT = ""
REQUIREMENTS = ("recordmill", "numpy")
_PER_RECORD = ("ragged", "list")
VARIANTS = {
    "P1a": ("",),
    "P1b": ("",),
    "P2a": _PER_RECORD,
    "P2b": _PER_RECORD,
    "P2c": _PER_RECORD,
    "P3a": ("file order", "shuffled"),
    "P3b": ("",),
}


def prepare(job: Job) -> None:
    """Write the list file of the images."""
    if job.task.measure == "pack":
        job.write_list_file()


def load(job: Job) -> None:
    """Import the modules for packing before the time is measured."""
    import recordmill

    if job.task_name == "P1b":
        import PIL.JpegImagePlugin

        assert PIL.JpegImagePlugin
    assert recordmill.pack


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Run the task once; yield item counts and results."""
    import recordmill as rm

    if job.task.measure == "pack":
        options = {"encode": "jpeg", "quality": 95} if job.task_name == "P1b" else {}
        source = rm.ListFile(job.list_file, root=job.data)
        rm.pack(source, os.path.join(job.out, "photos"), format="tfrecord", shards=2, workers=2, **options)
        yield len(job.rows()), None
    elif job.task_name.startswith("P2"):
        # Read all shards as one stream, because array_record has all records in one file.
        with rm.ShardReader(job.shards) as reader:
            for ragged in reader.batches(job.task.num_records):
                yield len(ragged), list(ragged) if job.variant == "list" else ragged
    else:
        stage = {
            "last": "keep" if job.is_check_pass else "drop",
            "ragged": "pad" if job.task_name == "P3b" else "ragged",
        }
        dataset = rm.open(job.shards)
        dataset = dataset.shuffle(seed=1) if job.variant == "shuffled" else dataset
        for batch in dataset.batch(job.task.num_records, **stage).loader(threads=2):
            yield len(next(iter(batch.values()))), batch


def payloads(job: Job, delivered: Any) -> Iterable[bytes | memoryview]:
    """Return the records of a batch."""
    if job.variant == "list":
        return delivered
    splits, data = delivered.row_splits.tolist(), memoryview(delivered.data)
    return (data[start:stop] for start, stop in pairwise(splits))


def columns(_: Job, delivered: Any) -> dict[str, Any]:
    """Return the columns of a batch."""
    return delivered


def images(job: Job) -> Iterator[tuple[bytes, int]]:
    """Yield images and labels from the packed files."""
    for name in sorted(os.listdir(job.out)):
        if name.startswith("photos"):
            yield from map(wire.example_image, wire.tfrecord_payloads(os.path.join(job.out, name)))

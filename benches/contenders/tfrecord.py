"""The library `tfrecord`: pure Python with protobuf, without checksums on reading."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from benches import wire
from benches.jobs import Job, count_in_chunks

ENVIRONMENT = "tfrecord"
REQUIREMENTS = ("tfrecord==1.14.6", "protobuf==7.36.2", "crc32c==2.9.post0", "numpy==2.4.6")
VARIANTS = {"P1a": ("",), "P2a": ("no CRC",), "P2b": ("no CRC",), "P2c": ("no CRC",)}


def prepare(_: Job) -> None:
    """Do nothing, because the contender reads the datasets as they are."""


def load(_: Job) -> None:
    """Import the modules for packing before the time is measured."""
    import tfrecord

    assert tfrecord


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Run the task once; yield item counts and results."""
    if job.task.measure == "pack":
        yield _pack(job), None
        return
    from tfrecord.reader import tfrecord_iterator

    records = chain.from_iterable(map(tfrecord_iterator, job.shards))
    yield from ((1, record) for record in records) if job.is_check_pass else count_in_chunks(records)


def _pack(job: Job) -> int:
    import tfrecord

    writer, rows = tfrecord.TFRecordWriter(os.path.join(job.out, "photos.tfrecord")), job.rows()
    for path, label in rows:
        with open(path, "rb") as file:
            writer.write({"image": (file.read(), "byte"), "label": (label, "int")})
    writer.close()
    return len(rows)


def payloads(_: Job, delivered: Any) -> Iterable[memoryview]:
    """Return the record as a view, which the next record overwrites."""
    return [delivered]


def images(job: Job) -> Iterator[tuple[bytes, int]]:
    """Yield images and labels from the packed files."""
    return map(wire.example_image, wire.tfrecord_payloads(os.path.join(job.out, "photos.tfrecord")))

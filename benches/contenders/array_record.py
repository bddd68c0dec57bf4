"""ArrayRecord, the record files of Grain: uncompressed, with chunk hashes that are verified on reading.

Large records are written one per chunk, small ones 256 per chunk, which is faster for reading in order.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from typing import Any

from benches import wire
from benches.jobs import Job

ENVIRONMENT = "array_record"
REQUIREMENTS = ("array_record==0.8.6", "numpy==2.4.6")
_READ = ("ranges", "single")
VARIANTS = {"P1a": ("",), "P2a": _READ, "P2b": _READ, "P2c": _READ}
# Number of records per call of `read`.
_RANGE = {"P2a": 256, "P2b": 8192, "P2c": 8192}


def _path(job: Job) -> str:
    """Return the path of the task's records in this format."""
    return job.packed("-payloads.array_record")


def prepare(job: Job) -> None:
    """Convert the dataset, unless that was done before."""
    path = _path(job)
    if job.task.measure == "pass" and not os.path.exists(path):
        group = 1 if job.task.data == "big" else 256
        payloads = (payload for shard in job.shards for payload in wire.tfrecord_payloads(shard))
        _write(f"{path}.part", group, payloads)
        os.replace(f"{path}.part", path)


def _write(path: str, group: int, payloads: Iterable[bytes]) -> int:
    from array_record.python.array_record_module import ArrayRecordWriter

    writer, number = ArrayRecordWriter(path, f"group_size:{group},uncompressed"), 0
    for payload in payloads:
        writer.write(payload)
        number += 1
    writer.close()
    return number


def load(_: Job) -> None:
    """Import the modules for packing before the time is measured."""
    from array_record.python import array_record_module

    assert array_record_module


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Run the task once; yield item counts and results."""
    if job.task.measure == "pack":
        yield _write(os.path.join(job.out, "photos.array_record"), 1, _labeled(job)), None
    elif job.variant == "single":
        yield from _single(job)
    else:
        yield from _ranges(job)


def _labeled(job: Job) -> Iterator[bytes]:
    for path, label in job.rows():
        with open(path, "rb") as file:
            yield struct.pack("<i", label) + file.read()


def _single(job: Job) -> Iterator[tuple[int, Any]]:
    """Read one record per call; the reader prefetches in its own threads."""
    from array_record.python.array_record_module import ArrayRecordReader

    reader = ArrayRecordReader(_path(job))
    left = reader.num_records()
    while left:
        count = min(left, 256)
        batch = [reader.read() for _ in range(count)]
        left -= count
        yield count, batch


def _ranges(job: Job) -> Iterator[tuple[int, Any]]:
    """Read many records per call."""
    from array_record.python.array_record_module import ArrayRecordReader

    options = "readahead_buffer_size:16777216,max_parallelism:2"
    reader = ArrayRecordReader(_path(job), options)
    num_records, step = reader.num_records(), _RANGE[job.task_name]
    for start in range(0, num_records, step):
        batch = reader.read(start, min(num_records, start + step))
        yield len(batch), batch


def payloads(_: Job, delivered: Any) -> Iterable[bytes]:
    """Return the records of a batch."""
    return delivered


def images(job: Job) -> Iterator[tuple[bytes, int]]:
    """Yield images and labels from the packed files."""
    from array_record.python.array_record_module import ArrayRecordReader

    reader = ArrayRecordReader(os.path.join(job.out, "photos.array_record"))
    for _ in range(reader.num_records()):
        record = reader.read()
        yield record[4:], struct.unpack_from("<i", record)[0]

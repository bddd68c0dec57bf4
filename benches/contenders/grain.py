"""Grain on ArrayRecord with two threads and OpenCV as decoder; and ArrayRecord by position."""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benches.jobs import Job
from benches.steps import Steps, decode_raw_digit

ENVIRONMENT = "grain"
REQUIREMENTS = ("grain==0.2.18", "array_record==0.8.6", "opencv-python-headless==5.0.0.93", "numpy==2.4.6")
_CV2 = ("cv2",)
VARIANTS = {
    "P4a": _CV2,
    "P4b": _CV2,
    "P4c": _CV2,
    "P4-large": _CV2,
    "P4-progressive": _CV2,
    "P5": _CV2,
    "P5-arrays": ("",),
    "P6a": _CV2,
    "P6b": ("one", "batch"),
}
_LABEL = struct.Struct("<i")


def _path(job: Job) -> str:
    return job.packed("-labeled.array_record")


def prepare(job: Job) -> None:
    """Write each label and image as one record, unless that was done before."""
    if not os.path.exists(_path(job)):
        from array_record.python.array_record_module import ArrayRecordWriter

        group = 256 if job.task.recipe in ("digit", "array") else 1
        writer = ArrayRecordWriter(f"{_path(job)}.part", f"group_size:{group},uncompressed")
        for name, label in job.rows():
            writer.write(_LABEL.pack(label) + _stored(job, name))
        writer.close()
        os.replace(f"{_path(job)}.part", _path(job))


def _stored(job: Job, name: str) -> bytes:
    if job.task.recipe != "array":
        return Path(name).read_bytes()
    import cv2

    return bytes(cv2.imread(name, cv2.IMREAD_GRAYSCALE).tobytes())


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Yield batches of one epoch after another; of a single epoch in the check pass."""
    if job.task_name == "P6b":
        yield from _by_position(job)
        return
    import grain

    step = decode_raw_digit if job.task.recipe == "array" else Steps(job.task.recipe).file

    def sample(record: bytes) -> tuple[Any, int]:
        return step(record[4:]), _LABEL.unpack_from(record)[0]

    samples = grain.MapDataset.source(grain.sources.ArrayRecordDataSource([_path(job)])).shuffle(seed=1)
    if not job.is_check_pass:
        samples = samples.repeat()
    options = grain.ReadOptions(num_threads=2, prefetch_buffer_size=256)
    for batch in (
        samples.map(sample).to_iter_dataset(options).batch(job.num_records, drop_remainder=not job.is_check_pass)
    ):
        yield len(batch[1]), batch


def _by_position(job: Job) -> Iterator[tuple[int, Any]]:
    """Yield records at random positions; each record once in the check pass."""
    from array_record.python.array_record_module import ArrayRecordReader

    options = "readahead_buffer_size:0,index_storage_option:in_memory"
    reader, draw = ArrayRecordReader(_path(job), options), random.Random(1)
    step, size = 1 if job.variant == "one" else job.num_records, job.size
    if job.is_check_pass:
        yield size, [record for place in range(size) for record in reader.read([place])]
        return
    for _ in range(0, 4096, step):
        yield step, reader.read([draw.randrange(size) for _ in range(step)])


def records(_: Job, delivered: Any) -> Iterator[tuple[bytes, int]]:
    """Return images and labels of records."""
    return ((record[4:], _LABEL.unpack_from(record)[0]) for record in delivered)


def arrays(_: Job, delivered: Any) -> tuple[Any, Any]:
    """Return images and labels of a batch."""
    return delivered

"""Compute the results that contenders have to deliver, from the recipes or in plain Python from the files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from benches import recipes, wire
from benches.digest import Digest
from benches.jobs import Job
from benches.recipes import NUM_SHARDS, Sizes
from benches.windows import digest_of, expected_pixels

# Position of the damaged record in the copy with which the task `check` is tested.
DAMAGED = 2
# Bytes of a TFRecord frame besides the payload: a header of length and checksum, and the checksum of the payload.
_FRAME_OVERHEAD = 16
_HEADER = 12


def expected(job: Job) -> dict[str, Any] | None:
    """Return the digest of the results that a task has to deliver.

    Parameters
    ----------
    job : Job
        Job of any contender in the task.

    Returns
    -------
    dict or None
        None if the results of the task have no fixed digest.
    """
    digest = Digest()
    if job.task.compare == "columns":
        for batch in _columns(job):
            digest.add_columns(batch)
    elif job.task.compare == "pixels" and not job.task.recipe:
        return digest_of(expected_pixels(job))
    elif job.task.compare == "pixels" or job.task_name == "of-pack":
        digest.add_images(_digits(job))
    elif job.task.compare == "payloads":
        for path in job.shards:
            digest.add_payloads(wire.tfrecord_payloads(path))
    elif job.task_name in ("P1a", "P6b", "mx-im2rec", "mx-records", "tf-write"):
        digest.add_images((Path(path).read_bytes(), label) for path, label in job.rows())
    elif job.task_name == "index":
        digest.add_payloads(frame_names(job.shards))
    elif job.task_name == "check":
        return {"count": Sizes.load(job.data).big, "sum": f"fault in record {DAMAGED}"}
    else:
        return None
    return digest.to_json()


def _digits(job: Job) -> Iterator[tuple[bytes, int]]:
    """Yield pixels and labels of the digits."""
    from PIL import Image

    for path, same in groupby(job.rows(), key=itemgetter(0)):
        with Image.open(path) as image:
            pixels = image.tobytes()
        yield from ((pixels, label) for _, label in same)


def _columns(job: Job) -> Iterator[dict[str, Any]]:
    recipe = {"P3a": recipes.tabular, "tf-parse": recipes.tabular, "P3b": recipes.sequence_columns}[job.task_name]
    num_records = getattr(Sizes.load(job.data), job.task.data) // NUM_SHARDS
    return chain.from_iterable(recipe(shard, num_records) for shard in range(NUM_SHARDS))


def frame_names(paths: Iterable[str]) -> Iterator[bytes]:
    """Yield shard number, offset and length of each frame as text, as an index must have them.

    Parameters
    ----------
    paths : iterable of str
        TFRecord shards.

    Yields
    ------
    bytes
    """
    for number, path in enumerate(paths):
        offset = 0
        for payload in wire.tfrecord_payloads(path):
            length = len(payload) + _FRAME_OVERHEAD
            yield b"%d %d %d" % (number, offset, length)
            offset += length


def damaged_copy(path: str, folder: str) -> str:
    """Copy the first records of a TFRecord shard and flip a bit in one payload.

    Parameters
    ----------
    path : str
    folder : str

    Returns
    -------
    str
    """
    lengths = [len(payload) + _FRAME_OVERHEAD for payload in islice(wire.tfrecord_payloads(path), DAMAGED + 2)]
    with open(path, "rb") as file:
        data = bytearray(file.read(sum(lengths)))
    data[sum(lengths[:DAMAGED]) + _HEADER] ^= 1
    copy = os.path.join(folder, "damaged.tfrecord")
    Path(copy).write_bytes(data)
    return copy

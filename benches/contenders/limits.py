"""Limits of the machine: memory copies, page cache reads, checksums, files and Pillow's JPEG, measured separately."""

from __future__ import annotations

import io
import mmap
import os
import random
import threading
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from queue import Queue
from typing import Any

from benches import wire
from benches.expected import frame_names
from benches.jobs import Job, shards
from benches.steps import center_box
from benches.tasks.images import CACHE_READ, ONE_COPY, ONE_READ
from benches.tasks.pixels import ROWS

ENVIRONMENT = ""
REQUIREMENTS = ("recordmill", "numpy", "pillow")
_BLOCK = 1 << 20
_COPIED = 256 << 20
_PHOTOS = 16

# Work of one thread in one step. Takes the number of the step, and returns the number of bytes or photographs.
Step = Callable[[int], int]


def prepare(_: Job) -> None:
    """Do nothing, because the steps need no preparation."""


def run(job: Job) -> Iterator[tuple[int, None]]:
    """Repeat one kind of work in one or two threads without end."""
    if job.variant in (CACHE_READ, ONE_READ):
        yield from _positioned_reads(job)
        return
    if job.variant == ONE_COPY:
        yield from _copies(job)
        return
    if job.variant == ROWS:
        yield from _rows_read(job)
        return
    name, _, num_threads = job.variant.removesuffix("s").removesuffix(" thread").rpartition(", ")
    counts: Queue[int | BaseException] = Queue(16)
    for number in range(int(num_threads)):
        step = _STEPS[name](job, number, int(num_threads))
        threading.Thread(target=_repeat, args=(step, counts), daemon=True).start()
    while True:
        count = counts.get()
        if isinstance(count, BaseException):
            raise count
        yield count, None


def _positioned_reads(job: Job) -> Iterator[tuple[int, Any]]:
    """Read the frames of random records in one thread, into one buffer for a batch or a record.

    In the check pass, yield copies of all records in order.
    """
    frames = _frames(job, [os.open(path, os.O_RDONLY) for path in job.shards])
    step = 1 if job.variant == ONE_READ else job.num_records
    draw, memory = random.Random(1), memoryview(bytearray(step * max(length for *_, length in frames)))
    if job.is_check_pass:
        for file, offset, length in frames:
            os.preadv(file, [memory[:length]], offset)
            yield 1, bytes(memory[12 : length - 4])
        return
    while True:
        start = 0
        for file, offset, length in (draw.choice(frames) for _ in range(step)):
            start += os.preadv(file, [memory[start : start + length]], offset)
        yield step, None


def _copies(job: Job) -> Iterator[tuple[int, Any]]:
    """Copy the frames of random records from mapped, resident files, without system calls and page faults."""
    flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
    files = []
    for path in job.shards:
        with open(path, "rb") as file:
            files.append(memoryview(mmap.mmap(file.fileno(), 0, flags=flags, prot=mmap.PROT_READ)))
    frames, draw = _frames(job, files), random.Random(1)
    chosen = frames if job.is_check_pass else (draw.choice(frames) for _ in cycle(frames))
    for file, offset, length in chosen:
        yield 1, bytes(file[offset + 12 : offset + length - 4])


def _frames(job: Job, files: list[Any]) -> list[tuple[Any, int, int]]:
    """Return file, offset and length of each frame."""
    names = (name.split() for name in frame_names(job.shards))
    return [(files[int(shard)], int(offset), int(length)) for shard, offset, length in names]


def _rows_read(job: Job) -> Iterator[tuple[int, Any]]:
    """Decode the last pixel of the center crop, which entropy-decodes all rows above it but transforms few blocks."""
    from PIL import Image

    import recordmill as rm

    photos = []
    for path, _ in job.rows():
        with Image.open(path) as image:
            x, y, width, height = center_box(image.height, image.width)
        photos.append((Path(path).read_bytes(), (x + width - 1, y + height - 1, 1, 1)))
    for data, window in cycle(photos):
        yield 1, rm.decode_jpeg(data, window=window)


def records(_: Job, delivered: Any) -> list[tuple[bytes, int]]:
    """Return image and label of a record."""
    return [wire.example_image(delivered)]


def _repeat(step: Step, counts: Queue[int | BaseException]) -> None:
    number = 0
    try:
        while True:
            counts.put(step(number))
            number += 1
    except BaseException as error:  # noqa: BLE001 (raised in the main thread)
        counts.put(error)


def _memory_copy(_: Job, *__: int) -> Step:
    import numpy as np

    source, target = np.ones(_COPIED, np.uint8), np.ones(_COPIED, np.uint8)

    def step(_: int) -> int:
        np.copyto(target, source)
        return _COPIED

    return step


def _page_cache(job: Job, first: int, num_threads: int) -> Step:
    file = os.open(shards(job.data, "big")[first], os.O_RDONLY)
    buffer, num_blocks = bytearray(_BLOCK), max(os.fstat(file).st_size // _BLOCK, 1)
    assert num_threads <= 4
    return lambda number: os.preadv(file, [buffer], number % num_blocks * _BLOCK)


def _checksum(_: Job, *__: int) -> Step:
    from recordmill import _core

    blocks = [os.urandom(1 << 16) for _ in range(64)]

    def step(_: int) -> int:
        for block in blocks:
            _core.crc32c(block)
        return len(blocks) << 16

    return step


def _chosen(job: Job, first: int, num_threads: int) -> Callable[[int], list[str]]:
    """Return a function from the number of a step to its 16 photographs, which cycle through the thread's share."""
    paths = [path for path, _ in job.rows()][first::num_threads]
    return lambda number: [paths[place % len(paths)] for place in range(number * _PHOTOS, (number + 1) * _PHOTOS)]


def _read(job: Job, *share: int) -> Step:
    from recordmill import _core

    chosen = _chosen(job, *share)

    def step(number: int) -> int:
        _core.read_files(chosen(number))
        return _PHOTOS

    return step


def _copy(job: Job, first: int, num_threads: int) -> Step:
    """Read files and append them to one output file, which is truncated after all photographs."""
    from recordmill import _core

    chosen, num_steps = _chosen(job, first, num_threads), len(job.rows()) // num_threads // _PHOTOS
    os.makedirs(job.out, exist_ok=True)
    file = os.open(os.path.join(job.out, str(first)), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    def step(number: int) -> int:
        if number % max(num_steps, 1) == 0:
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
        os.write(file, _core.read_files(chosen(number))[0])
        return _PHOTOS

    return step


def _recode(job: Job, *share: int) -> Step:
    from PIL import Image

    chosen = _chosen(job, *share)

    def step(number: int) -> int:
        for path in chosen(number):
            with Image.open(io.BytesIO(Path(path).read_bytes())) as image:
                image.save(io.BytesIO(), "JPEG", quality=95)
        return _PHOTOS

    return step


_STEPS: dict[str, Any] = {
    "memory copy": _memory_copy,
    "page cache read": _page_cache,
    "CRC-32C": _checksum,
    "photos read": _read,
    "photos copied": _copy,
    "photos recoded by Pillow": _recode,
}
VARIANTS = {
    "limits": tuple(f"{name}, {threads}" for name in _STEPS for threads in ("1 thread", "2 threads")),
    "P6b": (CACHE_READ, ONE_READ, ONE_COPY),
    "image-large": (ROWS,),
}

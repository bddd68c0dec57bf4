"""Record files of image lists, as im2rec makes them; an image that cannot be used is left out and reported."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np

import recordmill as rm
from recordmill.compat.mxnet.headers import IRHeader, pack, pack_img
from recordmill.compat.mxnet.recordio import MXIndexedRecordIO
from recordmill.dataclass import dataclass

_CHANNELS = {-1: "stored", 0: "grey", 1: "bgr"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a list: key, labels and relative path."""

    key: int
    labels: list[float]
    name: str


def read_entries(path: str) -> list[Entry]:
    """Lines of a list; what is no entry is printed and left out."""
    entries = []
    for line in Path(path).read_text("utf-8", "surrogateescape").split("\n"):
        fields = [field.strip() for field in line.strip().split("\t")]
        if len(fields) < 3:
            if line:
                print(f"a line of a list has three parts at least, not {len(fields)}: {fields}")
            continue
        try:
            entries.append(Entry(int(fields[0]), [float(field) for field in fields[1:-1]], fields[-1]))
        except ValueError as error:
            print(f"a line of a list that cannot be used: {fields}, {error}")
    return entries


def pack_list(path: str, root: str, options: argparse.Namespace) -> int:
    """Write the records of a list, and their index, beside it."""
    entries = read_entries(path)
    if not options.pack_label:
        entries = [Entry(entry.key, entry.labels[:1], entry.name) for entry in entries]
    alike = len({len(entry.labels) for entry in entries}) == 1
    if options.pass_through and alike and min(entry.key for entry in entries) >= 0:
        return _pack_files(entries, os.path.splitext(path)[0] + ".rec", root, options.num_thread)
    return _pack_pictures(entries, os.path.splitext(path)[0], root, options)


def _pack_files(entries: Sequence[Entry], destination: str, root: str, workers: int) -> int:
    """All files as they are, many at a time."""
    rows = (f"{entry.key}\t" + "".join(f"{label!r}\t" for label in entry.labels) + entry.name for entry in entries)
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "entries.lst"
        listed.write_text("\n".join(rows), "utf-8", "surrogateescape")
        source = rm.ListFile(listed, root, allow_outside=True, allow_duplicates=True)
        options = {"check": "none", "on_error": "skip", "overwrite": True, "workers": max(workers, 1)}
        result = rm.pack(source, destination, format="recordio", progress=False, **options)  # type: ignore[arg-type]
    for name, cause in result.skipped:
        print(f"pack_img error: {os.path.relpath(name, root)} {cause}")
    return result.num_skipped


def _pack_pictures(entries: Sequence[Entry], prefix: str, root: str, options: argparse.Namespace) -> int:
    """Pictures one by one, several at a time, in the order of the list."""
    record = MXIndexedRecordIO(prefix + ".idx", prefix + ".rec", "w")
    skipped = 0
    for entry, made in _ahead(entries, lambda entry: _payload(entry, root, options), options.num_thread):
        try:
            record.write_idx(entry.key, made.result())
        except (OSError, ValueError, rm.RecordmillError) as error:
            if isinstance(error, rm.WriteError | rm.MissingExtraError):
                raise
            print(f"pack_img error: {entry.name} {error}")
            skipped += 1
    record.close()
    return skipped


def _ahead(
    entries: Sequence[Entry], make: Callable[[Entry], bytes], threads: int
) -> Iterator[tuple[Entry, Future[bytes]]]:
    """What is made of each entry, some ahead of the consumer."""
    waiting: deque[tuple[Entry, Future[bytes]]] = deque()
    with ThreadPoolExecutor(max(threads, 1)) as pool:
        for entry in entries:
            waiting.append((entry, pool.submit(make, entry)))
            if len(waiting) > 4 * threads:
                yield waiting.popleft()
        yield from waiting


def _payload(entry: Entry, root: str, options: argparse.Namespace) -> bytes:
    label = entry.labels if len(entry.labels) > 1 else entry.labels[0]
    header = IRHeader(0, label, entry.key, 0)
    if not 0 <= entry.key < 2**64:
        raise ValueError(f"a key is 0 to 2**64 - 1, not {entry.key}")
    data = Path(root, entry.name).read_bytes()
    if options.pass_through:
        return pack(header, data)
    words, turn = _CHANNELS[options.color], "ignore" if options.color == -1 else "apply"
    depth = "stored" if options.color == -1 else "8"
    pixels = rm.decode_image(data, like="opencv", channels=words, orientation=turn, depth=depth)  # type: ignore[arg-type]
    if options.color == -1 and pixels.ndim == 3:
        pixels = pixels[:, :, [2, 1, 0, *range(3, pixels.shape[2])]] if pixels.shape[2] > 2 else pixels[:, :, 0]
    height, width = pixels.shape[:2]
    if options.center_crop:
        side = min(height, width)
        top, left = (height - side) // 2, (width - side) // 2
        pixels, height, width = pixels[top : top + side, left : left + side], side, side
    if options.resize:
        length, shorter = options.resize, min(height, width)
        size = (height * length // shorter, width * length // shorter)
        pixels = rm.resize(np.ascontiguousarray(pixels), size, kernel="opencv:bilinear")
    return pack_img(header, pixels, options.quality, options.encoding)

"""Fuzz target `entry_point_file`: any bytes as the entry-point file of a shard of JPEG images.

Windows of the images are decoded with the tables of the file. They have the true pixels or raise a `RecordmillError`,
unless a table was changed and all checksums were computed again; then only the exceptions are checked.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import recordmill as rm
from recordmill.shards.collection import ShardCollection
from recordmill.shards.index import ENTRY_POINTS_SUFFIX, sidecar_path
from tests.fuzz.inputs import Input
from tests.fuzz.samples import make_folder
from tests.fuzz.sidecar import FIELD_VALUES, append_checksum
from tests.images import encode_image

TRACED_FILES = ("entry_points.py", "collection.py", "sidecar.py")
SIDE = 160
NUM_IMAGES = 4
# Bytes of a table with magic, version and fingerprint of the image.
FINGERPRINT_END = 13
TRAILER_BYTES = 16


@dataclass(frozen=True)
class ImageShard:
    """A shard of JPEG images, and its valid entry-point file."""

    path: str
    file: Path
    content: bytes
    images: list[bytes]


def check(data: bytes) -> None:
    """Write the file that an input describes, and decode windows of the images with it."""
    source = Input(data)
    shard = _shard()
    mutate, is_checked = source.choose(MUTATIONS)
    seed = source.byte()
    order = [source.below(NUM_IMAGES) for _ in range(2)]
    shard.file.write_bytes(mutate(source, shard.content))
    try:
        tables = ShardCollection(shard.path).entry_points(np.array(order), "image")
        pixels = _decode_windows([shard.images[row] for row in order], seed, order, tables)
    except rm.RecordmillError:
        return
    if is_checked:
        np.testing.assert_array_equal(pixels, _true_pixels(seed)[order])


def _decode_windows(images: list[bytes], seed: int, positions: list[int], tables: Any = None) -> np.ndarray:
    """Decode a window of each image, which depends on the seed and the position."""
    spec = {"image": rm.Image(crop=rm.RandomResizedCrop(8))}
    return rm.decode_batch(images, spec, rng=seed, positions=positions, entry_points=tables)["image"]


@cache
def _true_pixels(seed: int) -> np.ndarray:
    return _decode_windows(_shard().images, seed, list(range(NUM_IMAGES)))


@cache
def _shard() -> ImageShard:
    """Write a shard of images of noise, which is long enough for entry points, and its entry-point file."""
    folder = make_folder()
    images = [_encode_noise(seed) for seed in range(NUM_IMAGES)]
    with rm.ShardWriter(folder / "train") as writer:
        for image in images:
            writer.write({"image": image})
    path = writer.paths[0]
    rm.build_index(path, entry_points=True)
    file = Path(sidecar_path(path, ENTRY_POINTS_SUFFIX))
    return ImageShard(path, file, file.read_bytes(), images)


def _encode_noise(seed: int) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 256, (SIDE, SIDE, 3), np.uint8)
    return encode_image(Image.fromarray(pixels), "JPEG", quality=90)


# Mutations: functions of the input and the valid file that return the content to write.


def _replace(source: Input, _: bytes) -> bytes:
    return source.take(1 << 16)


def _edit(source: Input, content: bytes) -> bytes:
    return source.edited(content)


def _edit_directory(source: Input, content: bytes) -> bytes:
    """Edit the directory and the trailer, and compute their checksum again."""
    start = _directory_start(content)
    return _join_file(content[:start], source.edited(content[start:-4]))


def _edit_description(source: Input, content: bytes) -> bytes:
    """Change fields of the description, and compute the checksum of the directory again."""
    start = _directory_start(content)
    length = int.from_bytes(content[-8:-4], "little")
    end = len(content) - TRAILER_BYTES
    description = json.loads(content[end - length : end])
    for _ in range(1 + source.below(3)):
        description[source.choose(sorted(description))] = source.choose(FIELD_VALUES)
    text = json.dumps(description).encode()
    trailer = start.to_bytes(8, "little") + len(text).to_bytes(4, "little")
    return _join_file(content[:start], content[start : end - length] + text + trailer)


def _edit_tables(source: Input, content: bytes) -> bytes:
    """Edit numbers of a table, and compute its checksum again."""
    start = _directory_start(content)
    end = len(content) - TRAILER_BYTES - int.from_bytes(content[-8:-4], "little")
    splits = np.frombuffer(content[start:end], "<i8")[NUM_IMAGES:]
    row = source.below(NUM_IMAGES)
    first, last = int(splits[row]), int(splits[row + 1])
    # The fingerprint of the image is kept, so that the numbers behind it are used.
    kept = content[first : first + FINGERPRINT_END]
    table = kept + source.edited(content[first + FINGERPRINT_END : last - 4])[: last - 4 - first - FINGERPRINT_END]
    table = table.ljust(last - 4 - first, b"\0")
    return content[:first] + table + zlib.crc32(table).to_bytes(4, "little") + content[last:]


def _directory_start(content: bytes) -> int:
    return int.from_bytes(content[-TRAILER_BYTES:-8], "little")


def _join_file(tables: bytes, directory: bytes) -> bytes:
    """Join the tables and the directory, whose checksum ends the file."""
    return tables + append_checksum(directory)


# Each mutation, and whether a wrong table is always recognized: tables have checksums of their own.
MUTATIONS: list[tuple[Callable[[Input, bytes], bytes], bool]] = [
    (_edit_tables, False),
    (_edit_directory, True),
    (_edit_description, True),
    (_edit, True),
    (_replace, True),
]

"""Small valid files, payloads and shards that the checks of the fuzz targets start from."""

from __future__ import annotations

import atexit
import gzip
import itertools
import os
import shutil
import tempfile
import zlib
from functools import cache
from pathlib import Path

import numpy as np

from recordmill import _core
from recordmill.testing.messages import encode_example, encode_ofrecord, encode_sequence_example
from tests.images import encode_gray16_png, encode_jpeg, encode_oriented_jpeg, encode_palette_mask, encode_png

WIDTH, HEIGHT = 20, 14
FRAME_KINDS = ("tfrecord", "recordio", "ofrecord")
PAYLOAD_KINDS = ("EXAMPLE", "SEQUENCE_EXAMPLE", "OFRECORD", "IRHEADER")


def make_folder() -> Path:
    """Make a folder that is removed when the process exits, in memory where possible: disks are slow to sync."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="recordmill-fuzz-", dir=memory))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def images() -> list[bytes]:
    """Return JPEG and PNG files of 20 x 14 pixels."""
    return [
        encode_jpeg(1),
        encode_png(2),
        encode_jpeg(3, mode="L"),
        encode_jpeg(4, progressive=True),
        encode_oriented_jpeg(6),
        encode_gray16_png()[0],
        encode_palette_mask()[0],
        encode_jpeg(5, mode="CMYK"),
        encode_jpeg(6, restart_marker_blocks=1),
    ]


@cache
def entry_point_tables() -> list[bytes]:
    """Return the entry points of each image, and an empty table."""
    data = np.frombuffer(b"".join(images()), np.uint8)
    splits = np.cumsum([0, *map(len, images())])
    tables, rows = (np.asarray(block) for block in _core.entry_points(data, splits, 1e6, 1, 1))
    found = [tables[start:stop].tobytes() for start, stop in itertools.pairwise(rows)]
    return [*filter(None, found), b""]


@cache
def payloads(kind: str) -> list[bytes]:
    """Return payloads of one kind with the features image, label and weights."""
    if kind == "IRHEADER":
        return [np.array([0, label, label, 0], "<u4").tobytes() + image for label, image in enumerate(images()[:2])] + [
            np.array([2, 0, 7, 0], "<u4").tobytes() + np.array([1, 2], "<f4").tobytes() + b"data"
        ]
    features = [
        {"image": ("bytes", [image]), "label": ("int64", [label]), "weights": ("float32", [0.5] * label)}
        for label, image in enumerate(images()[:3])
    ]
    if kind == "SEQUENCE_EXAMPLE":
        lists = {"steps": [("int64", [1]), ("int64", [2, 3])]}
        return [encode_sequence_example(one, lists) for one in features]
    return [(encode_ofrecord if kind == "OFRECORD" else encode_example)(one) for one in features]


@cache
def shard(kind: str) -> bytes:
    """Return a shard with records of one frame kind."""
    records = [*payloads("OFRECORD" if kind == "ofrecord" else "EXAMPLE"), b"short", bytes(70)]
    return bytes(_core.frame_each(tuple(records), _core.FrameKind(kind))[0])


@cache
def shards() -> list[bytes]:
    """Return shards of all frame kinds, and compressed ones."""
    plain = [shard(kind) for kind in FRAME_KINDS]
    return [*plain, gzip.compress(plain[0], mtime=0), zlib.compress(plain[0]), b""]

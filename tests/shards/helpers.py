"""Shards for the tests of readers, written by the independent writers in `recordmill.testing`."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path

from recordmill.testing import ofrecord, recordio, tfrecord
from recordmill.testing.messages import Feature, encode_example, encode_ofrecord

FRAMES = {"tfrecord": tfrecord.frame, "recordio": recordio.frame, "ofrecord": ofrecord.frame}
SUFFIXES = {"tfrecord": ".tfrecord", "recordio": ".rec", "ofrecord": ".of"}
FORMATS = sorted(FRAMES)


def write_shard(
    folder: Path, format_name: str, payloads: Sequence[bytes], name: str = "shard", compression: str = ""
) -> Path:
    """Write payloads as one shard, optionally compressed by the standard library."""
    data = b"".join(map(FRAMES[format_name], payloads))
    path = folder / f"{name}{SUFFIXES[format_name]}"
    if compression:
        path = path.with_name(path.name + {"gzip": ".gz", "zlib": ".zlib"}[compression])
        data = gzip.compress(data) if compression == "gzip" else zlib.compress(data)
    path.write_bytes(data)
    return path


def encode_message(format_name: str, number: int) -> bytes:
    """Return a message of the format's usual kind with the features id and text."""
    features: dict[str, Feature] = {"id": ("int64", [number]), "text": ("bytes", [b"x" * (number % 7)])}
    return encode_ofrecord(features) if format_name == "ofrecord" else encode_example(features)

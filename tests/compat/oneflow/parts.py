"""Functions that write parts and read labels, and the recorded orders of OneFlow."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from recordmill.compat.oneflow import nn, record_pb2
from tests.recorded import RECORDINGS

RECORDED = RECORDINGS / "compat" / "oneflow"
PICTURES = RECORDINGS.parent / "decode" / "recordings" / "pictures.npz"


def message(**values: Any) -> bytes:
    """Return one serialized record; bytes become a bytes list, integers an int32 list."""
    record = record_pb2.OFRecord()
    for name, value in values.items():
        feature = record.feature[name]
        if isinstance(value, record_pb2.Feature):
            feature.CopyFrom(value)
        elif isinstance(value, bytes):
            feature.bytes_list.value.append(value)
        else:
            feature.int32_list.value.append(value)
    return record.SerializeToString()


def frame(payload: bytes) -> bytes:
    return struct.pack("<q", len(payload)) + payload


def write_labels(folder: Path, counts: list[int], name: str = "part-{}") -> list[bytes]:
    """Write parts with the given numbers of records and increasing labels; return the bytes of the parts."""
    parts, label = [], 0
    for number, count in enumerate(counts):
        parts.append(b"".join(frame(message(labels=label + record)) for record in range(count)))
        (folder / name.format(number)).write_bytes(parts[-1])
        label += count
    return parts


def labels_of(batch: Any) -> list[int]:
    found: list[int] = nn.OFRecordRawDecoder("labels", shape=(), dtype=np.int32)(batch).tolist()
    return found


def take_labels(reader: Any, length: int) -> list[int]:
    found: list[int] = []
    while len(found) < length:
        found += labels_of(reader())
    return found[:length]


def batch_of(folder: Path, *payloads: bytes) -> Any:
    """Write records to a part and return them as one batch."""
    (folder / "part-0").write_bytes(b"".join(map(frame, payloads)))
    return nn.OFRecordReader(str(folder), batch_size=len(payloads))()


def recorded_readers() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((RECORDED / "orders.json").read_text("utf-8"))["readers"]
    return found

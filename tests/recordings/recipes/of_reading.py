"""Reads OFRecord parts with OneFlow: the reader with its decoders, and the messages with its protobuf class."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import oneflow as flow
from oneflow.core.record import record_pb2

from recipes.values import features_json

DTYPES = {
    "int8": flow.int8,
    "uint8": flow.uint8,
    "int32": flow.int32,
    "int64": flow.int64,
    "float32": flow.float,
    "float64": flow.double,
}


def make_decoder(name: str, field: dict[str, Any]) -> Any:
    """Return the decoder of one field from its settings."""
    if field["decoder"] == "bytes":
        return flow.nn.OFRecordBytesDecoder(name)
    shape, truncate = tuple(field["shape"]), field.get("truncate", False)
    return flow.nn.OFRecordRawDecoder(name, shape=shape, dtype=DTYPES[field["dtype"]], truncate=truncate)


def decode(folder: Path, settings: dict[str, Any], count: int) -> dict[str, list[str]]:
    """Return, per field, the little-endian bytes of `count` samples in hexadecimal."""
    reader = flow.nn.OFRecordReader(
        str(folder),
        batch_size=1,
        data_part_num=settings["num_parts"],
        part_name_prefix=settings.get("part_name_prefix", "part-"),
        part_name_suffix_length=settings.get("part_name_suffix_length", -1),
    )
    decoders = {name: make_decoder(name, field) for name, field in settings["fields"].items()}
    found: dict[str, list[str]] = {name: [] for name in decoders}
    for _ in range(count):
        batch = reader()
        for name, decoder in decoders.items():
            found[name].append(np.ascontiguousarray(decoder(batch).numpy()[0]).tobytes().hex())
    return found


def part_paths(folder: Path, settings: dict[str, Any]) -> list[Path]:
    """Return the part files in the order of their numbers."""
    prefix, width = settings.get("part_name_prefix", "part-"), settings.get("part_name_suffix_length", -1)
    return [folder / f"{prefix}{str(number).zfill(max(width, 0))}" for number in range(settings["num_parts"])]


def split_frames(stream: bytes) -> list[bytes]:
    """Return the messages of the bytes of all parts, joined."""
    found, start = [], 0
    while start < len(stream):
        (length,) = struct.unpack_from("<q", stream, start)
        found.append(stream[start + 8 : start + 8 + length])
        start += 8 + length
    return found


def messages_json(raws: list[bytes]) -> list[dict[str, Any]]:
    """Return the features that OneFlow's protobuf class reads from each message."""
    return [features_json(record_pb2.OFRecord.FromString(raw).feature) for raw in raws]


def outcome(found: dict[str, Any]) -> dict[str, Any]:
    """Return what a case gave; of a crash, how it ended and the check that failed, without times and addresses."""
    if "crash" not in found:
        return found
    checks = []
    for line in found["log"]:
        if match := re.match(r"[EF]\S+ \S+ +\d+ (.*)", line):
            checks.append(re.sub(r" /\S*/(?=[^/]+/part-)", " ", match[1]).strip())
    return {"crash": found["crash"], "checks": checks[:1]}

"""Sidecar files with a correct checksum and inconsistent content are rebuilt."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill import _core
from recordmill.shards.index import sidecar_path
from recordmill.shards.sidecar import MAGIC, parse_sidecar
from tests.shards.helpers import encode_message, write_shard

Parts = tuple[dict[str, Any], dict[str, bytes]]


def taken_apart(data: bytes) -> Parts:
    at = 12 + int.from_bytes(data[8:12], "little")
    description, sections = json.loads(data[12:at]), {}
    for name, length in description["sections"].items():
        at += -at % 8
        sections[name] = data[at : at + length]
        at += length
    return description, sections


def put_together(description: dict[str, Any], sections: dict[str, bytes]) -> bytes:
    text = json.dumps(description).encode()
    body = b"".join(
        part + bytes(-len(part) % 8) for part in (MAGIC + len(text).to_bytes(4, "little") + text, *sections.values())
    )
    return body + _core.crc32c(body).to_bytes(4, "little")


def number(section: str, place: int, value: int) -> Callable[[Parts], None]:
    def change(parts: Parts) -> None:
        values = np.frombuffer(parts[1][section], "<i8").copy()
        values[place] = value
        parts[1][section] = values.tobytes()

    return change


def said(name: str, value: Any) -> Callable[[Parts], None]:
    return lambda parts: parts[0].__setitem__(name, value)


def backwards(parts: Parts) -> None:
    parts[1]["offsets"] = np.frombuffer(parts[1]["offsets"], "<i8")[::-1].tobytes()


def too_many_checksums(parts: Parts) -> None:
    parts[1]["checksums"] = bytes(400)
    parts[0]["sections"]["checksums"] = 400


LIES = {
    "huge length": number("lengths", 3, 1 << 62),
    "last length": number("lengths", -1, 1 << 62),
    "length below zero": number("lengths", 0, -1),
    "no length": number("lengths", 2, 0),
    "offset below zero": number("offsets", 0, -1),
    "offset beyond": number("offsets", 5, (1 << 63) - 1),
    "backwards": backwards,
    "end beyond": said("end", 1 << 62),
    "no end": said("end", None),
    "probe below zero": said("probes", [[-1, 5]]),
    "probe beyond": said("probes", [[1 << 70, 5]]),
    "no probe": said("probes", []),
    "size": said("num_stored_bytes", 1 << 70),
    "schema": said("schema", ["image"]),
    "sections": said("sections", None),
    "negative section": said("sections", {"offsets": -8, "lengths": 160}),
    "count": said("num_records", 19),
    "checksums": too_many_checksums,
}


@pytest.mark.parametrize("name", LIES)
def test_inconsistent_sidecar_is_rebuilt(tmp_path: Path, name: str) -> None:
    payloads = [encode_message("recordio", row) for row in range(20)]
    path = write_shard(tmp_path, "recordio", payloads)
    rm.build_index(path)
    kept = Path(sidecar_path(str(path)))
    good = kept.read_bytes()
    assert parse_sidecar(put_together(*taken_apart(good))) is not None
    parts = taken_apart(good)
    LIES[name](parts)
    lying = put_together(*parts)
    assert parse_sidecar(lying) is None
    kept.write_bytes(lying)
    assert rm.verify(path).ok
    assert rm.ShardReader(path)[:] == payloads
    assert parse_sidecar(kept.read_bytes()) is not None


def test_sidecar_with_damaged_seek_points_is_rebuilt(tmp_path: Path) -> None:
    payloads = [encode_message("tfrecord", row) for row in range(20)]
    path = write_shard(tmp_path, "tfrecord", payloads, compression="gzip")
    rm.build_index(path)
    kept = Path(sidecar_path(str(path)))
    good = kept.read_bytes()
    description, sections = taken_apart(good)
    points = bytearray(sections["seek_points"])
    points[-1] ^= 1
    kept.write_bytes(put_together(description, sections | {"seek_points": bytes(points)}))
    assert rm.ShardReader(path)[:] == payloads
    assert kept.read_bytes() == good


def test_sidecar_with_impossible_expansion_is_rebuilt(tmp_path: Path) -> None:
    payloads = [encode_message("tfrecord", row) for row in range(20)]
    path = write_shard(tmp_path, "tfrecord", payloads, compression="zlib")
    rm.build_index(path)
    kept = Path(sidecar_path(str(path)))
    good = kept.read_bytes()
    parts = taken_apart(good)
    number("lengths", -1, 1 << 60)(parts)
    last = int(np.frombuffer(parts[1]["offsets"], "<i8")[-1])
    kept.write_bytes(put_together(parts[0] | {"end": last + (1 << 60)}, parts[1]))
    assert rm.ShardReader(path)[-1] == payloads[-1]
    assert kept.read_bytes() == good

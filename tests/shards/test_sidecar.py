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


def split_sidecar(data: bytes) -> Parts:
    at = 12 + int.from_bytes(data[8:12], "little")
    description, sections = json.loads(data[12:at]), {}
    for name, length in description["sections"].items():
        at += -at % 8
        sections[name] = data[at : at + length]
        at += length
    return description, sections


def join_sidecar(description: dict[str, Any], sections: dict[str, bytes]) -> bytes:
    text = json.dumps(description).encode()
    body = b"".join(
        part + bytes(-len(part) % 8) for part in (MAGIC + len(text).to_bytes(4, "little") + text, *sections.values())
    )
    return body + _core.crc32c(body).to_bytes(4, "little")


def set_number(section: str, position: int, value: int) -> Callable[[Parts], None]:
    def change(parts: Parts) -> None:
        values = np.frombuffer(parts[1][section], "<i8").copy()
        values[position] = value
        parts[1][section] = values.tobytes()

    return change


def set_field(name: str, value: Any) -> Callable[[Parts], None]:
    return lambda parts: parts[0].__setitem__(name, value)


def reverse_offsets(parts: Parts) -> None:
    parts[1]["offsets"] = np.frombuffer(parts[1]["offsets"], "<i8")[::-1].tobytes()


def add_checksums(parts: Parts) -> None:
    parts[1]["checksums"] = bytes(400)
    parts[0]["sections"]["checksums"] = 400


INCONSISTENCIES = {
    "huge length": set_number("lengths", 3, 1 << 62),
    "last length": set_number("lengths", -1, 1 << 62),
    "length below zero": set_number("lengths", 0, -1),
    "no length": set_number("lengths", 2, 0),
    "offset below zero": set_number("offsets", 0, -1),
    "offset beyond": set_number("offsets", 5, (1 << 63) - 1),
    "backwards": reverse_offsets,
    "end beyond": set_field("end", 1 << 62),
    "no end": set_field("end", None),
    "probe below zero": set_field("probes", [[-1, 5]]),
    "probe beyond": set_field("probes", [[1 << 70, 5]]),
    "no probe": set_field("probes", []),
    "size": set_field("num_stored_bytes", 1 << 70),
    "schema": set_field("schema", ["image"]),
    "sections": set_field("sections", None),
    "negative section": set_field("sections", {"offsets": -8, "lengths": 160}),
    "count": set_field("num_records", 19),
    "payload": set_field("payload", ["example"]),
    "checksums": add_checksums,
}


@pytest.mark.parametrize("name", INCONSISTENCIES)
def test_inconsistent_sidecar_is_rebuilt(tmp_path: Path, name: str) -> None:
    payloads = [encode_message("recordio", row) for row in range(20)]
    path = write_shard(tmp_path, "recordio", payloads)
    rm.build_index(path)
    sidecar = Path(sidecar_path(str(path)))
    good = sidecar.read_bytes()
    assert parse_sidecar(join_sidecar(*split_sidecar(good))) is not None
    parts = split_sidecar(good)
    INCONSISTENCIES[name](parts)
    inconsistent = join_sidecar(*parts)
    assert parse_sidecar(inconsistent) is None
    sidecar.write_bytes(inconsistent)
    assert rm.verify(path).ok
    assert rm.ShardReader(path)[:] == payloads
    assert parse_sidecar(sidecar.read_bytes()) is not None


def test_deeply_nested_sidecar_is_rejected() -> None:
    text = b"[" * 100_000
    body = MAGIC + len(text).to_bytes(4, "little") + text
    assert parse_sidecar(body + _core.crc32c(body).to_bytes(4, "little")) is None


def test_sidecar_with_damaged_seek_points_is_rebuilt(tmp_path: Path) -> None:
    payloads = [encode_message("tfrecord", row) for row in range(20)]
    path = write_shard(tmp_path, "tfrecord", payloads, compression="gzip")
    rm.build_index(path)
    sidecar = Path(sidecar_path(str(path)))
    good = sidecar.read_bytes()
    description, sections = split_sidecar(good)
    points = bytearray(sections["seek_points"])
    points[-1] ^= 1
    sidecar.write_bytes(join_sidecar(description, sections | {"seek_points": bytes(points)}))
    assert rm.ShardReader(path)[:] == payloads
    assert sidecar.read_bytes() == good


def test_sidecar_with_impossible_expansion_is_rebuilt(tmp_path: Path) -> None:
    payloads = [encode_message("tfrecord", row) for row in range(20)]
    path = write_shard(tmp_path, "tfrecord", payloads, compression="zlib")
    rm.build_index(path)
    sidecar = Path(sidecar_path(str(path)))
    good = sidecar.read_bytes()
    parts = split_sidecar(good)
    set_number("lengths", -1, 1 << 60)(parts)
    last = int(np.frombuffer(parts[1]["offsets"], "<i8")[-1])
    sidecar.write_bytes(join_sidecar(parts[0] | {"end": last + (1 << 60)}, parts[1]))
    assert rm.ShardReader(path)[-1] == payloads[-1]
    assert sidecar.read_bytes() == good

"""Fuzz target `sidecar`: any bytes as the sidecar index of a small valid shard.

Reading, `verify` and `info` return the true records or raise a `RecordmillError`. If the checksum of the sidecar was
computed for its changed content, the sidecar may be wrong in what it states, so only the exceptions are checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from recordmill import _core
from recordmill.shards.index import sidecar_path
from recordmill.shards.sidecar import MAGIC
from tests.fuzz.inputs import BOUNDARIES, Input
from tests.fuzz.samples import make_folder
from tests.shards.helpers import encode_message, write_shard

TRACED_FILES = ("sidecar.py", "index.py", "open.py", "reader.py", "verify.py", "info.py", "schema.py", "inference.py")
NUM_RECORDS = 12
SHARDS = [("tfrecord", ""), ("recordio", ""), ("ofrecord", ""), ("tfrecord", "gzip"), ("tfrecord", "zlib")]
# Values of a field of the description, most of them wrong.
FIELD_VALUES: list[Any] = [
    None, True, False, -1, 1.5, 1e400, "", "gzip", "zlib", "tfrecord", "recordio", "ofrecord", "example", "raw", [], {},
    [[0, 0]], [[1, 2], [3, 4]], {"offsets": 8}, *BOUNDARIES,
]  # fmt: skip


@dataclass(frozen=True)
class IndexedShard:
    """A shard, its valid sidecar and its records."""

    path: Path
    sidecar: Path
    content: bytes
    payloads: list[bytes]


def check(data: bytes) -> None:
    """Write the sidecar that an input describes and read the shard with it."""
    source = Input(data)
    shard = source.choose(_shards())
    mutate, is_checked = source.choose(MUTATIONS)
    shard.sidecar.write_bytes(mutate(source, shard.content))
    for use in (_read_records, _read_stream, _read_examples, _verify, _info):
        try:
            is_true = use(shard)
        except rm.RecordmillError:
            continue
        assert is_true or not is_checked, f"{use.__name__} returned wrong data for {shard.path.name}"


def _read_records(shard: IndexedShard) -> bool:
    with rm.ShardReader(shard.path, index="never") as reader:
        return reader[:] == shard.payloads and reader[NUM_RECORDS - 1] == shard.payloads[-1]


def _read_stream(shard: IndexedShard) -> bool:
    with rm.ShardReader(shard.path, index="never") as reader:
        return [row for batch in reader.batches(5) for row in batch] == shard.payloads


def _read_examples(shard: IndexedShard) -> bool:
    """Read examples; this replaces a sidecar that does not match the shard."""
    ids = [np.asarray(example.get("id")).tolist() for example in rm.open(shard.path)]
    return ids == list(range(NUM_RECORDS))


def _verify(shard: IndexedShard) -> bool:
    report = rm.verify(shard.path)
    return report.ok and report.num_records == NUM_RECORDS


def _info(shard: IndexedShard) -> bool:
    return rm.info(shard.path).num_records == NUM_RECORDS


@cache
def _shards() -> list[IndexedShard]:
    """Write shards of each format with sidecars."""
    folder = make_folder()
    shards = []
    for format_name, compression in SHARDS:
        payloads = [encode_message(format_name, number) for number in range(NUM_RECORDS)]
        path = write_shard(folder, format_name, payloads, compression=compression)
        rm.build_index(path)
        sidecar = Path(sidecar_path(str(path)))
        shards.append(IndexedShard(path, sidecar, sidecar.read_bytes(), payloads))
    return shards


# Mutations: functions of the input and the valid sidecar that return the content to write.


def _replace(source: Input, _: bytes) -> bytes:
    return source.take(1 << 16)


def _edit(source: Input, content: bytes) -> bytes:
    return source.edited(content)


def _edit_body(source: Input, content: bytes) -> bytes:
    """Edit bytes before the checksum, and compute the checksum again."""
    return append_checksum(source.edited(content[:-4]))


def _edit_fields(source: Input, content: bytes) -> bytes:
    """Change fields of the description and sections, and compute the checksum again."""
    end = 12 + int.from_bytes(content[8:12], "little")
    description = json.loads(content[12:end])
    sections = content[end + -end % 8 : -4]
    if source.flag():
        sections = source.edited(sections)
    for _ in range(source.below(4)):
        owner: Any = description["sections"] if source.rarely() else description
        name = source.choose([*owner, "checksums", "seek_points"])
        if source.rarely():
            owner.pop(name, None)
        else:
            owner[name] = source.integer() if source.flag() else source.choose(FIELD_VALUES)
        if not isinstance(description.get("sections"), dict):
            break
    text = json.dumps(description, separators=(",", ":")).encode()
    head = MAGIC + len(text).to_bytes(4, "little") + text
    return append_checksum(head + bytes(-len(head) % 8) + sections)


def append_checksum(body: bytes) -> bytes:
    """Append the checksum that ends a sidecar."""
    return body + _core.crc32c(body).to_bytes(4, "little")


# Each mutation, and whether a wrong sidecar is always recognized.
MUTATIONS: list[tuple[Callable[[Input, bytes], bytes], bool]] = [
    (_edit_fields, False),
    (_edit_body, False),
    (_edit, True),
    (_replace, True),
]

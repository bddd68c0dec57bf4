"""The saved index: built once, reused, extended after an append, rebuilt if it does not match, never required."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill import _core
from recordmill.shards import index as index_module
from recordmill.shards.index import cache_path, sidecar_path
from recordmill.storage.local import LOCAL
from tests.shards.helpers import FORMATS, encode_message, write_shard


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect the start offsets of the scans that build an index."""
    starts: list[int] = []

    def count_scan(*args: Any, **kwargs: Any) -> Any:
        starts.append(kwargs.get("start", 0))
        return _core.scan(*args, **kwargs)

    monkeypatch.setattr(index_module, "_core", SimpleNamespace(**vars(_core) | {"scan": count_scan}))
    return starts


def write_numbered(
    folder: Path, format_name: str = "recordio", count: int = 50, **options: Any
) -> tuple[Path, list[bytes]]:
    payloads = [encode_message(format_name, number) for number in range(count)]
    return write_shard(folder, format_name, payloads, **options), payloads


@pytest.mark.parametrize("compression", ["", "gzip", "zlib"])
def test_index_is_saved_in_hidden_file_and_reused(tmp_path: Path, compression: str, scans: list[int]) -> None:
    path, payloads = write_numbered(tmp_path, "tfrecord", compression=compression)
    assert rm.ShardReader(path)[:] == payloads
    assert Path(sidecar_path(str(path))).exists()
    assert Path(sidecar_path(str(path))).name.startswith(".")
    assert len(scans) == 1
    reader = rm.ShardReader(path)
    assert (len(reader), reader[17], reader[-1]) == (50, payloads[17], payloads[-1])
    assert len(scans) == 1


def test_index_never_saves_nothing(tmp_path: Path) -> None:
    path, payloads = write_numbered(tmp_path)
    assert rm.ShardReader(path, index="never")[:] == payloads
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("format_name", FORMATS)
def test_index_of_appended_shard_is_extended(tmp_path: Path, format_name: str, scans: list[int]) -> None:
    path, payloads = write_numbered(tmp_path, format_name)
    end = path.stat().st_size
    assert len(rm.ShardReader(path)) == 50
    more = [encode_message(format_name, number) for number in range(50, 80)]
    with path.open("ab") as file:
        file.write(write_shard(tmp_path, format_name, more, name="more").read_bytes())
    assert rm.ShardReader(path)[:] == payloads + more
    assert scans == [0, end]
    assert rm.ShardReader(path)[:] == payloads + more
    assert scans == [0, end]


def replace(path: Path) -> list[bytes]:
    payloads = [bytes(reversed(payload)) for payload in rm.ShardReader(path)]
    write_shard(path.parent, "recordio", payloads, name="other").rename(path)
    return payloads


def cut(path: Path) -> list[bytes]:
    reader = rm.ShardReader(path)
    payloads = reader[:20]
    os.truncate(path, int(reader.index.offsets[20]))
    return payloads


def shorter(path: Path) -> list[bytes]:
    write_shard(path.parent, "recordio", [b"only one"], name="other").rename(path)
    return [b"only one"]


@pytest.mark.parametrize("change", [replace, cut, shorter], ids=["replaced", "cut", "shorter"])
def test_index_of_replaced_shard_is_rebuilt(tmp_path: Path, change: Callable[[Path], list[bytes]]) -> None:
    path, _ = write_numbered(tmp_path)
    assert len(rm.ShardReader(path)) == 50
    payloads = change(path)
    assert rm.ShardReader(path)[:] == payloads
    assert rm.ShardReader(path)[:] == payloads


def test_damaged_sidecar_is_rebuilt(tmp_path: Path, scans: list[int]) -> None:
    path, payloads = write_numbered(tmp_path, count=5)
    assert len(rm.ShardReader(path)) == 5
    sidecar = Path(sidecar_path(str(path)))
    data = sidecar.read_bytes()
    broken = [data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :] for place in range(0, len(data), 7)]
    broken += [data[:length] for length in range(0, len(data), 11)] + [data + b"\0", b"", b"junk" * 100]
    for number, content in enumerate(broken):
        sidecar.write_bytes(content)
        assert rm.ShardReader(path)[:] == payloads
        assert len(scans) == number + 2
        assert sidecar.read_bytes() == data


def test_index_of_read_only_directory_is_saved_in_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scans: list[int]
) -> None:
    path, payloads = write_numbered(tmp_path)
    real = LOCAL.create_output

    def refuse(target: str, *, overwrite: bool) -> Any:
        if Path(target).parent == tmp_path:
            raise PermissionError(13, "Permission denied", target)
        return real(target, overwrite=overwrite)

    monkeypatch.setattr(
        type(LOCAL), "create_output", lambda self, target, *, overwrite: refuse(target, overwrite=overwrite)
    )
    assert rm.ShardReader(path)[:] == payloads
    assert os.listdir(tmp_path) == [path.name]
    assert Path(cache_path(str(path))).exists()
    assert rm.ShardReader(path)[:] == payloads
    assert len(scans) == 1


def test_reader_works_if_index_cannot_be_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, payloads = write_numbered(tmp_path)

    def refuse(self: Any, target: str, *, overwrite: bool) -> Any:
        raise PermissionError(13, "Permission denied", target)

    monkeypatch.setattr(type(LOCAL), "create_output", refuse)
    assert rm.ShardReader(path)[:] == payloads
    assert os.listdir(tmp_path) == [path.name]


BUILD = """
import sys, recordmill as rm
for _ in range(30):
    rm.build_index(sys.argv[1])
    assert len(rm.ShardReader(sys.argv[1])) == 3000
"""


def test_concurrent_build_index_never_exposes_partial_sidecar(tmp_path: Path) -> None:
    path, payloads = write_numbered(tmp_path, count=3000)
    workers = [subprocess.Popen([sys.executable, "-c", BUILD, str(path)]) for _ in range(2)]
    assert [worker.wait(timeout=100) for worker in workers] == [0, 0]
    assert rm.ShardReader(path)[:] == payloads
    assert sorted(os.listdir(tmp_path)) == sorted([path.name, Path(sidecar_path(str(path))).name])


def test_build_index_writes_foreign_index(tmp_path: Path) -> None:
    rec, _ = write_numbered(tmp_path, "recordio", 3)
    tf, _ = write_numbered(tmp_path, "tfrecord", 3)
    written = rm.build_index([rec, tf], foreign=True)
    assert [Path(name).name for name in written] == [
        ".shard.rec.rmx",
        "shard.idx",
        ".shard.tfrecord.rmx",
        "shard.tfindex",
    ]
    offsets = rm.ShardReader(rec).index.offsets.tolist()
    assert (tmp_path / "shard.idx").read_bytes() == b"".join(b"%d\t%d\n" % pair for pair in enumerate(offsets))
    index = rm.ShardReader(tf).index
    rows = zip(index.offsets.tolist(), index.lengths.tolist(), strict=True)
    assert (tmp_path / "shard.tfindex").read_bytes() == b"".join(b"%d %d\n" % row for row in rows)


def test_build_index_keeps_foreign_index_with_keys(tmp_path: Path) -> None:
    path, payloads = write_numbered(tmp_path, "recordio", 3)
    offsets = rm.ShardReader(path).index.offsets.tolist()
    (tmp_path / "shard.idx").write_text("".join(f"cat-{row}\t{offset}\n" for row, offset in enumerate(offsets)))
    rm.build_index(path, foreign=True)
    reader = rm.ShardReader(path)
    assert reader.keys == ["cat-0", "cat-1", "cat-2"]
    assert reader[reader.position_of("cat-2")] == payloads[2]


@pytest.mark.parametrize("format_name, suffix", [("recordio", ".idx"), ("tfrecord", ".tfindex")])
def test_broken_foreign_index_is_named_and_can_be_rebuilt(tmp_path: Path, format_name: str, suffix: str) -> None:
    path, _ = write_numbered(tmp_path, format_name)
    rm.build_index(path, foreign=True)
    foreign = path.with_suffix(suffix)
    good = foreign.read_bytes()
    for broken in (good + b"1\n", b"\n", bytes(range(256))):
        foreign.write_bytes(broken)
        with pytest.raises(rm.FormatError, match="rebuild the index: recordmill index") as caught:
            rm.ShardReader(path).position_of(3)
        assert (caught.value.shard, caught.value.kind) == (str(foreign), "bad_index")
        assert str(foreign) in rm.build_index(path, foreign=True)
        assert foreign.read_bytes() == good


@pytest.mark.parametrize("format_name", ["recordio", "ofrecord"])
def test_verify_detects_flipped_bit_by_sidecar_checksums(tmp_path: Path, format_name: str) -> None:
    path, _ = write_numbered(tmp_path, format_name, 9)
    rm.build_index(path)
    assert rm.verify(path).ok
    offset = int(rm.ShardReader(path).index.offsets[4])
    data = bytearray(path.read_bytes())
    data[offset + 16] ^= 4
    path.write_bytes(data)
    report = rm.verify(path, payload=None)
    assert [(fault.kind, fault.record, fault.offset) for fault in report.faults] == [("sidecar_checksum", 4, offset)]
    assert report.num_records == 8


def test_build_index_of_damaged_shard_raises_and_saves_nothing(tmp_path: Path) -> None:
    path, _ = write_numbered(tmp_path)
    os.truncate(path, path.stat().st_size - 3)
    with pytest.raises(rm.TruncatedError):
        rm.build_index(path)
    assert os.listdir(tmp_path) == [path.name]


def test_index_takes_sixteen_bytes_per_record(tmp_path: Path) -> None:
    path, _ = write_numbered(tmp_path, count=1000)
    index = rm.ShardReader(path).index
    assert index.offsets.dtype == index.lengths.dtype == np.int64
    assert index.offsets.nbytes + index.lengths.nbytes == 16_000

"""The kept index: built once, reused, extended, noticed to be old, and never in the way."""

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
from tests.shards.made import FAMILIES, message, shard


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Starts of the scans that an index was built with."""
    starts: list[int] = []

    def counting(*args: Any, **kwargs: Any) -> Any:
        starts.append(kwargs.get("start", 0))
        return _core.scan(*args, **kwargs)

    monkeypatch.setattr(index_module, "_core", SimpleNamespace(**vars(_core) | {"scan": counting}))
    return starts


def made(folder: Path, family: str = "recordio", count: int = 50, **options: Any) -> tuple[Path, list[bytes]]:
    payloads = [message(family, number) for number in range(count)]
    return shard(folder, family, payloads, **options), payloads


@pytest.mark.parametrize("compression", ["", "gzip", "zlib"])
def test_index_when_built_then_is_kept_hidden_and_reused(tmp_path: Path, compression: str, scans: list[int]) -> None:
    path, payloads = made(tmp_path, "tfrecord", compression=compression)
    assert rm.ShardReader(path)[:] == payloads
    assert Path(sidecar_path(str(path))).exists()
    assert Path(sidecar_path(str(path))).name.startswith(".")
    assert len(scans) == 1
    reader = rm.ShardReader(path)
    assert (len(reader), reader[17], reader[-1]) == (50, payloads[17], payloads[-1])
    assert len(scans) == 1


def test_index_when_never_is_said_then_is_not_kept(tmp_path: Path) -> None:
    path, payloads = made(tmp_path)
    assert rm.ShardReader(path, index="never")[:] == payloads
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("family", FAMILIES)
def test_shard_when_appended_to_then_only_the_new_part_is_scanned(
    tmp_path: Path, family: str, scans: list[int]
) -> None:
    path, payloads = made(tmp_path, family)
    end = path.stat().st_size
    assert len(rm.ShardReader(path)) == 50
    more = [message(family, number) for number in range(50, 80)]
    with path.open("ab") as file:
        file.write(shard(tmp_path, family, more, name="more").read_bytes())
    assert rm.ShardReader(path)[:] == payloads + more
    assert scans == [0, end]
    assert rm.ShardReader(path)[:] == payloads + more
    assert scans == [0, end]


def replace(path: Path) -> list[bytes]:
    payloads = [bytes(reversed(payload)) for payload in rm.ShardReader(path)]
    shard(path.parent, "recordio", payloads, name="other").rename(path)
    return payloads


def cut(path: Path) -> list[bytes]:
    reader = rm.ShardReader(path)
    payloads = reader[:20]
    os.truncate(path, int(reader.index.offsets[20]))
    return payloads


def shorter(path: Path) -> list[bytes]:
    shard(path.parent, "recordio", [b"only one"], name="other").rename(path)
    return [b"only one"]


@pytest.mark.parametrize("change", [replace, cut, shorter], ids=["replaced", "cut", "shorter"])
def test_shard_when_changed_then_the_old_index_is_not_used(
    tmp_path: Path, change: Callable[[Path], list[bytes]]
) -> None:
    path, _ = made(tmp_path)
    assert len(rm.ShardReader(path)) == 50
    payloads = change(path)
    assert rm.ShardReader(path)[:] == payloads
    assert rm.ShardReader(path)[:] == payloads


def test_sidecar_when_damaged_anywhere_then_is_built_anew(tmp_path: Path, scans: list[int]) -> None:
    path, payloads = made(tmp_path, count=5)
    assert len(rm.ShardReader(path)) == 5
    kept = Path(sidecar_path(str(path)))
    data = kept.read_bytes()
    broken = [data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :] for place in range(0, len(data), 7)]
    broken += [data[:length] for length in range(0, len(data), 11)] + [data + b"\0", b"", b"junk" * 100]
    for number, content in enumerate(broken):
        kept.write_bytes(content)
        assert rm.ShardReader(path)[:] == payloads
        assert len(scans) == number + 2
        assert kept.read_bytes() == data


def test_folder_when_it_cannot_be_written_then_the_index_goes_to_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scans: list[int]
) -> None:
    path, payloads = made(tmp_path)
    real = LOCAL.create

    def refusing(target: str, *, overwrite: bool) -> Any:
        if Path(target).parent == tmp_path:
            raise PermissionError(13, "Permission denied", target)
        return real(target, overwrite=overwrite)

    monkeypatch.setattr(type(LOCAL), "create", lambda self, target, *, overwrite: refusing(target, overwrite=overwrite))
    assert rm.ShardReader(path)[:] == payloads
    assert os.listdir(tmp_path) == [path.name]
    assert Path(cache_path(str(path))).exists()
    assert rm.ShardReader(path)[:] == payloads
    assert len(scans) == 1


def test_neither_folder_when_writable_then_reading_works_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, payloads = made(tmp_path)

    def refusing(self: Any, target: str, *, overwrite: bool) -> Any:
        raise PermissionError(13, "Permission denied", target)

    monkeypatch.setattr(type(LOCAL), "create", refusing)
    assert rm.ShardReader(path)[:] == payloads
    assert os.listdir(tmp_path) == [path.name]


BUILD = """
import sys, recordmill as rm
for _ in range(30):
    rm.build_index(sys.argv[1])
    assert len(rm.ShardReader(sys.argv[1])) == 3000
"""


def test_index_when_built_by_two_processes_at_once_then_is_always_whole(tmp_path: Path) -> None:
    path, payloads = made(tmp_path, count=3000)
    workers = [subprocess.Popen([sys.executable, "-c", BUILD, str(path)]) for _ in range(2)]
    assert [worker.wait(timeout=100) for worker in workers] == [0, 0]
    assert rm.ShardReader(path)[:] == payloads
    assert sorted(os.listdir(tmp_path)) == sorted([path.name, Path(sidecar_path(str(path))).name])


def test_build_index_when_foreign_is_asked_for_then_writes_what_the_tools_read(tmp_path: Path) -> None:
    rec, _ = made(tmp_path, "recordio", 3)
    tf, _ = made(tmp_path, "tfrecord", 3)
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


def test_build_index_when_a_foreign_one_with_keys_fits_then_leaves_it(tmp_path: Path) -> None:
    path, payloads = made(tmp_path, "recordio", 3)
    offsets = rm.ShardReader(path).index.offsets.tolist()
    (tmp_path / "shard.idx").write_text("".join(f"cat-{row}\t{offset}\n" for row, offset in enumerate(offsets)))
    rm.build_index(path, foreign=True)
    reader = rm.ShardReader(path)
    assert reader.keys == ["cat-0", "cat-1", "cat-2"]
    assert reader[reader.position_of("cat-2")] == payloads[2]


@pytest.mark.parametrize("family, suffix", [("recordio", ".idx"), ("tfrecord", ".tfindex")])
def test_foreign_index_when_it_is_broken_then_is_named_and_can_be_built_anew(
    tmp_path: Path, family: str, suffix: str
) -> None:
    path, _ = made(tmp_path, family)
    rm.build_index(path, foreign=True)
    foreign = path.with_suffix(suffix)
    good = foreign.read_bytes()
    for broken in (good + b"1\n", b"\n", bytes(range(256))):
        foreign.write_bytes(broken)
        with pytest.raises(rm.FormatError, match="anew: recordmill index") as caught:
            rm.ShardReader(path).position_of(3)
        assert (caught.value.shard, caught.value.kind) == (str(foreign), "bad_index")
        assert str(foreign) in rm.build_index(path, foreign=True)
        assert foreign.read_bytes() == good


@pytest.mark.parametrize("family", ["recordio", "ofrecord"])
def test_checksums_in_the_index_when_a_payload_bit_flips_then_verify_sees_it(tmp_path: Path, family: str) -> None:
    path, _ = made(tmp_path, family, 9)
    rm.build_index(path)
    assert rm.verify(path).ok
    offset = int(rm.ShardReader(path).index.offsets[4])
    data = bytearray(path.read_bytes())
    data[offset + 16] ^= 4
    path.write_bytes(data)
    report = rm.verify(path, payload=None)
    assert [(fault.kind, fault.record, fault.offset) for fault in report.faults] == [("sidecar_checksum", 4, offset)]
    assert report.num_records == 8


def test_build_index_of_damaged_shard_when_run_then_is_an_error_and_nothing_is_kept(tmp_path: Path) -> None:
    path, _ = made(tmp_path)
    os.truncate(path, path.stat().st_size - 3)
    with pytest.raises(rm.TruncatedError):
        rm.build_index(path)
    assert os.listdir(tmp_path) == [path.name]


def test_index_when_resident_then_takes_sixteen_bytes_per_record(tmp_path: Path) -> None:
    path, _ = made(tmp_path, count=1000)
    index = rm.ShardReader(path).index
    assert index.offsets.dtype == index.lengths.dtype == np.int64
    assert index.offsets.nbytes + index.lengths.nbytes == 16_000

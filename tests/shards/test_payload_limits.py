"""Payloads that are larger or smaller than their format allows: nothing of them is written."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.formats import registry
from tests.shards.helpers import FORMATS

LARGEST = {"tfrecord": 2**63 - 17, "ofrecord": 2**31 - 1, "recordio": 2**29 - 1}


@pytest.fixture
def _small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the payloads of all formats to 1000 bytes."""
    for name, format_ in registry.FORMATS.items():
        framing = replace(format_.framing, max_payload_bytes=1000)
        monkeypatch.setitem(registry.FORMATS, name, replace(format_, framing=framing))


@pytest.mark.parametrize("family", FORMATS)
def test_largest_payload_of_each_format(family: str) -> None:
    assert registry.get_format(family).framing.max_payload_bytes == LARGEST[family]


@pytest.mark.usefixtures("_small_limit")
@pytest.mark.parametrize("num_before", [0, 300])
@pytest.mark.parametrize("kind", ["payload", "example"])
@pytest.mark.parametrize("family", FORMATS)
def test_shard_writer_names_record_that_is_too_large(tmp_path: Path, family: str, kind: str, num_before: int) -> None:
    def record(num_bytes: int) -> Any:
        data = bytes([1]) * num_bytes
        return data if kind == "payload" else {"image": data}

    largest = 1000 if kind == "payload" else 900
    records = [*[record(largest)] * num_before, record(1001), record(1)]
    for write in (write_shards, rm.pack):
        with pytest.raises(rm.LimitError, match="the record is too large") as caught:
            write(records, tmp_path / "limited" / "part", format=family, shards=2)
        error = pickle.loads(pickle.dumps(caught.value))
        assert (error.kind, error.record) == ("limit_exceeded", num_before)
        assert error.expected == "at most 1,000 bytes" and "bytes" in error.found and family in str(error)
        assert list((tmp_path / "limited").iterdir()) == []
        write([record(largest)] * 300, tmp_path / "full" / "part", format=family, shards=2, overwrite=True)


def write_shards(records: list[Any], path: Path, **options: Any) -> None:
    with rm.ShardWriter(path, **options) as writer:
        for record in records:
            writer.write(record)


@pytest.mark.usefixtures("_small_limit")
@pytest.mark.parametrize("family", FORMATS)
def test_payload_writer_skips_record_that_is_too_large(tmp_path: Path, family: str) -> None:
    with rm.PayloadWriter(tmp_path / "file", format=family) as writer:
        writer.write(b"a" * 1000)
        with pytest.raises(rm.LimitError, match="the record is too large") as caught:
            writer.write(b"b" * 1001)
        writer.write(b"c" * 999)
    assert caught.value.record == 1
    assert [len(payload) for payload in rm.ShardReader(tmp_path / "file", format=family)] == [1000, 999]


def test_payload_writer_skips_empty_record_of_ofrecord(tmp_path: Path) -> None:
    with rm.PayloadWriter(tmp_path / "file", format="ofrecord") as writer:
        writer.write(b"a")
        with pytest.raises(rm.FramingError, match="the record is empty") as caught:
            writer.write(b"")
        writer.write(b"c")
    assert caught.value.record == 1
    assert list(rm.ShardReader(tmp_path / "file", format="ofrecord")) == [b"a", b"c"]


@pytest.mark.parametrize("example", [b"", {}])
def test_shard_writer_names_empty_record_of_ofrecord(tmp_path: Path, example: Any) -> None:
    valid = b"a" if isinstance(example, bytes) else {"a": 1}
    with pytest.raises(rm.FramingError, match="the record is empty") as caught:
        write_shards([*[valid] * 300, example, valid], tmp_path / "part", format="ofrecord")
    assert caught.value.record == 300
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("family", ["ofrecord", "recordio"])
def test_writers_reject_payload_beyond_real_limit_without_copying_it(tmp_path: Path, family: str) -> None:
    payload = memoryview(np.zeros(LARGEST[family] + 1, np.uint8))  # pages that are never touched
    with pytest.raises(rm.LimitError):
        write_shards([b"a", payload], tmp_path / "part", format=family)
    writer = rm.PayloadWriter(tmp_path / "file", format=family)
    with pytest.raises(rm.LimitError):
        writer.write(payload)
    writer.discard()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_pack_reports_image_file_beyond_limit_of_format(tmp_path: Path, on_error: Any) -> None:
    (tmp_path / "images" / "a").mkdir(parents=True)
    for name in ("1.png", "2.png", "3.png"):
        (tmp_path / "images" / "a" / name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(10))
    with (tmp_path / "images" / "a" / "2.png").open("ab") as file:
        file.truncate(2**29)  # a sparse file
    if on_error == "stop":
        with pytest.raises(rm.ImageError, match=r"cannot be packed.*536,870,912 bytes") as caught:
            rm.pack(tmp_path / "images", tmp_path / "out" / "train.rec")
        assert (caught.value.shard or "").endswith("2.png")
        assert not list((tmp_path / "out").iterdir())
    else:
        result = rm.pack(tmp_path / "images", tmp_path / "out" / "train.rec", on_error="skip")
        assert result.num_records == 2 and [path[-5:] for path, _ in result.skipped] == ["2.png"]

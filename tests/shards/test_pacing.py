"""Large records are read a few at a time, whoever goes through them all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill import _core
from recordmill.shards import reader as pacing
from recordmill.shards.open import open_shard
from recordmill.shards.reader import records_per_read
from tests.shards.helpers import FORMATS, encode_message, write_shard

SIZE = 300


@pytest.fixture
def _little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "_MAX_BYTES_PER_READ", 1000)


def large(folder: Path, format_name: str, compression: str = "") -> Path:
    return write_shard(folder, format_name, [bytes([number]) * SIZE for number in range(20)], compression=compression)


@pytest.mark.usefixtures("_little")
@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("compression", ["", "gzip"])
def test_records_per_read_is_small_for_large_records(tmp_path: Path, format_name: str, compression: str) -> None:
    opened = open_shard([str(large(tmp_path, format_name, compression))])
    assert records_per_read(opened) == 3
    index = rm.ShardReader(opened.paths[0]).index
    assert records_per_read(opened, index) == 3 and records_per_read(opened, index[:0]) == 256


@pytest.mark.parametrize("format_name", FORMATS)
def test_records_per_read_is_maximum_for_small_or_no_records(tmp_path: Path, format_name: str) -> None:
    assert (
        records_per_read(open_shard([str(write_shard(tmp_path, format_name, [encode_message(format_name, 1)] * 9))]))
        == 256
    )
    (tmp_path / "empty.rec").touch()
    assert records_per_read(open_shard([str(tmp_path / "empty.rec")])) == 256


@pytest.mark.usefixtures("_little")
@pytest.mark.parametrize("format_name", FORMATS)
def test_large_records_are_read_verified_and_indexed_in_small_parts(
    tmp_path: Path, format_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[int]()
    stream, fetch = _core.BatchStream, _core.fetch

    def streaming(source: Any, kind: Any, num_records: int, **options: Any) -> Any:
        asked.append(num_records)
        return stream(source, kind, num_records, **options)

    def fetching(source: Any, kind: Any, offsets: np.ndarray, lengths: np.ndarray, **options: Any) -> Any:
        asked.append(len(offsets))
        return fetch(source, kind, offsets, lengths, **options)

    path = large(tmp_path, format_name)
    monkeypatch.setattr(_core, "BatchStream", streaming)
    monkeypatch.setattr(_core, "fetch", fetching)
    assert len(list(rm.ShardReader(path))) == 20
    rm.build_index(path)
    assert rm.verify(path, payload="raw").ok
    assert asked and max(asked) <= 3

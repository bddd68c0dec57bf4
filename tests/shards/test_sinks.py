"""Where frames go: dealt out to shards in turn, or rolled into shards that follow; nothing is held back long."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill as rm
from recordmill.formats.registry import get_format
from recordmill.shards.output import deal_records, frame_payloads
from recordmill.types import Ragged
from tests.shards.made import FAMILIES


@given(st.lists(st.binary(min_size=1, max_size=9), max_size=40), st.integers(1, 50), st.sampled_from(FAMILIES))
def test_frames_when_dealt_then_are_those_of_the_payloads_dealt(rows: list[bytes], parts: int, family: str) -> None:
    found = list(deal_records(frame_payloads(get_format(family), Ragged.from_rows(rows)), parts))
    hands = [rows[part::parts] for part in range(parts)]
    expected = [frame_payloads(get_format(family), Ragged.from_rows(hand)) for hand in hands]
    assert len(found) == (1 if parts == 1 else min(parts, len(rows)))
    for part, whole in zip(found, expected, strict=False):
        assert bytes(part.data) == bytes(whole.data) and part.lengths.tolist() == whole.lengths.tolist()
        assert (part.checksums is None) == (whole.checksums is None)
        assert part.checksums is None or part.checksums.tolist() == whole.checksums.tolist()  # type: ignore[union-attr]


@given(st.lists(st.binary(min_size=1, max_size=9), max_size=40), st.sampled_from(FAMILIES))
def test_payloads_when_framed_as_a_list_then_are_as_in_one_buffer(rows: list[bytes], family: str) -> None:
    found = frame_payloads(get_format(family), rows)
    expected = frame_payloads(get_format(family), Ragged.from_rows(rows))
    assert bytes(found.data) == bytes(expected.data) and found.lengths.tolist() == expected.lengths.tolist()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("shards", [7, 300])
def test_shards_when_many_then_record_i_is_in_shard_i_modulo_their_number(
    tmp_path: Path, family: str, shards: int
) -> None:
    payloads = [b"%d" % number * (1 + number % 7) for number in range(5000)]
    with rm.ShardWriter(tmp_path / "part", format=family, shards=shards, payload="raw") as writer:
        for payload in payloads:
            writer.write(payload)
    for number, path in enumerate(writer.paths):
        assert list(rm.ShardReader(path)) == payloads[number::shards]
    assert rm.verify(writer.paths).ok


@pytest.mark.parametrize("options", [{"shards": 64}, {"max_shard_bytes": 1 << 20}, {}])
def test_arrays_when_written_then_are_on_the_disk_before_many_megabytes_wait(tmp_path: Path, options: dict) -> None:
    with rm.ShardWriter(tmp_path / "part", **options) as writer:
        for number in range(20):
            writer.write({"x": np.full(1 << 18, number, np.float32)})
        written = sum(entry.stat().st_size for entry in os.scandir(tmp_path))
        assert written >= 12 << 20
    assert len(rm.open(writer.paths)) == 20

"""Short records in any order: read one by one, and from memory once the files are kept there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import recordmill as rm
from recordmill.shards.collection import ShardCollection
from tests.shards.helpers import FORMATS, FRAMES, encode_message, write_shard

SIZES = (40, 0, 300, 1, 90)
# Bytes in front of a payload.
HEADS = {"tfrecord": 12, "ofrecord": 8, "recordio": 8}
PAYLOADS = {"tfrecord": "example", "ofrecord": "ofrecord", "recordio": "example"}


@pytest.fixture(scope="module", params=FORMATS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Path]]:
    """Shards of several lengths, one of them empty."""
    folder, first, paths = tmp_path_factory.mktemp("scattered"), 0, []
    for number, size in enumerate(SIZES):
        paths.append(
            write_shard(
                folder, request.param, [encode_message(request.param, first + row) for row in range(size)], f"s{number}"
            )
        )
        first += size
    return request.param, paths


def ids(columns: dict[str, Any]) -> list[int]:
    """Numbers of the records, which are their positions."""
    return np.asarray(columns["id"]).reshape(-1).tolist()


@given(st.lists(st.integers(0, sum(SIZES) - 1), max_size=700), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_columns_match_positions_in_any_order(made: tuple[str, list[Path]], order: list[int], times: int) -> None:
    found = ShardCollection(made[1], payload=PAYLOADS[made[0]])
    for _ in range(times):
        columns = found.columns(np.array(order, np.int64))
        assert ids(columns) == order
        assert [*columns["text"]] == [b"x" * (number % 7) for number in order]
    assert ids(found.columns(np.arange(len(found))[::-1])) == list(range(len(found)))[::-1]
    assert ids(found.columns(range(39, 120))) == list(range(39, 120))


@pytest.mark.parametrize("positions", [[0, -1], [431], [2**40]])
def test_columns_reject_position_out_of_range(made: tuple[str, list[Path]], positions: list[int]) -> None:
    with pytest.raises(IndexError, match=rf"position {positions[-1]} .* 431 records"):
        ShardCollection(made[1], payload=PAYLOADS[made[0]]).columns(np.array(positions, np.int64))


@pytest.mark.parametrize("kept", [False, True])
def test_columns_name_first_damaged_record(made: tuple[str, list[Path]], tmp_path: Path, kept: bool) -> None:
    format_name, paths = made
    payloads = [encode_message(format_name, number) for number in range(300)]
    path = write_shard(tmp_path, format_name, payloads, "damaged")
    ends = np.cumsum([0, *(len(FRAMES[format_name](payload)) for payload in payloads)])
    found = ShardCollection([paths[0], path], payload=PAYLOADS[format_name])
    schema = found.schema
    order = np.random.default_rng(1).permutation(len(found))
    good, bad = order[order != 40 + 200][:150], 40 + 200
    contents = bytearray(path.read_bytes())
    contents[ends[200] + HEADS[format_name]] ^= 0x17
    path.write_bytes(contents)
    found = ShardCollection([paths[0], path], payload=PAYLOADS[format_name], schema=schema)
    if kept:
        for _ in range(5):
            found.columns(good)
    with pytest.raises(rm.DamageError) as caught:
        found.columns(np.array([*good, bad, bad, *good]))
    assert (caught.value.shard, caught.value.record, caught.value.offset) == (str(path), 200, ends[200])
    assert ids(found.columns(good)) == [position if position < 40 else position - 40 for position in good]

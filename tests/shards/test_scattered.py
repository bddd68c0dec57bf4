"""Short records in any order: read one by one, and from memory once the files are kept there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import recordmill as rm
from recordmill.shards.collection import ShardCollection
from tests.shards.made import FAMILIES, FRAMES, message, shard

SIZES = (40, 0, 300, 1, 90)
# Bytes in front of a payload.
HEADS = {"tfrecord": 12, "ofrecord": 8, "recordio": 8}
PAYLOADS = {"tfrecord": "example", "ofrecord": "ofrecord", "recordio": "example"}


@pytest.fixture(scope="module", params=FAMILIES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Path]]:
    """Shards of several lengths, one of them empty."""
    folder, first, paths = tmp_path_factory.mktemp("scattered"), 0, []
    for number, size in enumerate(SIZES):
        paths.append(
            shard(folder, request.param, [message(request.param, first + row) for row in range(size)], f"s{number}")
        )
        first += size
    return request.param, paths


def ids(columns: dict[str, Any]) -> list[int]:
    """Numbers of the records, which are their positions."""
    return np.asarray(columns["id"]).reshape(-1).tolist()


@given(st.lists(st.integers(0, sum(SIZES) - 1), max_size=700), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_columns_when_asked_in_any_order_again_and_again_then_are_those_of_the_positions(
    made: tuple[str, list[Path]], order: list[int], times: int
) -> None:
    found = ShardCollection(made[1], payload=PAYLOADS[made[0]])
    for _ in range(times):
        columns = found.columns(np.array(order, np.int64))
        assert ids(columns) == order
        assert [*columns["text"]] == [b"x" * (number % 7) for number in order]
    assert ids(found.columns(np.arange(len(found))[::-1])) == list(range(len(found)))[::-1]
    assert ids(found.columns(range(39, 120))) == list(range(39, 120))


@pytest.mark.parametrize("positions", [[0, -1], [431], [2**40]])
def test_columns_when_a_position_is_outside_then_refuses(made: tuple[str, list[Path]], positions: list[int]) -> None:
    with pytest.raises(IndexError, match=rf"position {positions[-1]} .* 431 records"):
        ShardCollection(made[1], payload=PAYLOADS[made[0]]).columns(np.array(positions, np.int64))


@pytest.mark.parametrize("kept", [False, True])
def test_columns_when_a_record_is_damaged_then_names_the_first_one_asked_for(
    made: tuple[str, list[Path]], tmp_path: Path, kept: bool
) -> None:
    family, paths = made
    payloads = [message(family, number) for number in range(300)]
    path = shard(tmp_path, family, payloads, "damaged")
    ends = np.cumsum([0, *(len(FRAMES[family](payload)) for payload in payloads)])
    found = ShardCollection([paths[0], path], payload=PAYLOADS[family])
    schema = found.schema
    order = np.random.default_rng(1).permutation(len(found))
    good, bad = order[order != 40 + 200][:150], 40 + 200
    contents = bytearray(path.read_bytes())
    contents[ends[200] + HEADS[family]] ^= 0x17
    path.write_bytes(contents)
    found = ShardCollection([paths[0], path], payload=PAYLOADS[family], schema=schema)
    if kept:
        for _ in range(5):
            found.columns(good)
    with pytest.raises(rm.DamageError) as caught:
        found.columns(np.array([*good, bad, bad, *good]))
    assert (caught.value.shard, caught.value.record, caught.value.offset) == (str(path), 200, ends[200])
    assert ids(found.columns(good)) == [position if position < 40 else position - 40 for position in good]

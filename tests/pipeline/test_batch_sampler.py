"""Positions of the batches of each rank: none is lost or repeated, and all ranks have the same number of batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recordmill.pipeline.dataset import Dataset
from recordmill.pipeline.stages.batch import BatchSampler
from tests.pipeline.sources import numbers


def positions_of_all(length: int, size: int, last: Any, world_size: int, start: int = 0) -> list[list[list[int]]]:
    """Return the positions of all batches, by batch and rank."""
    ranks = [BatchSampler(length, size, last, rank, world_size, start) for rank in range(world_size)]
    counts = {cuts.num_batches for cuts in ranks}
    assert len(counts) == 1
    return [[np.asarray(cuts.positions(number)).tolist() for cuts in ranks] for number in range(counts.pop() or 0)]


@given(st.integers(1, 200), st.integers(1, 20), st.sampled_from([1, 2, 4, 8]), st.integers(0, 250))
def test_sampler_assigns_each_position_once(length: int, size: int, world_size: int, start: int) -> None:
    together, left = size * world_size, list(range(start, length))
    rest = len(left) % together
    dropped = [one for row in positions_of_all(length, size, "drop", world_size, start) for part in row for one in part]
    assert dropped == left[: len(left) - rest]
    padded = [one for row in positions_of_all(length, size, "pad", world_size, start) for part in row for one in part]
    assert padded == left
    wrapped = positions_of_all(length, size, "wrap", world_size, start)
    assert {len(part) for row in wrapped for part in row} <= {size}
    flat = [one for row in wrapped for part in row for one in part]
    assert flat[: len(left)] == left
    assert flat[len(left) :] == [number % length for number in range(length, length + len(flat) - len(left))]


@given(st.integers(1, 200), st.integers(1, 20), st.sampled_from([1, 2, 4, 8]))
def test_sampler_divides_last_batch_evenly_or_refuses_it(length: int, size: int, world_size: int) -> None:
    rest = length % (size * world_size)
    if 0 < rest < world_size:
        with pytest.raises(ValueError, match="not enough for"):
            positions_of_all(length, size, "keep", world_size)
        return
    rows = positions_of_all(length, size, "keep", world_size)
    assert [one for row in rows for part in row for one in part] == list(range(length))
    assert max(map(len, rows[-1])) - min(map(len, rows[-1])) <= 1


@given(st.integers(1, 200), st.integers(1, 20), st.sampled_from([1, 2, 4]), st.integers(0, 30))
def test_resumed_sampler_yields_only_remaining_batches(length: int, size: int, world_size: int, number: int) -> None:
    cuts = BatchSampler(length, size, "pad", 0, world_size)
    start = cuts.position_after(min(number, cuts.num_batches or 0))
    whole = positions_of_all(length, size, "pad", world_size)
    assert positions_of_all(length, size, "pad", world_size, start) == whole[min(number, len(whole)) :]


def test_sampler_supports_endless_epoch() -> None:
    cuts = BatchSampler(None, 4, "drop", 1, 2)
    assert cuts.num_batches is None
    assert cuts.positions(10**6) == range(8 * 10**6 + 4, 8 * 10**6 + 8)


@pytest.mark.parametrize("length, size, world_size", [(0, 1, 1), (7, 8, 1), (15, 8, 2)])
def test_sampler_refuses_epoch_without_batch(length: int, size: int, world_size: int) -> None:
    with pytest.raises(ValueError, match=r"no samples|not enough"):
        BatchSampler(length, size, "drop", 0, world_size).check_has_batches()


@pytest.mark.parametrize(
    "candidates, stop, start, world_size", [(0, None, 0, 1), (15, None, 0, 2), (99, 7, 0, 1), (9, None, 9, 1)]
)
def test_sampler_refuses_filtered_epoch_that_cannot_have_batch(
    candidates: int, stop: int | None, start: int, world_size: int
) -> None:
    with pytest.raises(ValueError, match=r"no samples|not enough|drops all"):
        BatchSampler(stop, 8, "drop", 0, world_size, start).check_filtered_epoch(candidates)
    BatchSampler(stop, 8, "pad", 0, world_size, start).check_filtered_epoch(candidates + 10)
    BatchSampler(None, 8, "drop", 0, world_size, start).check_filtered_epoch(None)


def test_loader_refuses_filter_with_last_keep_and_several_ranks() -> None:
    filtered = numbers(100).filter(lambda _: True)
    message = r'last="keep"\) cannot be combined with filter and 2 ranks.*use last="drop" or "pad"'
    for dataset in (filtered.batch(4), filtered.take(40).batch(4), filtered.batch(4).take(2)):
        with pytest.raises(ValueError, match=message):
            dataset.loader(rank=1, world_size=2)
        with pytest.raises(ValueError, match=message):
            dataset.shard(0, 2).loader()
        assert list(dataset.loader())
    for last in ("drop", "pad"):
        assert len(list(filtered.batch(4, last=last).loader(rank=1, world_size=2))) in (12, 13)


def test_loader_accepts_endless_filter_with_last_keep_and_several_ranks() -> None:
    endless = numbers(100).repeat().filter(lambda _: True)
    assert len(list(endless.batch(4).take(3).loader(rank=1, world_size=2))) == 3
    assert len(list(endless.take(10).batch(4).loader(rank=1, world_size=2))) == 2
    with pytest.raises(ValueError, match="last 1 samples are not enough for 2 ranks"):
        endless.take(9).batch(4).loader(rank=1, world_size=2)


def test_loader_refuses_filter_without_candidates() -> None:
    def filtered(count: int) -> Dataset:
        return numbers(count).filter(lambda _: True)

    with pytest.raises(ValueError, match="no samples"):
        filtered(0).batch(4).loader()
    with pytest.raises(ValueError, match="not enough for a batch of 16"):
        filtered(10).batch(8, last="drop").loader(rank=0, world_size=2)
    assert list(filtered(0)) == list(numbers(0)) == []
    with pytest.warns(RuntimeWarning, match="passed 0 of 9 samples"):
        assert list(numbers(9).filter(lambda _: False).batch(4).loader()) == []

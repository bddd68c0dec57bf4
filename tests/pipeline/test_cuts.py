"""An epoch cut into batches for ranks: nothing lost, nothing twice, as many for everyone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recordmill.pipeline.batch_positions import Cuts
from recordmill.pipeline.dataset import Dataset
from tests.pipeline.sources import numbers


def everything(length: int, size: int, last: Any, world_size: int, start: int = 0) -> list[list[list[int]]]:
    """Positions by batch and rank."""
    ranks = [Cuts(length, size, last, rank, world_size, start) for rank in range(world_size)]
    counts = {cuts.count for cuts in ranks}
    assert len(counts) == 1
    return [[np.asarray(cuts.positions(number)).tolist() for cuts in ranks] for number in range(counts.pop() or 0)]


@given(st.integers(1, 200), st.integers(1, 20), st.sampled_from([1, 2, 4, 8]), st.integers(0, 250))
def test_epoch_when_cut_then_each_position_is_where_its_rule_says(
    length: int, size: int, world_size: int, start: int
) -> None:
    together, left = size * world_size, list(range(start, length))
    rest = len(left) % together
    dropped = [one for row in everything(length, size, "drop", world_size, start) for part in row for one in part]
    assert dropped == left[: len(left) - rest]
    padded = [one for row in everything(length, size, "pad", world_size, start) for part in row for one in part]
    assert padded == left
    wrapped = everything(length, size, "wrap", world_size, start)
    assert {len(part) for row in wrapped for part in row} <= {size}
    flat = [one for row in wrapped for part in row for one in part]
    assert flat[: len(left)] == left
    assert flat[len(left) :] == [number % length for number in range(length, length + len(flat) - len(left))]


@given(st.integers(1, 200), st.integers(1, 20), st.sampled_from([1, 2, 4, 8]))
def test_last_batch_when_kept_then_is_divided_evenly_or_refused(length: int, size: int, world_size: int) -> None:
    rest = length % (size * world_size)
    if 0 < rest < world_size:
        with pytest.raises(ValueError, match="not enough for"):
            everything(length, size, "keep", world_size)
        return
    rows = everything(length, size, "keep", world_size)
    assert [one for row in rows for part in row for one in part] == list(range(length))
    assert max(map(len, rows[-1])) - min(map(len, rows[-1])) <= 1


@given(st.integers(1, 200), st.integers(1, 20), st.sampled_from([1, 2, 4]), st.integers(0, 30))
def test_epoch_when_gone_on_with_then_is_the_rest_of_it(length: int, size: int, world_size: int, number: int) -> None:
    cuts = Cuts(length, size, "pad", 0, world_size)
    behind = cuts.behind(min(number, cuts.count or 0))
    whole = everything(length, size, "pad", world_size)
    assert everything(length, size, "pad", world_size, behind) == whole[min(number, len(whole)) :]


def test_epoch_when_endless_then_goes_on_for_ever() -> None:
    cuts = Cuts(None, 4, "drop", 1, 2)
    assert cuts.count is None
    assert cuts.positions(10**6) == range(8 * 10**6 + 4, 8 * 10**6 + 8)


@pytest.mark.parametrize("length, size, world_size", [(0, 1, 1), (7, 8, 1), (15, 8, 2)])
def test_epoch_when_it_makes_no_batch_then_is_refused(length: int, size: int, world_size: int) -> None:
    with pytest.raises(ValueError, match=r"no samples|no batch"):
        Cuts(length, size, "drop", 0, world_size).check()


@pytest.mark.parametrize(
    "held, stop, start, world_size", [(0, None, 0, 1), (15, None, 0, 2), (99, 7, 0, 1), (9, None, 9, 1)]
)
def test_epoch_when_a_filter_cannot_leave_a_batch_then_is_refused(
    held: int, stop: int | None, start: int, world_size: int
) -> None:
    with pytest.raises(ValueError, match=r"no samples|no batch|leaves nothing"):
        Cuts(stop, 8, "drop", 0, world_size, start).check_filtered(held)
    Cuts(stop, 8, "keep", 0, world_size, start).check_filtered(held + 10)
    Cuts(None, 8, "drop", 0, world_size, start).check_filtered(None)


def test_loader_when_its_filter_is_handed_nothing_then_is_refused() -> None:
    def held(count: int) -> Dataset:
        return numbers(count).filter(lambda _: True)

    with pytest.raises(ValueError, match="no samples"):
        held(0).batch(4).loader()
    with pytest.raises(ValueError, match="no batch of 16"):
        held(10).batch(8, last="drop").loader(rank=0, world_size=2)
    assert list(held(0)) == list(numbers(0)) == []
    with pytest.warns(RuntimeWarning, match="let 0 of 9 samples through"):
        assert list(numbers(9).filter(lambda _: False).batch(4).loader()) == []

"""`divide_shards`, which divides the records of shards among the read tasks of `rm.ray.read`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recordmill.adapters.ray.datasource import divide_shards

LENGTHS = st.lists(st.lists(st.integers(1, 1000), max_size=40), max_size=6)


def divide(shards: list[list[int]], num_tasks: int) -> list:
    return divide_shards([((str(n),), np.array(lengths, np.int64)) for n, lengths in enumerate(shards)], num_tasks)


@given(LENGTHS, st.integers(1, 50))
def test_segments_contain_every_record_once_in_order(shards: list[list[int]], num_tasks: int) -> None:
    tasks = divide(shards, num_tasks)
    rows = [(segment.files[0], row) for task in tasks for segment in task for row in range(segment.start, segment.stop)]
    assert rows == [(str(number), row) for number, lengths in enumerate(shards) for row in range(len(lengths))]
    assert len(tasks) <= num_tasks and all(tasks)


@given(LENGTHS, st.integers(1, 50))
def test_segments_have_about_the_same_number_of_bytes(shards: list[list[int]], num_tasks: int) -> None:
    tasks = divide(shards, num_tasks)
    sizes = [sum(segment.num_bytes for segment in task) for task in tasks]
    assert sum(sizes) == sum(map(sum, shards))
    longest = max((length for lengths in shards for length in lengths), default=0)
    assert all(size <= sum(sizes) / num_tasks + longest for size in sizes)


@pytest.mark.parametrize(
    "num_tasks, expected", [(1, [[(0, 4)]]), (2, [[(0, 2)], [(2, 4)]]), (9, [[(0, 1)], [(1, 2)], [(2, 3)], [(3, 4)]])]
)
def test_large_shard_is_divided(num_tasks: int, expected: list) -> None:
    tasks = divide([[10, 10, 10, 10]], num_tasks)
    assert [[(segment.start, segment.stop) for segment in task] for task in tasks] == expected


def test_small_shards_are_read_by_one_task() -> None:
    (task,) = divide([[1], [], [2, 3]], 1)
    assert [(segment.files, segment.start, segment.stop) for segment in task] == [(("0",), 0, 1), (("2",), 0, 2)]

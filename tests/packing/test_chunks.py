"""Order of records, division among shards, and chunks of bounded size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recordmill.packing.chunks import ChunkLimits, ChunkQueue, shuffle_positions, split_evenly
from recordmill.packing.sources.base import Items


@given(st.integers(0, 1000), st.integers(1, 60))
def test_split_evenly_returns_all_positions_in_parts_of_equal_length(num_items: int, num_parts: int) -> None:
    parts = split_evenly(num_items, num_parts)
    assert [item for part in parts for item in part] == list(range(num_items))
    sizes = [len(part) for part in parts]
    assert len(parts) == num_parts and max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("seed", [-1, "7", 1.5])
def test_shuffle_positions_rejects_invalid_seed(seed: object) -> None:
    with pytest.raises(ValueError, match="shuffle must be None or an integer seed"):
        shuffle_positions(3, seed)  # type: ignore[arg-type]


@given(st.integers(0, 300), st.integers(0, 2**64))
def test_shuffle_positions_returns_same_permutation_for_same_seed(num_items: int, seed: int) -> None:
    order = shuffle_positions(num_items, seed)
    assert order is not None and sorted(order.tolist()) == list(range(num_items))
    assert (order == shuffle_positions(num_items, seed)).all() and shuffle_positions(num_items, None) is None


def test_chunk_queue_limits_items_and_bytes_of_chunks(tmp_path: Path) -> None:
    sizes = [10, 10, 10, 500, 40, 40, 40, 100, 1]
    names = [f"{index}" for index in range(len(sizes))]
    for name, size in zip(names, sizes, strict=True):
        (tmp_path / name).write_bytes(bytes(size))
    items = Items([*names, "missing"], np.arange(10), str(tmp_path))
    queue = ChunkQueue(items, None, range(1, 10), ChunkLimits(4, 100))
    chunks = []
    while (chunk := queue.take()) is not None:
        chunks.append(chunk.items.names)
    assert chunks == [["1", "2"], ["3"], ["4", "5"], ["6"], ["7"], ["8", "missing"]] and queue.is_empty
    order = np.arange(9, -1, -1)
    assert ChunkQueue(items, order, range(10), ChunkLimits(3, 10**9)).take().items.names == ["missing", "8", "7"]

"""`Memory` reuses the memory of an array after the last view of it is gone, and never earlier."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recordmill.allocator import MIN_REUSED_BYTES, Memory

MIB = 1 << 20
VIEWS = {
    "array": lambda array: array,
    "slice": lambda array: array[3:9, ::2],
    "one number": lambda array: array[5:6, 0],
    "memoryview": memoryview,
    "other dtype": lambda array: array.view(np.uint8).T,
    "dlpack": np.from_dlpack,
    "list": lambda array: [array.reshape(-1)[70:90]],
}


def address(array: np.ndarray) -> int:
    return array.ctypes.data


@pytest.mark.parametrize("kind", VIEWS)
def test_memory_is_not_reused_while_a_view_lives(kind: str) -> None:
    memory = Memory(8 * MIB)
    array = memory.empty((256, 2048), np.float32)
    array[:] = 7
    start, view = address(array), VIEWS[kind](array)
    before = np.array(view)
    del array
    assert memory.kept_bytes == 0
    other = memory.empty((256, 2048), np.float32)
    other[:] = 8
    assert address(other) != start
    assert np.array_equal(np.array(view), before)
    del view
    assert memory.kept_bytes > 2 * MIB
    assert address(memory.empty((2048, 256), np.int32)) == start


def test_empty_returns_the_requested_shape_and_dtype() -> None:
    memory = Memory(8 * MIB)
    for shape, kind in (
        ((3, 5), np.uint8),
        ((1, 700, 900), np.float64),
        ((0, 9), np.int64),
        ((MIN_REUSED_BYTES,), ">u2"),
    ):
        array = memory.empty(shape, kind)
        assert (array.shape, array.dtype) == (shape, np.dtype(kind))
        assert array.flags.writeable and array.flags.c_contiguous
        assert array.nbytes < MIN_REUSED_BYTES or address(array) % 64 == 0
    assert memory.empty((MIN_REUSED_BYTES,), object)[5] is None


def test_memory_frees_oldest_block_beyond_max_bytes() -> None:
    memory = Memory(5 * MIB)
    arrays = [memory.empty((2, MIB), np.uint8) for _ in range(4)]
    addresses = [address(array) for array in arrays]
    while arrays:
        del arrays[0]
        assert memory.kept_bytes <= 5 * MIB
    assert {address(one) for one in [memory.empty((2, MIB), np.uint8) for _ in range(2)]} == set(addresses[2:])
    large = memory.empty((6, MIB), np.uint8)
    del large
    assert memory.kept_bytes <= 5 * MIB


def test_array_outlives_its_memory_object() -> None:
    memory = Memory(8 * MIB)
    array = memory.empty((MIB,), np.int64)
    array[:] = 5
    del memory
    assert (array == 5).all()


@given(st.integers(0, 1 << 32))
def test_arrays_of_several_threads_never_change(seed: int) -> None:
    memory = Memory(6 * MIB)

    def work(number: int) -> bool:
        rng, views = random.Random(seed + number), list[tuple[Any, int]]()
        for value in range(12):
            array = memory.empty((rng.choice([1, 2]), MIB), np.uint8)
            array[:, :: MIB // 16] = value * 4 + number
            views.append((array[:, :: MIB // 16], value * 4 + number))
            del array
            rng.shuffle(views)
            del views[rng.randrange(1, 4) :]
            if not all((view == expected).all() for view, expected in views):
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_closed_memory_keeps_nothing() -> None:
    memory = Memory(8 * MIB)
    first, second = memory.empty((2, MIB), np.uint8), memory.empty((2, MIB), np.uint8)
    del first
    assert memory.kept_bytes > 2 * MIB
    memory.close()
    assert memory.kept_bytes == 0
    del second
    assert memory.kept_bytes == 0

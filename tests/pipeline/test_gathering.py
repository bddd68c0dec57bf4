"""Values that a function returns one after the other: the column that they would make at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, strategies as st

from recordmill.pipeline.rows import column_of
from recordmill.pipeline.stages.function import Gathering

INTS = st.integers(-5, 5) | st.sampled_from([2**62, 2**63, -(2**63), -(2**63) - 1, 2**64, 2**70])
CODES = "?bBhHiIlLqQefd"
SCALARS = st.builds(lambda code, value: np.dtype(code).type(value), st.sampled_from(CODES), st.integers(0, 1))
ARRAYS = st.builds(lambda code, length: np.ones(length, code), st.sampled_from("if"), st.integers(0, 2))
VALUES = INTS | st.floats() | st.booleans() | SCALARS | ARRAYS | st.sampled_from(["text", b"bytes", None])
ALIKE = st.one_of(*(st.lists(one, max_size=9) for one in (INTS, st.floats(), st.booleans(), SCALARS, ARRAYS)))


@given(ALIKE | st.lists(VALUES, max_size=9), st.integers(0, 3))
def test_column_when_values_come_one_by_one_then_is_that_of_all_of_them(values: list[Any], more: int) -> None:
    gathering = Gathering(len(values) + more)
    for value in values:
        gathering.add({"x": value})
    found, expected = gathering.columns().get("x", []), column_of(values)
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes() or (found.dtype == object and found.tolist() == expected.tolist())
    else:
        assert [repr(np.asarray(one).tolist()) for one in found] == [repr(np.asarray(one).tolist()) for one in expected]


@given(st.integers(1, 6))
def test_column_when_arrays_follow_numbers_of_the_dtype_then_rows_stay_what_they_were(count: int) -> None:
    gathering = Gathering(2 * count)
    for number in range(count):
        gathering.add({"x": np.float32(number)})
    for number in range(count):
        gathering.add({"x": np.array(count + number, np.float32)})
    assert gathering.columns()["x"].tolist() == list(range(2 * count))

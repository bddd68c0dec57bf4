"""Calls of user functions: columns built from results, and random generators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recordmill.pipeline.samples import build_column
from recordmill.pipeline.stages.function import ColumnsBuilder, RowGenerators
from tests.pipeline.sources import numbers

INTS = st.integers(-5, 5) | st.sampled_from([2**62, 2**63, -(2**63), -(2**63) - 1, 2**64, 2**70])
CODES = "?bBhHiIlLqQefd"
SCALARS = st.builds(lambda code, value: np.dtype(code).type(value), st.sampled_from(CODES), st.integers(0, 1))
ARRAYS = st.builds(lambda code, length: np.ones(length, code), st.sampled_from("if"), st.integers(0, 2))
VALUES = INTS | st.floats() | st.booleans() | SCALARS | ARRAYS | st.sampled_from(["text", b"bytes", None])
ALIKE = st.one_of(*(st.lists(one, max_size=9) for one in (INTS, st.floats(), st.booleans(), SCALARS, ARRAYS)))


@given(ALIKE | st.lists(VALUES, max_size=9), st.integers(0, 3))
def test_columns_builder_equals_build_column(values: list[Any], more: int) -> None:
    builder = ColumnsBuilder(len(values) + more)
    for value in values:
        builder.add({"x": value})
    found, expected = builder.columns().get("x", []), build_column(values)
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes() or (found.dtype == object and found.tolist() == expected.tolist())
    else:
        assert [repr(np.asarray(one).tolist()) for one in found] == [repr(np.asarray(one).tolist()) for one in expected]


@given(st.integers(1, 6))
def test_columns_builder_keeps_scalars_before_arrays(count: int) -> None:
    builder = ColumnsBuilder(2 * count)
    for number in range(count):
        builder.add({"x": np.float32(number)})
    for number in range(count):
        builder.add({"x": np.array(count + number, np.float32)})
    assert builder.columns()["x"].tolist() == list(range(2 * count))


KEYS = np.random.default_rng(5).integers(0, 1 << 64, (20, 2), np.uint64)
Draw = Callable[[np.random.Generator], Any]
DRAWS: list[Draw] = [
    lambda rng: rng.random(3),
    lambda rng: rng.integers(0, 100, 5, np.uint8),  # leaves half a word unused
    lambda rng: rng.integers(0, 1 << 31, dtype=np.int32),
    lambda rng: rng.normal(size=2),
    lambda rng: rng.permutation(7),
    lambda rng: rng.bytes(5),
]


@pytest.mark.parametrize("number", range(len(DRAWS)))
def test_reused_generator_equals_new_generator(number: int) -> None:
    generators, draw = RowGenerators(KEYS), DRAWS[number]
    for row in [*range(20), 3, 3, 0]:
        for one in (draw, DRAWS[2], draw):
            new = np.random.Generator(np.random.Philox(key=KEYS[row]))
            assert np.array_equal(one(generators.generator(row)), one(new))


def test_unreferenced_generator_is_reused() -> None:
    generators = RowGenerators(KEYS)
    assert len({id(generators.generator(row)) for row in range(20)}) == 1


@pytest.mark.parametrize(
    "kept", [lambda rng: rng, lambda rng: rng.bit_generator, lambda rng: rng.random, lambda rng: [rng]]
)
def test_referenced_generator_is_not_reused(kept: Callable[[np.random.Generator], Any]) -> None:
    generators, used, expected = RowGenerators(KEYS), [], []
    for row in range(20):
        used.append(kept(generators.generator(row)))
        expected.append(kept(np.random.Generator(np.random.Philox(key=KEYS[row]))))
    for one, same in zip(used, expected, strict=True):
        assert [_number(one) for _ in range(3)] == [_number(same) for _ in range(3)]


def _number(kept: Any) -> Any:
    kept = kept[0] if isinstance(kept, list) else kept
    if callable(kept):
        return kept()
    return kept.random() if isinstance(kept, np.random.Generator) else kept.random_raw()


def test_function_that_keeps_generators_gets_one_per_sample() -> None:
    held: dict[int, np.random.Generator] = {}

    def keeps(sample: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        held[int(sample["id"])] = rng
        return {"id": sample["id"], "draw": rng.random()}

    batches = list(numbers(60).map(keeps, rng=True).batch(7).loader(threads=3))
    assert len(np.unique(np.concatenate([batch["draw"] for batch in batches]))) == 60
    assert len({rng.random() for rng in held.values()}) == 60

"""Generators that functions are handed: each as if it were new, also where a function keeps one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from recordmill.pipeline.stages.function import Generators
from tests.pipeline.sources import numbers

KEYS = np.random.default_rng(5).integers(0, 1 << 64, (20, 2), np.uint64)
Draw = Callable[[np.random.Generator], Any]
DRAWS: list[Draw] = [
    lambda rng: rng.random(3),
    lambda rng: rng.integers(0, 100, 5, np.uint8),  # leaves half a word over
    lambda rng: rng.integers(0, 1 << 31, dtype=np.int32),
    lambda rng: rng.normal(size=2),
    lambda rng: rng.permutation(7),
    lambda rng: rng.bytes(5),
]


@pytest.mark.parametrize("number", range(len(DRAWS)))
def test_generator_when_used_again_then_draws_as_a_new_one(number: int) -> None:
    generators, draw = Generators(KEYS), DRAWS[number]
    for row in [*range(20), 3, 3, 0]:
        for one in (draw, DRAWS[2], draw):
            new = np.random.Generator(np.random.Philox(key=KEYS[row]))
            assert np.array_equal(one(generators.of(row)), one(new))


def test_generator_when_nobody_kept_it_then_is_the_same_object() -> None:
    generators = Generators(KEYS)
    assert len({id(generators.of(row)) for row in range(20)}) == 1


@pytest.mark.parametrize(
    "kept", [lambda rng: rng, lambda rng: rng.bit_generator, lambda rng: rng.random, lambda rng: [rng]]
)
def test_generator_when_somebody_keeps_it_then_goes_on_undisturbed(kept: Callable[[np.random.Generator], Any]) -> None:
    generators, held, alone = Generators(KEYS), [], []
    for row in range(20):
        held.append(kept(generators.of(row)))
        alone.append(kept(np.random.Generator(np.random.Philox(key=KEYS[row]))))
    for one, same in zip(held, alone, strict=True):
        assert [_number(one) for _ in range(3)] == [_number(same) for _ in range(3)]


def _number(kept: Any) -> Any:
    kept = kept[0] if isinstance(kept, list) else kept
    if callable(kept):
        return kept()
    return kept.random() if isinstance(kept, np.random.Generator) else kept.random_raw()


def test_function_when_it_keeps_its_generator_in_threads_then_each_sample_has_its_own() -> None:
    held: dict[int, np.random.Generator] = {}

    def keeps(sample: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        held[int(sample["id"])] = rng
        return {"id": sample["id"], "draw": rng.random()}

    batches = list(numbers(60).map(keeps, rng=True).batch(7).loader(threads=3))
    assert len(np.unique(np.concatenate([batch["draw"] for batch in batches]))) == 60
    assert len({rng.random() for rng in held.values()}) == 60

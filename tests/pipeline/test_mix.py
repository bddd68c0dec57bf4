"""Mixed datasets: random numbers of the parts, and positions in errors and reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.pipeline.dataset import Dataset
from tests.pipeline.sources import ids, numbers


def add_draw(sample: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    return sample | {"draw": rng.random()}


def add_second_draw(sample: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    return sample | {"again": rng.random()}


def fail_at_seven(sample: dict[str, Any]) -> dict[str, Any]:
    if sample["id"] == 7:
        raise ValueError("seven")
    return sample


def test_mixed_parts_with_equal_seeds_have_different_random_numbers() -> None:
    part = numbers(50).map(add_draw, rng=True)
    inner = rm.mix([part, part], [1, 1])
    mixed = rm.mix([part, inner, part.take(20)], [2, 1, 1]).map(add_second_draw, rng=True)
    found = [(float(sample["draw"]), float(sample["again"])) for sample in mixed]
    assert len({number for pair in found for number in pair}) == 2 * len(found)


def test_mixed_parts_with_explicit_seed_have_different_random_numbers() -> None:
    part = numbers(50).map(add_draw, rng=True, seed=5)
    draws = [float(sample["draw"]) for sample in rm.mix([part, part], [1, 1])]
    assert len(set(draws)) == len(draws) == 100


def test_mixed_random_numbers_do_not_depend_on_ranks_and_threads() -> None:
    part = numbers(32).shuffle(seed=3).map(add_draw, rng=True)
    mixed = rm.mix([part, part], [1, 1])
    alone = [batch["draw"].tolist() for batch in mixed.batch(16).loader(threads=0)]
    loaders = [mixed.batch(8).loader(threads=2, rank=rank, world_size=2) for rank in range(2)]
    assert alone == [np.concatenate([one["draw"], two["draw"]]).tolist() for one, two in zip(*loaders, strict=True)]


def pipelines(function: Any, *failing: int) -> list[Dataset]:
    bad = numbers(20, *failing)
    called = numbers(20).map(function)
    return [
        bad.shuffle(seed=2),
        called.shuffle(seed=2),
        numbers(20).shuffle(seed=2).map(function),
        rm.mix([numbers(5), bad], [1, 1], num_samples=40),
        rm.mix([numbers(5), called.shuffle(seed=2)], [1, 1], num_samples=40).shuffle(seed=4),
        called.repeat(2),
    ]


@pytest.mark.parametrize("number", range(6))
def test_report_of_mixture_has_position_of_missing_sample(number: int) -> None:
    failing, intact = pipelines(fail_at_seven, 7)[number], pipelines(dict)[number]
    with failing.batch(4).loader(on_error="skip", threads=1) as loader:
        loader.set_epoch(1)
        kept = ids(loader)
        missing = [(entry.epoch, entry.position) for entry in loader.report.skipped]
    whole = ids(intact.fetch(range(len(intact)), epoch=1))
    assert kept == [one for position, one in enumerate(whole) if (1, position) not in missing]
    assert [whole[position] for _, position in missing] == [7] * (len(whole) - len(kept)) != []


def test_error_in_mixed_part_has_position_in_mixture() -> None:
    mixed = rm.mix([numbers(10), numbers(20).map(fail_at_seven)], [1, 1])
    with pytest.raises(rm.MapError, match="seven") as caught:
        ids(mixed.batch(4).loader())
    assert int(numbers(20)[caught.value.record]["id"]) == 7
    assert int(rm.mix([numbers(10), numbers(20)], [1, 1])[caught.value.position]["id"]) == 7

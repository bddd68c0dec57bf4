"""Parts of a mixture: random numbers of their own, and errors that tell the place in the epoch of the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.pipeline.dataset import Dataset
from tests.pipeline.sources import ids, numbers


def drawn(sample: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    return sample | {"draw": rng.random()}


def drawn_again(sample: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    return sample | {"again": rng.random()}


def seven(sample: dict[str, Any]) -> dict[str, Any]:
    if sample["id"] == 7:
        raise ValueError("seven")
    return sample


def test_functions_when_in_parts_with_equal_seeds_then_draw_other_numbers() -> None:
    part = numbers(50).map(drawn, rng=True)
    inner = rm.mix([part, part], [1, 1])
    mixed = rm.mix([part, inner, part.take(20)], [2, 1, 1]).map(drawn_again, rng=True)
    found = [(float(sample["draw"]), float(sample["again"])) for sample in mixed]
    assert len({number for pair in found for number in pair}) == 2 * len(found)


def test_functions_when_in_parts_with_one_seed_given_then_draw_other_numbers() -> None:
    part = numbers(50).map(drawn, rng=True, seed=5)
    draws = [float(sample["draw"]) for sample in rm.mix([part, part], [1, 1])]
    assert len(set(draws)) == len(draws) == 100


def test_draws_when_in_a_mixture_then_are_the_same_for_any_ranks_and_threads() -> None:
    part = numbers(32).shuffle(3).map(drawn, rng=True)
    mixed = rm.mix([part, part], [1, 1])
    alone = [batch["draw"].tolist() for batch in mixed.batch(16).loader(threads=0)]
    loaders = [mixed.batch(8).loader(threads=2, rank=rank, world_size=2) for rank in range(2)]
    assert alone == [np.concatenate([one["draw"], two["draw"]]).tolist() for one, two in zip(*loaders, strict=True)]


def pipelines(function: Any, *failing: int) -> list[Dataset]:
    bad = numbers(20, *failing)
    called = numbers(20).map(function)
    return [
        bad.shuffle(2),
        called.shuffle(2),
        numbers(20).shuffle(2).map(function),
        rm.mix([numbers(5), bad], [1, 1], num_samples=40),
        rm.mix([numbers(5), called.shuffle(2)], [1, 1], num_samples=40).shuffle(4),
        called.repeat(2),
    ]


@pytest.mark.parametrize("number", range(6))
def test_failure_when_reported_then_stands_where_the_sample_is_missing(number: int) -> None:
    spoiled, sound = pipelines(seven, 7)[number], pipelines(dict)[number]
    with spoiled.batch(4).loader(on_error="skip", threads=1) as loader:
        loader.set_epoch(1)
        kept = ids(loader)
        gone = [(entry.epoch, entry.position) for entry in loader.report.skipped]
    whole = ids(sound.fetch(range(len(sound)), epoch=1))
    assert kept == [one for place, one in enumerate(whole) if (1, place) not in gone]
    assert [whole[place] for _, place in gone] == [7] * (len(whole) - len(kept)) != []


def test_error_when_raised_in_a_part_then_tells_the_place_in_the_mixture() -> None:
    mixed = rm.mix([numbers(10), numbers(20).map(seven)], [1, 1])
    with pytest.raises(rm.MapError, match="seven") as caught:
        ids(mixed.batch(4).loader())
    assert int(numbers(20)[caught.value.record]["id"]) == 7
    assert int(rm.mix([numbers(10), numbers(20)], [1, 1])[caught.value.position]["id"]) == 7

"""Orders that are computed: permutations, shuffles of three kinds, repeated and cut ones."""

from __future__ import annotations

from math import isqrt

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from recordmill.pipeline.positions import Places
from recordmill.pipeline.stages import shuffle as permutation_module
from recordmill.pipeline.stages.shuffle import Permutation, Shuffle
from recordmill.pipeline.stages.take import Repeat, Skip, Take

LENGTHS = st.one_of(st.integers(1, 300), st.sampled_from([65_535, 65_536, 65_537, 70_003]))
SHORT = st.integers(1, 1_500)
SHUFFLES = st.one_of(
    st.builds(Shuffle, st.integers(0, 2**64 - 1)),
    st.builds(Shuffle, st.integers(0, 9), block=st.integers(2, 400)),
    st.builds(Shuffle, st.integers(0, 9), window=st.integers(2, 400)),
)


def critical(freedom: int) -> float:
    """Value that chi-square exceeds with a probability of 0.01 (Wilson and Hilferty's approximation)."""
    part = 2 / (9 * freedom)
    return float(freedom * (1 - part + 2.3263 * part**0.5) ** 3)


def order(shuffle: Shuffle, length: int, epoch: int = 0) -> np.ndarray:
    return shuffle.at(Places(epoch, range(length)), length).array


@given(LENGTHS, st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_permutation_when_turned_round_then_gives_the_position(length: int, seed: int, word: int) -> None:
    permutation = Permutation(length, (seed, word))
    entries = permutation(np.arange(length))
    assert np.array_equal(np.sort(entries), np.arange(length))
    assert np.array_equal(permutation.inverse(entries), np.arange(length))


def feistel(number: int, length: int, keys: list[int]) -> int:
    """Entry at a position, in plain Python."""
    left = isqrt(length - 1) + 1
    moduli, mask = (left, -(-length // left)), 2**64 - 1
    while True:
        halves = [number % left, number // left]
        for turn, key in enumerate(keys):
            word = (halves[1 - turn % 2] + key) * 0x9E3779B97F4A7C15 & mask
            word = (word ^ word >> 32) * 0xD6E8FEB86659FD93 & mask
            drawn = ((word ^ word >> 29) >> 32) * moduli[turn % 2] >> 32
            halves[turn % 2] = (halves[turn % 2] + drawn) % moduli[turn % 2]
        number = halves[1] * left + halves[0]
        if number < length:
            return number


@given(st.integers(65_537, 2**48), st.integers(0, 2**64 - 1), st.data())
@settings(max_examples=60, deadline=None)
def test_permutation_when_computed_then_is_that_of_the_plain_network(
    length: int, seed: int, data: st.DataObject
) -> None:
    positions = data.draw(st.lists(st.integers(0, length - 1), min_size=1, max_size=20))
    keys = [int(word) for word in permutation_module._words((seed, 3), 10)]
    found = Permutation(length, (seed, 3))(np.array(positions)).tolist()
    assert found == [feistel(position, length, keys) for position in positions]


def test_permutation_when_a_position_is_outside_then_refuses() -> None:
    for outside in (-1, 70_000):
        with pytest.raises(IndexError, match=f"{outside} of 70000"):
            Permutation(70_000, (1,))(np.array([0, outside]))


@pytest.mark.parametrize("length", [2**31 + 11, 2**48])
def test_permutation_when_huge_then_needs_no_memory_and_stays_inside(length: int) -> None:
    permutation = Permutation(length, (1, 2))
    positions = np.random.default_rng(0).integers(0, length, 5_000)
    entries = permutation(positions)
    assert 0 <= entries.min() <= entries.max() < length
    assert len(np.unique(entries)) == len(np.unique(positions))
    assert np.array_equal(permutation.inverse(entries), positions)


@given(SHUFFLES, SHORT)
@settings(max_examples=60, deadline=None)
def test_shuffle_when_applied_then_every_sample_comes_once(shuffle: Shuffle, length: int) -> None:
    found = order(shuffle, length)
    assert np.array_equal(np.sort(found), np.arange(length))
    if shuffle.window is not None:
        assert np.abs(found - np.arange(length)).max() <= shuffle.window


@given(SHUFFLES, SHORT, st.data())
@settings(max_examples=40, deadline=None)
def test_shuffle_when_asked_for_a_part_then_it_is_that_part(shuffle: Shuffle, length: int, data: st.DataObject) -> None:
    whole = order(shuffle, length)
    some = np.array(data.draw(st.lists(st.integers(0, length - 1), min_size=1, max_size=50)), np.int64)
    assert np.array_equal(shuffle.at(Places(0, some), length).array, whole[some])


@pytest.mark.parametrize("shuffle", [Shuffle(7), Shuffle(7, block=50), Shuffle(7, window=300)], ids=repr)
def test_shuffle_when_epoch_or_seed_changes_then_the_order_does(shuffle: Shuffle) -> None:
    first = order(shuffle, 1_000)
    assert np.array_equal(first, order(shuffle, 1_000))
    assert (first != order(shuffle, 1_000, epoch=1)).mean() > 0.9
    other = Shuffle(8, shuffle.block, shuffle.window)
    assert (first != order(other, 1_000)).mean() > 0.9


@pytest.mark.parametrize("length", [60_000, 1_000_000])
def test_shuffle_when_the_set_is_sorted_by_class_then_batches_are_like_uniform_draws(length: int) -> None:
    classes, size, batches = 100, 1_000, 100
    labels = np.arange(length) * classes // length
    for seed in range(3):
        found = labels[Shuffle(seed).at(Places(0, range(size * batches if length > 100_000 else 60_000)), length).array]
        rows = found[: len(found) // size * size].reshape(-1, size)
        counts = np.stack([np.bincount(row, minlength=classes) for row in rows])
        expected = size / classes
        statistic = float(((counts - expected) ** 2 / expected).sum())
        assert statistic < critical(len(rows) * (classes - 1))


def test_blocks_when_read_then_neighbors_come_from_few_blocks() -> None:
    shuffle = Shuffle(3, block=100)
    blocks = order(shuffle, 96_000).reshape(-1, 1_600) // 100
    assert {len(np.unique(row)) for row in blocks[:-1]} <= {16, 17}
    assert 0.93 < shuffle.quality(100_000) < 0.95
    assert Shuffle(3).quality(100_000) == 1.0


def test_repeat_when_places_cross_a_border_then_each_turn_is_an_epoch() -> None:
    before = Repeat(3).at(Places(2, range(8, 13)), 10)
    assert before.array.tolist() == [8, 9, 0, 1, 2]
    assert np.asarray(before.epochs).tolist() == [6, 6, 7, 7, 7]
    inside = Repeat().at(Places(0, range(21, 25)), 10)
    assert (inside.epochs, inside.positions) == (2, range(1, 5))


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_take_and_skip_when_chained_then_act_like_slices(length: int, skip: int, take: int) -> None:
    left = Skip(skip).length(length)
    kept = Take(take).length(left)
    assert kept is not None
    found = Skip(skip).at(Take(take).at(Places(0, range(kept)), left), length).array
    assert found.tolist() == list(range(length))[skip:][:take]


@pytest.mark.parametrize("make", [lambda: Shuffle(-1), lambda: Shuffle(0, block=1), lambda: Shuffle(0, 2, 2),
                                  lambda: Take(-1), lambda: Skip(True), lambda: Repeat(0)])  # fmt: skip
def test_order_when_it_makes_no_sense_then_is_refused(make: object) -> None:
    with pytest.raises(ValueError, match=r"seed|block|needs"):
        make()  # type: ignore[operator]


@given(st.integers(0, 65_536), st.integers(0, 2**64 - 1), st.lists(st.integers(0, 2**32 - 1), max_size=3))
@settings(max_examples=60, deadline=None)
def test_permutation_of_few_when_computed_then_is_the_order_of_random_words(
    length: int, seed: int, stream: list[int]
) -> None:
    words = permutation_module._words((seed, *stream), length)
    order = np.argsort(words, kind="stable")
    permutation = Permutation(length, (seed, *stream))
    assert permutation(np.arange(length)).tolist() == order.tolist()
    assert permutation.inverse(order).tolist() == list(range(length))

"""Order stages: permutations, the three kinds of shuffle, repeat, take and skip."""

from __future__ import annotations

from math import isqrt

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from recordmill.pipeline.samples import Positions
from recordmill.pipeline.stages import shuffle as shuffle_module
from recordmill.pipeline.stages.shuffle import Permutation, Shuffle
from recordmill.pipeline.stages.take import Repeat, Skip, Take

LENGTHS = st.one_of(st.integers(1, 300), st.sampled_from([65_535, 65_536, 65_537, 70_003]))
SHORT = st.integers(1, 1_500)
SHUFFLES = st.one_of(
    st.builds(Shuffle, st.integers(0, 2**64 - 1)),
    st.builds(Shuffle, st.integers(0, 9), block=st.integers(2, 400)),
    st.builds(Shuffle, st.integers(0, 9), window=st.integers(2, 400)),
)


def chi_square_quantile(freedom: int) -> float:
    """Return the 0.99 quantile of the chi-square distribution (Wilson and Hilferty's approximation)."""
    part = 2 / (9 * freedom)
    return float(freedom * (1 - part + 2.3263 * part**0.5) ** 3)


def order(shuffle: Shuffle, length: int, epoch: int = 0) -> np.ndarray:
    return shuffle.map_positions(Positions(epoch, range(length)), length).array


@given(LENGTHS, st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_permutation_inverse_returns_position(length: int, seed: int, word: int) -> None:
    permutation = Permutation(length, (seed, word))
    entries = permutation(np.arange(length))
    assert np.array_equal(np.sort(entries), np.arange(length))
    assert np.array_equal(permutation.inverse(entries), np.arange(length))


def feistel(number: int, length: int, keys: list[int]) -> int:
    """Return the entry at a position, computed in plain Python."""
    left = isqrt(length - 1) + 1
    moduli, mask = (left, -(-length // left)), 2**64 - 1
    while True:
        halves = [number % left, number // left]
        for step, key in enumerate(keys):
            word = (halves[1 - step % 2] + key) * 0x9E3779B97F4A7C15 & mask
            word = (word ^ word >> 32) * 0xD6E8FEB86659FD93 & mask
            offset = ((word ^ word >> 29) >> 32) * moduli[step % 2] >> 32
            halves[step % 2] = (halves[step % 2] + offset) % moduli[step % 2]
        number = halves[1] * left + halves[0]
        if number < length:
            return number


@given(st.integers(65_537, 2**48), st.integers(0, 2**64 - 1), st.data())
@settings(max_examples=60, deadline=None)
def test_permutation_equals_plain_feistel_network(length: int, seed: int, data: st.DataObject) -> None:
    positions = data.draw(st.lists(st.integers(0, length - 1), min_size=1, max_size=20))
    keys = [int(word) for word in shuffle_module._generate_random_words((seed, 3), 10)]
    found = Permutation(length, (seed, 3))(np.array(positions)).tolist()
    assert found == [feistel(position, length, keys) for position in positions]


def test_permutation_refuses_position_out_of_range() -> None:
    for outside in (-1, 70_000):
        with pytest.raises(IndexError, match=f"position {outside} is out of range for 70000 numbers"):
            Permutation(70_000, (1,))(np.array([0, outside]))


@pytest.mark.parametrize("length", [2**31 + 11, 2**48])
def test_huge_permutation_stays_in_range(length: int) -> None:
    permutation = Permutation(length, (1, 2))
    positions = np.random.default_rng(0).integers(0, length, 5_000)
    entries = permutation(positions)
    assert 0 <= entries.min() <= entries.max() < length
    assert len(np.unique(entries)) == len(np.unique(positions))
    assert np.array_equal(permutation.inverse(entries), positions)


@given(SHUFFLES, SHORT)
@settings(max_examples=60, deadline=None)
def test_shuffle_yields_each_sample_once(shuffle: Shuffle, length: int) -> None:
    found = order(shuffle, length)
    assert np.array_equal(np.sort(found), np.arange(length))
    if shuffle.window is not None:
        assert np.abs(found - np.arange(length)).max() <= shuffle.window


@given(SHUFFLES, SHORT, st.data())
@settings(max_examples=40, deadline=None)
def test_shuffle_of_subset_equals_subset_of_shuffle(shuffle: Shuffle, length: int, data: st.DataObject) -> None:
    whole = order(shuffle, length)
    some = np.array(data.draw(st.lists(st.integers(0, length - 1), min_size=1, max_size=50)), np.int64)
    assert np.array_equal(shuffle.map_positions(Positions(0, some), length).array, whole[some])


@pytest.mark.parametrize("shuffle", [Shuffle(7), Shuffle(7, block=50), Shuffle(7, window=300)], ids=repr)
def test_shuffle_order_depends_on_epoch_and_seed(shuffle: Shuffle) -> None:
    first = order(shuffle, 1_000)
    assert np.array_equal(first, order(shuffle, 1_000))
    assert (first != order(shuffle, 1_000, epoch=1)).mean() > 0.9
    other = Shuffle(8, shuffle.block, shuffle.window)
    assert (first != order(other, 1_000)).mean() > 0.9


@pytest.mark.parametrize("length", [60_000, 1_000_000])
def test_shuffle_of_sorted_classes_is_uniform(length: int) -> None:
    classes, size, batches = 100, 1_000, 100
    labels = np.arange(length) * classes // length
    for seed in range(3):
        positions = Positions(0, range(min(length, size * batches)))
        rows = labels[Shuffle(seed).map_positions(positions, length).array].reshape(-1, size)
        counts = np.stack([np.bincount(row, minlength=classes) for row in rows])
        expected = size / classes
        statistic = float(((counts - expected) ** 2 / expected).sum())
        assert statistic < chi_square_quantile(len(rows) * (classes - 1))


def test_block_shuffle_reads_few_blocks_at_once() -> None:
    shuffle = Shuffle(3, block=100)
    blocks = order(shuffle, 96_000).reshape(-1, 1_600) // 100
    assert {len(np.unique(row)) for row in blocks[:-1]} <= {16, 17}
    assert 0.93 < shuffle.quality(100_000) < 0.95
    assert Shuffle(3).quality(100_000) == 1.0


def test_repeat_maps_each_repetition_to_an_epoch() -> None:
    before = Repeat(3).map_positions(Positions(2, range(8, 13)), 10)
    assert before.array.tolist() == [8, 9, 0, 1, 2]
    assert np.asarray(before.epochs).tolist() == [6, 6, 7, 7, 7]
    inside = Repeat().map_positions(Positions(0, range(21, 25)), 10)
    assert (inside.epochs, inside.values) == (2, range(1, 5))


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_take_and_skip_act_like_slices(length: int, skip: int, take: int) -> None:
    left = Skip(skip).length(length)
    kept = Take(take).length(left)
    assert kept is not None
    found = Skip(skip).map_positions(Take(take).map_positions(Positions(0, range(kept)), left), length).array
    assert found.tolist() == list(range(length))[skip:][:take]


@pytest.mark.parametrize("make", [lambda: Shuffle(-1), lambda: Shuffle(0, block=1), lambda: Shuffle(0, 2, 2),
                                  lambda: Take(-1), lambda: Skip(True), lambda: Repeat(0)])  # fmt: skip
def test_order_stages_refuse_invalid_arguments(make: object) -> None:
    with pytest.raises(ValueError, match=r"seed|block|needs"):
        make()  # type: ignore[operator]


@given(st.integers(0, 65_536), st.integers(0, 2**64 - 1), st.lists(st.integers(0, 2**32 - 1), max_size=3))
@settings(max_examples=60, deadline=None)
def test_small_permutation_is_order_of_random_words(length: int, seed: int, stream: list[int]) -> None:
    words = shuffle_module._generate_random_words((seed, *stream), length)
    order = np.argsort(words, kind="stable")
    permutation = Permutation(length, (seed, *stream))
    assert permutation(np.arange(length)).tolist() == order.tolist()
    assert permutation.inverse(order).tolist() == list(range(length))

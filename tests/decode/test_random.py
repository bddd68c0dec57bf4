"""Random numbers: documented counters, independence of the order of calls, and distributions."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill as rm
from recordmill.decode.random import draw_beta
from recordmill.testing.philox import generate_words

POSITIONS = np.arange(20_000)


def test_words_follow_the_documented_counters() -> None:
    seed, epoch, position, stage = (7 << 32) + 5, 3, (9 << 32) + 2, 4100
    block = generate_words(np.array([1, 2, 9 | stage << 16, 3], np.uint64), (5, 7)).tolist()
    expected = [block[1] << 32 | block[0], block[3] << 32 | block[2]]
    assert rm.Draws(seed, epoch).words([position], stage, count=2, first=2).tolist() == [expected]


@given(
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 2**48 - 1), max_size=4),
    st.integers(0, 2**16 - 1),
    st.integers(0, 2**32 - 8),
    st.integers(0, 9),
)
def test_words_equal_the_reference_generator(seed, epoch, positions, stage, first, count) -> None:
    key, expected = (seed & 0xFFFFFFFF, seed >> 32), []
    for position in positions:
        stream = [position & 0xFFFFFFFF, position >> 32 | stage << 16, epoch]
        counters = np.array([[number // 2, *stream] for number in range(first, first + count)], np.uint64)
        blocks = generate_words(counters.reshape(-1, 4).T, key).T.tolist()
        pairs = [block[2:] if number % 2 else block[:2] for number, block in enumerate(blocks, first)]
        expected.append([high << 32 | low for low, high in pairs])
    found = rm.Draws(seed, epoch).words(positions, stage, count, first)
    assert found.tolist() == expected


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), st.integers(0, 7), st.integers(1, 9))
def test_words_do_not_depend_on_how_they_are_requested(seed: int, epoch: int, first: int, count: int) -> None:
    draws = rm.Draws(seed, epoch)
    whole = draws.words([5, 2**47, 0], 70, first + count)
    np.testing.assert_array_equal(draws.words([5, 2**47, 0], 70, count, first), whole[:, first:])
    np.testing.assert_array_equal(draws.words([0, 5], 70, first + count), whole[[2, 0]])


def test_words_differ_by_seed_epoch_stage_and_position() -> None:
    seen = [
        rm.Draws(seed, epoch).words([position], stage)[0, 0]
        for seed in (0, 1, 1 << 32)
        for epoch in (0, 1)
        for stage in (1, 2, 4096)
        for position in (0, 1, 1 << 32)
    ]
    assert len(set(seen)) == len(seen)


def test_uniform_numbers_fill_the_interval_evenly() -> None:
    numbers = rm.Draws(11).uniform(POSITIONS, 4096, 4, low=-2, high=3)
    assert numbers.shape == (20_000, 4) and numbers.min() >= -2 and numbers.max() < 3
    assert _chi_square(np.histogram(numbers, 50, (-2, 3))[0]) < 100  # 49 degrees of freedom: p = 2e-5
    assert abs(np.corrcoef(numbers.T) - np.eye(4)).max() < 0.03
    assert abs(np.corrcoef(numbers[:-1, 0], numbers[1:, 0])[0, 1]) < 0.03


def _chi_square(counts: np.ndarray) -> float:
    expected = counts.sum() / len(counts)
    return float(((counts - expected) ** 2 / expected).sum())


@pytest.mark.parametrize("high", [1, 2, 3, 7, 100])
def test_integers_are_equally_likely(high: int) -> None:
    numbers = rm.Draws(5).integers(POSITIONS, 4096, high)
    assert numbers.min() >= 0 and numbers.max() < high
    assert _chi_square(np.bincount(numbers, minlength=high)) < high + 6 * high**0.5 + 10


@given(st.integers(1, 2**32 - 1), st.integers(0, 2**40))
def test_integer_is_upper_half_of_word_times_bound(high: int, position: int) -> None:
    draws = rm.Draws(3)
    word = int(draws.words([position], 4096)[0, 0])
    assert draws.integers([position], 4096, high).tolist() == [word * high >> 64]


def test_integers_respect_the_bound_of_each_sample() -> None:
    bounds = np.arange(1, 20_001)
    assert (rm.Draws(1).integers(POSITIONS, 4096, bounds) < bounds).all()


def test_booleans_have_the_requested_probability() -> None:
    for chance in (0.0, 0.1, 0.5, 1.0):
        share = rm.Draws(2).booleans(POSITIONS, 4096, chance).mean()
        assert abs(share - chance) <= 5 * (chance * (1 - chance) / len(POSITIONS)) ** 0.5


def test_choice_follows_weights() -> None:
    counts = np.bincount(rm.Draws(2).choice(POSITIONS, 4096, [1, 0, 2, 1, 0]), minlength=5) / len(POSITIONS)
    np.testing.assert_allclose(counts, [0.25, 0, 0.5, 0.25, 0], atol=0.02)


def test_normal_numbers_have_expected_moments_and_tails() -> None:
    numbers = rm.Draws(8).normal(POSITIONS, 4096, 3)
    assert abs(numbers.mean()) < 0.02 and abs(numbers.std() - 1) < 0.02
    assert abs((numbers**3).mean()) < 0.06 and abs((numbers**4).mean() - 3) < 0.15
    assert 0.0015 < (abs(numbers) > 3).mean() < 0.004
    assert abs(np.corrcoef(numbers.T) - np.eye(3)).max() < 0.03


def test_permutation_draws_all_orders_equally_often() -> None:
    orders = rm.Draws(4).permutation(POSITIONS, 4096, 4)
    assert (np.sort(orders, axis=1) == np.arange(4)).all()
    assert _chi_square(np.unique(orders @ [64, 16, 4, 1], return_counts=True)[1]) < 60  # 23 degrees of freedom


@pytest.mark.parametrize("alpha", [0.1, 0.2, 1.0, 4.0])
def test_draw_beta_has_expected_mean_and_variance(alpha: float) -> None:
    numbers = np.array([draw_beta(rm.Draws(6), position, 4096, alpha) for position in range(1500)])
    assert numbers.min() >= 0 and numbers.max() <= 1
    variance = 1 / (4 * (2 * alpha + 1))
    assert abs(numbers.mean() - 0.5) < 5 * (variance / 1500) ** 0.5
    assert abs(numbers.var() / variance - 1) < 0.15


def test_draws_survive_pickling() -> None:
    draws = rm.Draws(2**63, 4)
    copy = pickle.loads(pickle.dumps(draws))
    assert copy == draws and hash(copy) == hash(draws) and repr(draws) == f"Draws(seed={2**63}, epoch=4)"
    assert copy.words([3], 1).tolist() == draws.words([3], 1).tolist()


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: rm.Draws(-1), ValueError),
        (lambda: rm.Draws(2**64), ValueError),
        (lambda: rm.Draws(1.5), TypeError),
        (lambda: rm.Draws(True), TypeError),
        (lambda: rm.Draws(0, 2**32), ValueError),
        (lambda: rm.Draws(0).words([-1], 1), ValueError),
        (lambda: rm.Draws(0).words([2**48], 1), ValueError),
        (lambda: rm.Draws(0).words([0.5], 1), TypeError),
        (lambda: rm.Draws(0).words(3, 1), TypeError),
        (lambda: rm.Draws(0).words([0], 65536), ValueError),
        (lambda: rm.Draws(0).words([0], 1, count=2**33 + 1), ValueError),
        (lambda: rm.Draws(0).words([0], 1, first=2**33), ValueError),
        (lambda: rm.Draws(0).integers([0], 1, 0), ValueError),
        (lambda: rm.Draws(0).integers([0], 1, 2**32), ValueError),
        (lambda: rm.Draws(0).choice([0], 1, []), ValueError),
        (lambda: rm.Draws(0).choice([0], 1, [0, 0]), ValueError),
        (lambda: rm.Draws(0).choice([0], 1, [1, -1]), ValueError),
    ],
)
def test_draws_reject_invalid_arguments(make, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


def test_stage_numbers_are_stable() -> None:
    assert dict(rm.Stage.__members__) == {"CROP": 1, "FLIP": 2, "AFFINE": 3, "MIX": 4, "COLOR": 64, "FREE": 4096}


def test_draws_of_no_positions_have_no_rows() -> None:
    draws = rm.Draws(3)
    assert draws.words([], 5, 7, first=3).shape == (0, 7)
    assert draws.uniform([], 5, 4).shape == draws.normal([], 5, 4).shape == (0, 4)

"""The source for Grain, tested without Grain."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import recordmill as rm
from tests.adapters.conftest import equal
from tests.adapters.squares import FAMILIES, NUM_SAMPLES, samples


@pytest.mark.parametrize("family", FAMILIES)
def test_source_returns_samples_by_position(family: str, squares: Path) -> None:
    dataset = samples(squares, family)
    source = rm.jax.Source(dataset)
    assert len(source) == NUM_SAMPLES
    assert equal(source[np.int64(3)], dataset[3]) and equal(source[-1], dataset[NUM_SAMPLES - 1])
    assert equal(source._getitems([4, 2]), [dataset[4], dataset[2]])


def test_source_reads_given_epoch(squares: Path) -> None:
    dataset = samples(squares, "tfrecord")
    assert equal(rm.jax.Source(dataset, epoch=2)[0], dataset.fetch([0], epoch=2)[0])
    assert not equal(rm.jax.Source(dataset, epoch=2)[0], dataset[0])


def test_pickled_source_has_same_repr_and_samples(squares: Path) -> None:
    source = rm.jax.Source(samples(squares, "recordio"))
    copy = pickle.loads(pickle.dumps(source))
    assert repr(copy) == repr(source) and equal(copy[7], source[7])

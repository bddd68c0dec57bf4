"""The source for Grain, as far as it needs no Grain."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import recordmill as rm
from tests.adapters.conftest import same
from tests.adapters.digits import FAMILIES, NUM_SAMPLES, samples


@pytest.mark.parametrize("family", FAMILIES)
def test_source_when_read_by_position_then_gives_the_samples(family: str, squares: Path) -> None:
    dataset = samples(squares, family)
    source = rm.jax.Source(dataset)
    assert len(source) == NUM_SAMPLES
    assert same(source[np.int64(3)], dataset[3]) and same(source[-1], dataset[NUM_SAMPLES - 1])
    assert same(source._getitems([4, 2]), [dataset[4], dataset[2]])


def test_source_when_given_an_epoch_then_reads_that_one(squares: Path) -> None:
    dataset = samples(squares, "tfrecord")
    assert same(rm.jax.Source(dataset, epoch=2)[0], dataset.fetch([0], epoch=2)[0])
    assert not same(rm.jax.Source(dataset, epoch=2)[0], dataset[0])


def test_source_when_pickled_then_prints_and_reads_the_same(squares: Path) -> None:
    source = rm.jax.Source(samples(squares, "recordio"))
    copy = pickle.loads(pickle.dumps(source))
    assert repr(copy) == repr(source) and same(copy[7], source[7])

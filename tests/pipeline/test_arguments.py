"""What pipelines are given: refused where it is given if it makes no sense, and plain numbers inside."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.pipeline.dataset import Dataset
from tests.pipeline.sources import ids, numbers

SPEC = rm.Raw("uint8", shape=(1,), feature="id")
Make = Callable[[Dataset], Any]


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda some: some.map(len, seed=-1), "a seed is a whole number"),
        (lambda some: some.map(len, seed=1.5), "a seed is a whole number"),
        (lambda some: some.filter(len, seed="a"), "a seed is a whole number"),
        (lambda some: some.decode(x=SPEC, seed=-1), "a seed is a whole number"),
        (lambda some: some.map(len, timeout=True), "timeout is a number of seconds, not True"),
        (lambda some: some.map(len, timeout="1"), "timeout is a number of seconds, not '1'"),
        (lambda some: some.filter(len, timeout=0), "timeout is a number of seconds, not 0"),
        (lambda some: some.shuffle(block=10**30), r"block is a whole number from 2 to 2\*\*48"),
        (lambda some: some.shuffle(window=True), "window is a whole number"),
        (lambda some: some.loader(workers=(1.5, 2)), "workers is"),
        (lambda some: some.loader(workers=(0, 2, 3)), "workers is"),
        (lambda some: some.loader(workers=5), "workers is"),
        (lambda some: some.loader(max_errors="a"), "max_errors is a number"),
        (lambda some: some.loader(max_errors=True), "max_errors is a number"),
        (lambda some: some.loader(rank="0", world_size=1), "not rank '0' of 1"),
        (lambda some: some.loader().set_epoch(1 << 32), "an epoch is a whole number"),
        (lambda some: some.fetch([0], epoch=1.5), "an epoch is a whole number"),
        (lambda some: some.fetch([0], epoch=-1), "an epoch is a whole number"),
        (lambda some: rm.mix(some, [1]), "a list of pipelines"),
        (lambda some: rm.mix([some, some], {1: 2, 3: 4}), "weights are 2 numbers"),
        (lambda some: rm.mix([some], ["a"]), "weights are 1 numbers"),
        (lambda some: rm.mix([some], 1), "weights are 1 numbers"),
        (lambda some: rm.mix([some], [1], num_samples=1.5), "num_samples is a whole number"),
        (lambda some: rm.mix([some], [1], num_samples=True), "num_samples is a whole number"),
        (lambda some: rm.mix([some.repeat()], [1]), "leave out repeat"),
    ],
)
def test_argument_when_it_makes_no_sense_then_is_refused_where_it_is_given(make: Make, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make(numbers(20))


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda some: some.then("shuffle"), "made of stages, not of 'shuffle'"),
        (lambda some: rm.mix(["a.tfrecord"], [1]), "takes pipelines"),
        (lambda some: some[1.5], "a position is a whole number, not 1.5"),
        (lambda some: some["1"], "a position is a whole number"),
        (lambda some: some.fetch([1.7]), "a position is a whole number"),
        (lambda some: some.shuffle().fetch([1.7]), "a position is a whole number"),
        (lambda some: some.fetch(np.array([True, False])), "a position is a whole number"),
    ],
)
def test_argument_when_of_another_type_then_is_refused(make: Make, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        make(numbers(20))


def test_numbers_when_those_of_numpy_then_do_as_those_of_python() -> None:
    ours = numbers(40).shuffle(7, block=3).skip(2).take(30).repeat(2).batch(4)
    theirs = numbers(40).shuffle(np.uint64(7), block=np.int8(3)).skip(np.int32(2)).take(np.int64(30))
    theirs = theirs.repeat(np.uint8(2)).batch(np.int64(4))
    assert ours == theirs and repr(ours) == repr(theirs) and ours.fingerprint() == theirs.fingerprint()
    ranks: dict[str, Any] = {"rank": np.int64(1), "world_size": np.int64(2)}
    with theirs.loader(threads=np.int64(1), **ranks) as loader, ours.loader(rank=1, world_size=2) as plain:
        loader.set_epoch(np.int64(3))
        plain.set_epoch(3)
        assert ids([next(iter(loader))]) == ids([next(iter(plain))])
        assert json.dumps(loader.state_dict()) == json.dumps(plain.state_dict())


def test_epoch_when_a_number_of_numpy_then_is_that_epoch() -> None:
    shuffled = numbers(40).shuffle(1)
    assert ids(shuffled.fetch(range(40), epoch=np.int64(1))) == ids(shuffled.fetch(range(40), epoch=1))


def test_positions_when_outside_then_are_named() -> None:
    with pytest.raises(IndexError, match="position 1000 of 20 elements"):
        numbers(20).shuffle().fetch([3, 1000])
    with pytest.raises(IndexError, match="position 0 of 0 elements"):
        numbers(20).take(0).fetch([0])


def test_mixture_when_given_iterators_then_takes_them() -> None:
    parts = [numbers(20), numbers(20)]
    assert rm.mix(iter(parts), iter([1, 3])) == rm.mix(parts, [1, 3])
    assert rm.mix(parts, [1e308, 1e308]) == rm.mix(parts, [1, 1])
    with pytest.raises(ValueError, match="above 0"):
        rm.mix(parts, [1, math.inf])


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_loader_when_pickled_or_copied_then_says_what_to_pickle(copied: Callable[[Any], Any]) -> None:
    with numbers(20).loader() as loader, pytest.raises(TypeError, match=r"pickle the pipeline.*state_dict"):
        copied(loader)


def test_state_when_its_version_is_of_another_type_then_the_error_shows_it() -> None:
    with numbers(20).loader() as loader, pytest.raises(rm.StateError, match="expected 1, found '1'"):
        loader.load_state_dict(loader.state_dict() | {"version": "1"})


def test_validity_when_samples_have_such_a_feature_then_is_not_taken_from_them() -> None:
    samples = numbers(5).map(lambda sample: sample | {"valid": 7})
    assert samples.batch(2)[0]["valid"].tolist() == [7, 7]
    with pytest.raises(rm.FeatureError, match="'valid'"):
        next(iter(samples.batch(2, last="pad").loader()))

"""Arguments of datasets and loaders: invalid values are refused early, NumPy numbers become Python numbers."""

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
    "make, message",
    [
        (lambda some: some.map(len, seed=-1), "seed must be an integer"),
        (lambda some: some.map(len, seed=1.5), "seed must be an integer"),
        (lambda some: some.filter(len, seed="a"), "seed must be an integer"),
        (lambda some: some.decode(x=SPEC, seed=-1), "seed must be an integer"),
        (lambda some: some.map(len, timeout=True), "timeout must be a positive number of seconds, got True"),
        (lambda some: some.map(len, timeout="1"), "timeout must be a positive number of seconds, got '1'"),
        (lambda some: some.filter(len, timeout=0), "timeout must be a positive number of seconds, got 0"),
        (lambda some: some.shuffle(block=10**30), r"block must be an integer from 2 to 2\*\*48"),
        (lambda some: some.shuffle(window=True), "window must be an integer"),
        (lambda some: some.loader(workers=(1.5, 2)), "workers must be"),
        (lambda some: some.loader(workers=(0, 2, 3)), "workers must be"),
        (lambda some: some.loader(workers=5), "workers must be"),
        (lambda some: some.loader(max_errors="a"), "max_errors must be a number"),
        (lambda some: some.loader(max_errors=True), "max_errors must be a number"),
        (lambda some: some.loader(rank="0", world_size=1), "got rank '0' of 1"),
        (lambda some: some.loader().set_epoch(1 << 32), "epoch must be an integer"),
        (lambda some: some.fetch([0], epoch=1.5), "epoch must be an integer"),
        (lambda some: some.fetch([0], epoch=-1), "epoch must be an integer"),
        (lambda some: rm.mix(some, [1]), "a non-empty list of datasets"),
        (lambda some: rm.mix([some, some], {1: 2, 3: 4}), "weights must be 2 positive numbers"),
        (lambda some: rm.mix([some], ["a"]), "weights must be 1 positive numbers"),
        (lambda some: rm.mix([some], 1), "weights must be 1 positive numbers"),
        (lambda some: rm.mix([some], [1], num_samples=1.5), "num_samples must be an integer"),
        (lambda some: rm.mix([some], [1], num_samples=True), "num_samples must be an integer"),
        (lambda some: rm.mix([some.repeat()], [1]), r"remove repeat\(\)"),
    ],
)
def test_invalid_argument_raises_value_error(make: Make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(numbers(20))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda some: some.add_stage("shuffle"), "expected a stage, got 'shuffle'"),
        (lambda some: rm.mix(["a.tfrecord"], [1]), "takes datasets"),
        (lambda some: some[1.5], "positions must be integers, got 1.5"),
        (lambda some: some["1"], "positions must be integers"),
        (lambda some: some.fetch([1.7]), "positions must be integers"),
        (lambda some: some.shuffle().fetch([1.7]), "positions must be integers"),
        (lambda some: some.fetch(np.array([True, False])), "positions must be integers"),
    ],
)
def test_argument_of_wrong_type_raises_type_error(make: Make, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make(numbers(20))


def test_numpy_integers_act_as_python_integers() -> None:
    ours = numbers(40).shuffle(seed=7, block=3).skip(2).take(30).repeat(2).batch(4)
    theirs = numbers(40).shuffle(seed=np.uint64(7), block=np.int8(3)).skip(np.int32(2)).take(np.int64(30))
    theirs = theirs.repeat(np.uint8(2)).batch(np.int64(4))
    assert ours == theirs and repr(ours) == repr(theirs) and ours.fingerprint() == theirs.fingerprint()
    ranks: dict[str, Any] = {"rank": np.int64(1), "world_size": np.int64(2)}
    with theirs.loader(threads=np.int64(1), **ranks) as loader, ours.loader(rank=1, world_size=2) as plain:
        loader.set_epoch(np.int64(3))
        plain.set_epoch(3)
        assert ids([next(iter(loader))]) == ids([next(iter(plain))])
        assert json.dumps(loader.state_dict()) == json.dumps(plain.state_dict())


def test_fetch_accepts_numpy_epoch() -> None:
    shuffled = numbers(40).shuffle(seed=1)
    assert ids(shuffled.fetch(range(40), epoch=np.int64(1))) == ids(shuffled.fetch(range(40), epoch=1))


def test_fetch_names_position_out_of_range() -> None:
    with pytest.raises(IndexError, match="position 1000 is out of range for 20 elements"):
        numbers(20).shuffle().fetch([3, 1000])
    with pytest.raises(IndexError, match="position 0 is out of range for 0 elements"):
        numbers(20).take(0).fetch([0])


def test_mix_accepts_iterators() -> None:
    parts = [numbers(20), numbers(20)]
    assert rm.mix(iter(parts), iter([1, 3])) == rm.mix(parts, [1, 3])
    assert rm.mix(parts, [1e308, 1e308]) == rm.mix(parts, [1, 1])
    with pytest.raises(ValueError, match="positive numbers"):
        rm.mix(parts, [1, math.inf])


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_loader_refuses_pickling_and_names_alternative(copied: Callable[[Any], Any]) -> None:
    with numbers(20).loader() as loader, pytest.raises(TypeError, match=r"pickle its dataset.*state_dict"):
        copied(loader)


def test_load_state_shows_version_of_wrong_type() -> None:
    with numbers(20).loader() as loader, pytest.raises(rm.StateError, match="expected 1, found '1'"):
        loader.load_state_dict(loader.state_dict() | {"version": "1"})


def test_batch_pad_refuses_feature_named_valid() -> None:
    samples = numbers(5).map(lambda sample: sample | {"valid": 7})
    assert samples.batch(2)[0]["valid"].tolist() == [7, 7]
    with pytest.raises(rm.FeatureError, match="'valid'"):
        next(iter(samples.batch(2, last="pad").loader()))

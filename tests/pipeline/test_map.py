"""Results of map functions: reused memory, tensors of other libraries, other mappings, invalid names."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.pipeline.dataset import Dataset
from tests.pipeline.sources import ids, numbers

Sample = dict[str, Any]


class ReusesMemory:
    """A function that fills the same memory for each sample, and returns it in the same dict."""

    def __init__(self, give: Callable[[Any, int], Any]) -> None:
        self.memory, self.out, self.give = np.zeros(40, np.int64), dict[str, Any](), give

    def __call__(self, sample: Sample) -> Sample:
        number = int(sample["id"])
        self.memory[:] = number
        self.out |= {"id": number, "x": self.give(self.memory, number)}
        return self.out


FORMS: dict[str, Callable[[Any, int], Any]] = {
    "array": lambda memory, number: memory,
    "view": lambda memory, number: memory[:7],
    "backwards": lambda memory, number: memory[::-1],
    "of different lengths": lambda memory, number: memory[: 1 + number % 4],
    "image": lambda memory, number: memory.reshape(4, 5, 2),
    "element": lambda memory, number: memory[3],
    "zero dimensions": lambda memory, number: memory[3:4].reshape(()),
}


@pytest.mark.parametrize("give", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("threads", [0, 1])
def test_map_copies_memory_that_function_reuses(give: Callable[[Any, int], Any], threads: int) -> None:
    batches = list(numbers(20).map(ReusesMemory(give)).batch(8).loader(threads=threads))
    assert ids(batches) == list(range(20))
    for batch in batches:
        for number, row in zip(batch["id"], batch["x"], strict=True):
            assert np.size(row) and (np.asarray(row) == number).all()


def test_map_copies_dict_that_function_reuses() -> None:
    out: Sample = {}

    def again(batch: Sample) -> Sample:
        out["id"] = batch["id"] + 1
        return out

    assert ids(list(numbers(20).batch(4).map(again).loader(threads=1))) == list(range(1, 21))


@pytest.mark.parametrize(
    "make", [lambda number: np.full(3, number, ">f4"), lambda number: 2**70 + number, lambda number: [number]]
)
def test_map_column_equals_stacked_values(make: Callable[[int], Any]) -> None:
    values = [make(number) for number in range(5)]
    found = next(iter(numbers(5).map(lambda sample: {"x": make(int(sample["id"]))}).batch(5)))["x"]
    if isinstance(values[0], list):
        assert found == values
    else:
        expected = np.stack([np.asarray(one) for one in values])
        assert found.dtype == expected.dtype and found.tolist() == expected.tolist()


class Tensor:
    """An array of another library."""

    def __init__(self, array: Any, *, on_device: bool = False) -> None:
        self.array, self.on_device = np.asarray(array), on_device

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.on_device:
            raise TypeError("it is on a device")
        return self.array


def with_tensors(**options: Any) -> Dataset:
    def tensors(sample: Sample) -> Sample:
        number = int(sample["id"])
        return {"x": Tensor(np.full((2, 3), number), **options), "y": Tensor(np.ones(number % 3 + 1), **options)}

    return numbers(6).map(tensors)


def test_batch_converts_tensors_to_arrays() -> None:
    batch = next(iter(with_tensors().batch(6).loader()))
    assert batch["x"].shape == (6, 2, 3) and batch["x"][:, 0, 0].tolist() == list(range(6))
    assert isinstance(batch["y"], rm.Ragged) and [len(row) for row in batch["y"]] == [1, 2, 3, 1, 2, 3]
    padded = next(iter(with_tensors().batch(6, ragged="pad").loader()))
    assert padded["y"].shape == (6, 3)
    assert isinstance(with_tensors()[2]["x"], Tensor)


def test_batch_keeps_tensors_that_numpy_cannot_hold() -> None:
    batch = next(iter(with_tensors(on_device=True).batch(6).loader()))
    assert isinstance(batch["x"], list) and all(isinstance(one, Tensor) for one in batch["x"])


@pytest.mark.parametrize("kind", [UserDict, MappingProxyType])
def test_map_converts_mapping_to_dict(kind: Any) -> None:
    assert next(iter(numbers(4).map(kind).batch(4)))["id"].tolist() == [0, 1, 2, 3]
    batch = next(iter(numbers(4).batch(4).map(kind).loader()))
    assert type(batch) is dict and batch["id"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("batched", [False, True])
def test_map_refuses_feature_name_that_is_not_string(batched: bool) -> None:
    dataset = numbers(4).batch(2) if batched else numbers(4)
    with pytest.raises(rm.MapError, match="a dict with the key 1 of type int"):
        list(dataset.map(lambda one: {1: one["id"]}))
    with pytest.raises(rm.MapError, match="returned list, expected a dict"):
        list(dataset.map(lambda one: [one]))

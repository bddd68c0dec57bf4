"""Samplers: the orders in which loaders read samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import ParameterError


class Sampler:
    """Base class: positions of samples."""

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class _FixedSampler(Sampler):
    def __init__(self, positions: Sequence[int]) -> None:
        self._positions = positions

    def __iter__(self) -> Iterator[int]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)


class SequentialSampler(_FixedSampler):
    """Positions in order."""

    def __init__(self, length: int, start: int = 0) -> None:
        super().__init__(range(start, start + length))


class FilterSampler(_FixedSampler):
    """Positions of the samples for which a function is true."""

    def __init__(self, fn: Callable[[Any], Any], dataset: Any) -> None:
        super().__init__([position for position in range(len(dataset)) if fn(dataset[position])])


class RandomSampler(Sampler):
    """Positions in an order that ``numpy.random`` draws for each epoch."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[int]:
        positions = np.arange(self._length)
        np.random.shuffle(positions)  # noqa: NPY002 (np.random.seed repeats it)
        return iter(positions)

    def __len__(self) -> int:
        return self._length


class BatchSampler(Sampler):
    """Batches of positions."""

    def __init__(self, sampler: Any, batch_size: int, last_batch: str = "keep") -> None:
        if last_batch not in ("keep", "discard", "rollover"):
            raise ParameterError(f"last_batch must be one of 'keep', 'discard', or 'rollover', but got {last_batch}")
        self._sampler, self._batch_size, self._last_batch = sampler, batch_size, last_batch
        self._leftover: list[Any] = []

    def __iter__(self) -> Iterator[list[Any]]:
        batch, self._leftover = self._leftover, []
        for position in self._sampler:
            batch.append(position)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch and self._last_batch == "keep":
            yield batch
        elif self._last_batch == "rollover":
            self._leftover = batch

    def __len__(self) -> int:
        num_samples = len(self._sampler) + len(self._leftover)
        if self._last_batch == "keep":
            num_samples += self._batch_size - 1
        return num_samples // self._batch_size

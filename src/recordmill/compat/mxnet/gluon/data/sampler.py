"""Samplers: the orders in which loaders read samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import ParameterError


class Sampler:
    """Base class: positions of samples."""

    def __len__(self) -> int:
        """Return the number of positions."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the positions."""
        raise NotImplementedError


class SequentialSampler(Sampler):
    """Positions in order."""

    def __init__(self, length: int, start: int = 0) -> None:
        self._positions = range(start, start + length)

    def __iter__(self) -> Iterator[int]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)


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


class FilterSampler(Sampler):
    """Positions of the samples for which a function is true."""

    def __init__(self, fn: Callable[[Any], Any], dataset: Any) -> None:
        self._positions = [position for position in range(len(dataset)) if fn(dataset[position])]

    def __iter__(self) -> Iterator[int]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)


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
        num_samples = len(self._sampler)
        if self._last_batch == "keep":
            return -(-num_samples // self._batch_size)
        if self._last_batch == "rollover":
            num_samples += len(self._leftover)
        return num_samples // self._batch_size  # type: ignore[no-any-return]

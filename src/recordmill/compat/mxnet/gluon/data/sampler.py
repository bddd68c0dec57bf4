"""Orders in which loaders take samples: ``mx.gluon.data``'s samplers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import ParameterError


class Sampler:
    """Positions in a data set; to be inherited."""

    def __len__(self) -> int:
        """Return the number of positions."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the positions."""
        raise NotImplementedError


class SequentialSampler(Sampler):
    """Positions in order."""

    def __init__(self, length: int, start: int = 0) -> None:
        self._places = range(start, start + length)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the positions."""
        return iter(self._places)

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self._places)


class RandomSampler(Sampler):
    """Positions in an order that ``numpy.random`` draws for each pass."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[int]:
        """Iterate over the positions."""
        places = np.arange(self._length)
        np.random.shuffle(places)  # noqa: NPY002 (np.random.seed repeats it)
        return iter(places)

    def __len__(self) -> int:
        """Return the number of positions."""
        return self._length


class FilterSampler(Sampler):
    """Positions of the samples of which a function is true."""

    def __init__(self, fn: Callable[[Any], Any], dataset: Any) -> None:
        self._places = [place for place in range(len(dataset)) if fn(dataset[place])]

    def __iter__(self) -> Iterator[int]:
        """Iterate over the positions."""
        return iter(self._places)

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self._places)


class BatchSampler(Sampler):
    """Batches of positions."""

    def __init__(self, sampler: Any, batch_size: int, last_batch: str = "keep") -> None:
        if last_batch not in ("keep", "discard", "rollover"):
            raise ParameterError(f"last_batch must be one of 'keep', 'discard', or 'rollover', but got {last_batch}")
        self._sampler, self._size, self._last, self._left = sampler, batch_size, last_batch, list[Any]()

    def __iter__(self) -> Iterator[list[Any]]:
        """Iterate over the batches."""
        batch, self._left = self._left, []
        for place in self._sampler:
            batch.append(place)
            if len(batch) == self._size:
                yield batch
                batch = []
        if batch and self._last == "keep":
            yield batch
        elif self._last == "rollover":
            self._left = batch

    def __len__(self) -> int:
        """Return the number of batches."""
        if self._last == "keep":
            return (len(self._sampler) + self._size - 1) // self._size
        return (len(self._left) + len(self._sampler)) // self._size

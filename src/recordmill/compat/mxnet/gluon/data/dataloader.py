"""``mx.gluon.data.DataLoader``: batches of the samples of a dataset, and the samplers that order them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from recordmill.compat.mxnet import nd
from recordmill.compat.mxnet.base import ParameterError
from recordmill.concurrency.threads import map_ordered


class Sampler:
    """Base class of samplers: iterables over the positions of samples in a dataset."""

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class SequentialSampler(Sampler):
    """Yields the positions from `start` to ``start + length - 1`` in order."""

    def __init__(self, length: int, start: int = 0) -> None:
        self._positions = range(start, start + length)

    def __iter__(self) -> Iterator[int]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)


class RandomSampler(Sampler):
    """Yields all positions in an order that is drawn from ``numpy.random`` in each epoch."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[int]:
        positions = np.arange(self._length)
        np.random.shuffle(positions)  # noqa: NPY002 (np.random.seed makes it reproducible)
        return iter(positions)

    def __len__(self) -> int:
        return self._length


class BatchSampler(Sampler):
    """Yields lists of `batch_size` positions; `last_batch` selects how an incomplete last list is treated."""

    def __init__(self, sampler: Any, batch_size: int, last_batch: str = "keep") -> None:
        if last_batch not in ("keep", "discard", "rollover"):
            raise ParameterError(f"last_batch must be 'keep', 'discard' or 'rollover', got {last_batch!r}")
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


def default_batchify_fn(data: Any) -> Any:
    """Stack samples into a batch. If samples are tuples, return a list with one stacked array per tuple item."""
    if isinstance(data[0], nd.NDArray):
        return nd.stack(*data)
    if isinstance(data[0], tuple):
        return [default_batchify_fn(part) for part in zip(*data, strict=True)]
    array = np.asarray(data)
    return nd.array(array, dtype=array.dtype)


class DataLoader:
    """Loads batches of a dataset. The loader's workers are threads; in MXNet, the workers are processes."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = None,
        shuffle: bool = False,
        sampler: Any = None,
        last_batch: str | None = None,
        batch_sampler: Any = None,
        batchify_fn: Callable[[Any], Any] | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: int | None = None,
        thread_pool: bool = False,
        timeout: float = 120,
        auto_reload: bool = False,
    ) -> None:
        del pin_memory, pin_device_id, thread_pool, timeout, auto_reload
        self._dataset, self._batchify = dataset, batchify_fn or default_batchify_fn
        self._num_workers = max(0, num_workers)
        self._num_prefetched = max(0, 2 * self._num_workers if prefetch is None else int(prefetch))
        if batch_sampler is None:
            batch_sampler = _create_batch_sampler(dataset, batch_size, shuffle, sampler, last_batch)
        elif shuffle or any(option is not None for option in (batch_size, sampler, last_batch)):
            raise ParameterError("batch_sampler cannot be combined with batch_size, shuffle, sampler or last_batch")
        self._batch_sampler = batch_sampler

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        if not self._num_workers:
            return map(self._load_batch, self._batch_sampler)
        ahead = max(0, self._num_prefetched - self._num_workers)
        return map_ordered(self._load_batch, iter(self._batch_sampler), self._num_workers, ahead, "gluon-data")

    def _load_batch(self, positions: Any) -> Any:
        return self._batchify([self._dataset[position] for position in positions])


def _create_batch_sampler(
    dataset: Any, batch_size: int | None, shuffle: bool, sampler: Any, last_batch: str | None
) -> BatchSampler:
    if batch_size is None:
        raise ParameterError("batch_size or batch_sampler must be given")
    if sampler is not None and shuffle:
        raise ParameterError("shuffle cannot be combined with sampler")
    if sampler is None:
        sampler = (RandomSampler if shuffle else SequentialSampler)(len(dataset))
    return BatchSampler(sampler, batch_size, last_batch or "keep")

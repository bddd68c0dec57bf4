"""``mx.gluon.data.DataLoader``: batches of the samples of a data set."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from recordmill.compat.mxnet import nd
from recordmill.compat.mxnet.base import ParameterError
from recordmill.compat.mxnet.gluon.data.sampler import BatchSampler, RandomSampler, SequentialSampler


def default_batchify_fn(data: Any) -> Any:
    """Batch of samples: arrays stacked, tuples part by part."""
    if isinstance(data[0], nd.NDArray):
        return nd.stack(*data)
    if isinstance(data[0], tuple):
        return [default_batchify_fn(part) for part in zip(*data, strict=True)]
    array = np.asarray(data)
    return nd.array(array, dtype=array.dtype)


class DataLoader:
    """Batches of samples, in order or shuffled."""

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
        self._workers = max(0, num_workers)
        self._ahead = max(0, 2 * self._workers if prefetch is None else int(prefetch))
        given = (batch_size, sampler, last_batch)
        if batch_sampler is None:
            batch_sampler = _batches(dataset, batch_size, shuffle, sampler, last_batch)
        elif shuffle or any(one is not None for one in given):
            raise ParameterError(
                "batch_size, shuffle, sampler and last_batch must not be specified if batch_sampler is specified."
            )
        self._batches = batch_sampler

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self._batches)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the batches, in the order of the sampler."""
        if not self._workers:
            yield from map(self._made, self._batches)
            return
        waiting: deque[Future[Any]] = deque()
        pool = ThreadPoolExecutor(self._workers, "gluon-data")
        try:
            for places in self._batches:
                waiting.append(pool.submit(self._made, places))
                if len(waiting) > self._ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _made(self, places: Any) -> Any:
        return self._batchify([self._dataset[place] for place in places])


def _batches(dataset: Any, batch_size: int | None, shuffle: bool, sampler: Any, last_batch: str | None) -> Any:
    if batch_size is None:
        raise ParameterError("batch_size must be specified unless batch_sampler is specified")
    if sampler is not None and shuffle:
        raise ParameterError("shuffle must not be specified if sampler is specified")
    if sampler is None:
        sampler = (RandomSampler if shuffle else SequentialSampler)(len(dataset))
    return BatchSampler(sampler, batch_size, last_batch or "keep")

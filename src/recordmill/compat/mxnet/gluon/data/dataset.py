"""Data sets that are asked for samples by position: ``mx.gluon.data``'s."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from recordmill.compat.mxnet.base import ParameterError
from recordmill.compat.mxnet.gluon.data.sampler import FilterSampler, SequentialSampler
from recordmill.compat.mxnet.nd import NDArray
from recordmill.compat.mxnet.recordio import MXIndexedRecordIO

_READING = threading.Lock()  # readers have one position, and loaders several threads


class Dataset:
    """Samples by position; to be inherited."""

    def __getitem__(self, idx: Any) -> Any:
        """Sample at a position."""
        raise NotImplementedError

    def __len__(self) -> int:
        """Return the number of samples."""
        raise NotImplementedError

    def filter(self, fn: Callable[[Any], Any]) -> Dataset:
        """Samples of which a function is true."""
        return _Sampled(self, FilterSampler(fn, self))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """One of several parts of neighbours; the first parts have one more where it does not come out even."""
        if not 0 <= index < num_shards:
            raise ParameterError(f"Shard index of out bound: {index} out of {num_shards}")
        even, more = divmod(len(self), num_shards)
        return _Sampled(self, SequentialSampler(even + (index < more), even * index + min(index, more)))

    def take(self, count: int | None) -> Dataset:
        """The first samples; all if there are fewer, or for None."""
        length = len(self)
        return _Sampled(self, SequentialSampler(length if count is None else min(count, length)))

    def sample(self, sampler: Any) -> Dataset:
        """Samples at the positions of a sampler."""
        return _Sampled(self, sampler)

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """What a function makes of the samples, when they are asked for, or at once."""
        made = _Transformed(self, fn)
        return made if lazy else SimpleDataset([made[place] for place in range(len(made))])

    def transform_first(self, fn: Callable[[Any], Any], lazy: bool = True) -> Dataset:
        """As `transform`, for the first part of each sample alone."""
        return self.transform(_OfFirst(fn), lazy)


class SimpleDataset(Dataset):
    """Samples of a list or an array."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self._data)

    def __getitem__(self, idx: Any) -> Any:
        """Sample at a position."""
        return self._data[idx]


class _Transformed(Dataset):
    def __init__(self, data: Any, fn: Callable[..., Any]) -> None:
        self._data, self._fn = data, fn

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: Any) -> Any:
        sample = self._data[idx]
        return self._fn(*sample) if isinstance(sample, tuple) else self._fn(sample)


class _OfFirst:
    def __init__(self, fn: Callable[[Any], Any]) -> None:
        self._fn = fn

    def __call__(self, first: Any, *others: Any) -> Any:
        return (self._fn(first), *others) if others else self._fn(first)


class _Sampled(Dataset):
    def __init__(self, data: Any, sampler: Any) -> None:
        self._data, self._places = data, list(sampler)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, idx: Any) -> Any:
        return self._data[self._places[idx]]


class ArrayDataset(Dataset):
    """Rows of several arrays together."""

    def __init__(self, *args: Any) -> None:
        lengths = {len(one) for one in args}
        if len(lengths) != 1:
            raise ParameterError(
                f"all arrays must have one length, at least one must be given; found {sorted(lengths)}"
            )
        # A single value of an array of labels is a NumPy's, as in MXNet.
        self._data = [one.asnumpy() if isinstance(one, NDArray) and one.ndim == 1 else one for one in args]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._data[0])

    def __getitem__(self, idx: Any) -> Any:
        """Row of one array, or rows of all."""
        return self._data[0][idx] if len(self._data) == 1 else tuple(one[idx] for one in self._data)


class RecordFileDataset(Dataset):
    """Records of a file by position in its ``.idx`` file."""

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        self.filename = os.fspath(filename)
        self.idx_file = os.path.splitext(self.filename)[0] + ".idx"
        self._record = MXIndexedRecordIO(self.idx_file, self.filename, "r")

    def __getitem__(self, idx: Any) -> bytes:
        """Record at a position."""
        with _READING:
            return self._record.read_idx(self._record.keys[idx]) or b""

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self._record.keys)

"""``mx.gluon.data``: `Dataset`, which returns samples by position, and datasets of arrays and record files."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any

from recordmill.compat.mxnet.base import ParameterError
from recordmill.compat.mxnet.nd import NDArray
from recordmill.compat.mxnet.recordio import MXIndexedRecordIO

# The threads of a loader share one record file. The lock prevents other reads between `seek` and `read`.
_READ_LOCK = threading.Lock()


class Dataset:
    """Base class of datasets, whose samples are accessed by position."""

    def __getitem__(self, idx: Any) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def filter(self, fn: Callable[[Any], Any]) -> Dataset:
        """Select the samples for which `fn` returns true."""
        return self.sample(position for position in range(len(self)) if fn(self[position]))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Split the samples into `num_shards` consecutive parts of nearly equal size, and select part `index`."""
        if not 0 <= index < num_shards:
            raise ParameterError(f"index must be in [0, {num_shards}), got {index}")
        size, remainder = divmod(len(self), num_shards)
        start = size * index + min(index, remainder)
        return self.sample(range(start, start + size + (index < remainder)))

    def take(self, count: int | None) -> Dataset:
        """Select the first `count` samples, or all if `count` is None."""
        return self.sample(range(len(self))[:count])

    def sample(self, sampler: Iterable[int]) -> Dataset:
        """Select the samples at the positions that `sampler` yields."""
        return _SampledDataset(self, sampler)

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """Apply `fn` to each sample: at each access if `lazy` is True, else immediately."""
        transformed = _TransformedDataset(self, fn)
        if lazy:
            return transformed
        return SimpleDataset([transformed[position] for position in range(len(transformed))])

    def transform_first(self, fn: Callable[[Any], Any], lazy: bool = True) -> Dataset:
        """Apply `fn` to the first item of each sample."""

        def transform_first_item(first: Any, *others: Any) -> Any:
            return (fn(first), *others) if others else fn(first)

        return self.transform(transform_first_item, lazy)


class SimpleDataset(Dataset):
    """Dataset of the items of a list or an array."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: Any) -> Any:
        return self._data[idx]


class _TransformedDataset(Dataset):
    def __init__(self, data: Any, fn: Callable[..., Any]) -> None:
        self._data, self._fn = data, fn

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: Any) -> Any:
        sample = self._data[idx]
        return self._fn(*sample) if isinstance(sample, tuple) else self._fn(sample)


class _SampledDataset(Dataset):
    def __init__(self, data: Dataset, positions: Iterable[int]) -> None:
        self._data, self._positions = data, list(positions)

    def __len__(self) -> int:
        return len(self._positions)

    def __getitem__(self, idx: Any) -> Any:
        return self._data[self._positions[idx]]


class ArrayDataset(Dataset):
    """Dataset of arrays: sample ``i`` is row ``i`` of a single array, or a tuple of row ``i`` of several arrays."""

    def __init__(self, *args: Any) -> None:
        lengths = {len(one) for one in args}
        if len(lengths) != 1:
            raise ParameterError(f"expected one or more arrays of the same length, got lengths {sorted(lengths)}")
        # An NDArray with one axis usually contains labels. As in MXNet, it is converted to a NumPy array,
        # so that each sample contains its label as a NumPy scalar.
        self._data = [one.asnumpy() if isinstance(one, NDArray) and one.ndim == 1 else one for one in args]

    def __len__(self) -> int:
        return len(self._data[0])

    def __getitem__(self, idx: Any) -> Any:
        return self._data[0][idx] if len(self._data) == 1 else tuple(one[idx] for one in self._data)


class RecordFileDataset(Dataset):
    """Dataset of the records of a RecordIO file, in the order of its ``.idx`` file."""

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        self.filename = os.fspath(filename)
        self.idx_file = os.path.splitext(self.filename)[0] + ".idx"
        self._record = MXIndexedRecordIO(self.idx_file, self.filename, "r")

    def __getitem__(self, idx: Any) -> bytes:
        with _READ_LOCK:
            return self._record.read_idx(self._record.keys[idx]) or b""

    def __len__(self) -> int:
        return len(self._record.keys)

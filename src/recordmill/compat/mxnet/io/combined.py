"""``mx.io.PrefetchingIter``: several iterators as one, whose next batch is made in a thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from recordmill.compat.mxnet.base import MisuseError, MXNetError
from recordmill.compat.mxnet.io.batches import BatchHolder, DataBatch, DataDesc
from recordmill.concurrency.prefetch import Prefetcher


class _Zipped:
    """Iterator over lists of one batch of each iterator."""

    def __init__(self, iters: Sequence[Any]) -> None:
        self._iters = iters

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> list[DataBatch]:
        batches = [next(iter(one), None) for one in self._iters]
        found = [batch for batch in batches if batch is not None]
        if not found:
            raise StopIteration
        if len(found) < len(batches):
            raise MXNetError("Number of entry mismatches between iterators", kind="bad_shape")
        return found


class PrefetchingIter(BatchHolder):
    """Batches of several iterators as one, the next of which is made in a thread."""

    def __init__(self, iters: Any, rename_data: Any = None, rename_label: Any = None) -> None:
        self.iters = iters if isinstance(iters, list) else [iters]
        self.n_iter = len(self.iters)
        for names in (rename_data, rename_label):
            if not self.iters or (names is not None and len(names) != self.n_iter):
                raise MisuseError("expected at least one iterator, and one dict for each")
        self.rename_data, self.rename_label = rename_data, rename_label
        super().__init__(self.provide_data[0][1][0])
        self._prefetcher = self._start()

    @property
    def provide_data(self) -> list[DataDesc]:
        return _rename([one.provide_data for one in self.iters], self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:
        return _rename([one.provide_label for one in self.iters], self.rename_label)

    def _start(self) -> Iterator[list[DataBatch]]:
        return Prefetcher(_Zipped(self.iters), 0, "recordmill-mxnet")

    def reset(self) -> None:
        self._close()
        for one in self.iters:
            one.reset()
        self.current_batch = None
        self._prefetcher = self._start()

    def iter_next(self) -> bool:
        batches = next(self._prefetcher, None)
        if batches is None:
            return False
        if len({batch.pad for batch in batches}) > 1:
            raise MXNetError("Different pad size in iterators", kind="bad_shape")
        data = [array for batch in batches for array in batch.data]
        label = [array for batch in batches for array in batch.label or []]
        described = {"provide_data": self.provide_data, "provide_label": self.provide_label}
        self.current_batch = DataBatch(data, label, batches[0].pad, batches[0].index, **described)
        return True

    def _close(self) -> None:
        prefetcher = self.__dict__.get("_prefetcher")
        if prefetcher is not None:
            prefetcher.close()

    def __del__(self) -> None:
        self._close()


def _rename(described: Sequence[Sequence[Any]], names: Sequence[Mapping[str, str]] | None) -> list[DataDesc]:
    if names is None:
        return [one for descriptions in described for one in descriptions]
    # Iterators of programs often describe arrays by plain pairs of name and shape.
    return [
        DataDesc(change.get(one[0], one[0]), one[1], getattr(one, "dtype", np.float32), getattr(one, "layout", "NCHW"))
        for descriptions, change in zip(described, names, strict=True)
        for one in descriptions
    ]

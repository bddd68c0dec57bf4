"""Read the samples of a dataset in order, with bounded memory, and report samples that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.concurrency.prefetch import Prefetcher
from recordmill.errors import RecordmillError
from recordmill.pipeline.compiled_pipeline import ExampleSource, SourceOrigin
from recordmill.pipeline.dataset import Dataset
from recordmill.pipeline.failures import SkippedSample
from recordmill.pipeline.samples import Positions, SampleRows, count_bytes
from recordmill.pipeline.stages.base import Context
from recordmill.shards.chunks import split_by_bytes
from recordmill.shards.collection import ShardCollection

# Maximum number of samples that are read at once, and approximate maximum size of these samples in bytes.
_CHUNK_SAMPLES, _CHUNK_BYTES = 1024, 4 << 20
OnSkip = Callable[[int, RecordmillError], None]


@dataclass(slots=True)
class Sample:
    """One sample of a dataset.

    Parameters
    ----------
    position : int
        Position among the samples of the dataset.
    values : dict of str to value
        Features.
    source : ExampleSource, optional
        Source of the record; None if it is unknown, for example after a filter.
    record : int
        Position of the record in `source`.
    """

    position: int
    values: dict[str, Any]
    source: ExampleSource | None = None
    record: int = 0

    def locate(self) -> dict[str, Any]:
        """Return shard, record and offset as keyword arguments for an error; empty if they are unknown."""
        if self.source is None:
            return {}
        shard, record, offset = self.source.where(self.record)
        return {"shard": shard, "record": record, "offset": offset}


def read_samples(dataset: Dataset, on_skip: OnSkip | None, order: NDArray[np.int64] | None = None) -> Iterator[Sample]:
    """Yield the samples of epoch 0 in order, or those at the positions in `order`.

    A sample that cannot be read is passed to `on_skip`; if that is None, its error is raised.
    """
    if dataset.pipeline.has_filter:
        yield from _read_filtered(dataset, on_skip)
        return
    sources = dataset.pipeline.sources
    chunks = _read_chunks(dataset, order, collect_errors=on_skip is not None)
    # User functions run in the thread of the caller, so that Ctrl-C and errors behave as in a plain loop.
    with closing(chunks if dataset.pipeline.map_stages else Prefetcher(chunks, 1)) as prefetched:
        for number, rows, failed in prefetched:
            for skipped in failed if on_skip is not None else ():
                on_skip(skipped.position, skipped.error)  # type: ignore[misc]
            origins = rows.origins.tolist()
            for row, (ordinal, values) in enumerate(zip(rows.ordinals.tolist(), rows.split(), strict=True)):
                source, record = origins[row]
                yield Sample(number + ordinal, values, sources[source], record)


def _read_chunks(
    dataset: Dataset, order: NDArray[np.int64] | None, *, collect_errors: bool
) -> Generator[tuple[int, SampleRows, list[SkippedSample]], None, None]:
    """Read samples in chunks.

    Yields the position of the first sample in the reading order, the samples, and the samples that could not be read.
    """
    # Each chunk has its own context. All contexts share the first result of each user function, because every later
    # result is compared with the first result.
    shared = Context()
    for number, chunk in _split_into_chunks(dataset, order):
        context = Context(collect_errors, first_results=shared.first_results, function_lock=shared.function_lock)
        yield number, dataset.pipeline.evaluate(Positions(0, chunk), context), context.skipped


def _read_filtered(dataset: Dataset, on_skip: OnSkip | None) -> Iterator[Sample]:
    if dataset.pipeline.until_last_filter.length == 0:
        return
    with dataset.loader(threads=0, on_error="raise" if on_skip is None else "skip") as loader:
        num_reported = 0
        for position, values in enumerate(loader):
            yield Sample(position, values)
            for skipped in loader.report.skipped[num_reported:] if on_skip is not None else ():
                on_skip(skipped.position, skipped.error)  # type: ignore[misc]
                num_reported += 1
        for skipped in loader.report.skipped[num_reported:] if on_skip is not None else ():
            on_skip(skipped.position, skipped.error)  # type: ignore[misc]


def _split_into_chunks(
    dataset: Dataset, order: NDArray[np.int64] | None
) -> Iterator[tuple[int, range | NDArray[np.int64]]]:
    """Divide the samples into chunks.

    Yields the position of the first sample in the reading order, and the positions of the samples in the dataset.
    """
    origin = dataset.origin
    if dataset.stages or not isinstance(origin, SourceOrigin) or not isinstance(origin.source, ShardCollection):
        yield from _split_by_estimated_size(dataset)
        return
    lengths = [reader.index.lengths for reader in origin.source.readers]
    if order is not None:
        lengths = [np.concatenate(lengths)[order]]
    start = 0
    for of_shard in lengths:
        for part in split_by_bytes(of_shard, _CHUNK_SAMPLES, _CHUNK_BYTES):
            chunk = range(start + part.start, start + part.stop)
            yield chunk.start, chunk if order is None else order[part.start : part.stop]
        start += len(of_shard)


def _split_by_estimated_size(dataset: Dataset) -> Iterator[tuple[int, range]]:
    """Divide the samples into chunks of growing size.

    The maximum size is estimated from the first sample, because the sizes of later samples are unknown.
    """
    start, count, size = 0, len(dataset), 1
    limit = max(_CHUNK_BYTES // max(dataset.pipeline.mean_record_bytes, 1), 1)
    if count:
        first = dataset.pipeline.evaluate(Positions(0, range(1)), Context(collect_errors=True))
        limit = min(limit, max(_CHUNK_BYTES // max(count_bytes(first.columns) if len(first) else 1, 1), 1))
    while start < count:
        stop = min(start + size, count)
        yield start, range(start, stop)
        start, size = stop, min(4 * size, limit, _CHUNK_SAMPLES)

"""`convert` on a Ray cluster: workers read and convert chunks of records, and the driver writes them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

import numpy as np

from recordmill.adapters.ray.tasks import (
    TaskFailure,
    TaskOptions,
    TaskRunner,
    absolute_paths,
    import_ray,
    raise_failure,
)
from recordmill.conversion.convert import ConvertOptions, create_writer
from recordmill.conversion.converter import ConvertedChunk, Converter
from recordmill.conversion.source import Positions
from recordmill.conversion.writing import ConvertChunk, ConvertResult, ShardsWriter
from recordmill.packing.progress import Progress, ProgressOption
from recordmill.shards.paths import Paths
from recordmill.storage.addresses import absolute_path, check_output_path
from recordmill.suggestions import check_option_names

# Options of `recordmill.convert` that are rejected, because tasks of the cluster replace local workers.
_OMITTED = ("workers", "worker_kind")


def convert(
    source: Paths,
    destination: str | os.PathLike[str],
    *,
    progress: ProgressOption = None,
    num_cpus: int = 1,
    memory: int | None = None,
    max_retries: int = 3,
    **options: Any,
) -> ConvertResult:
    """Write the records of shards to new shards as `recordmill.convert` does, with the workers of a Ray cluster.

    Workers read and convert chunks of about a megabyte; this process chooses the records and writes the shards. The
    gain is largest if conversion takes long, as with `encode`. If a worker or a node dies, its chunks are converted
    again. The files have the same bytes as those of `recordmill.convert`.

    Parameters
    ----------
    source : path, pattern, folder, or iterable of them
        Shards. All nodes must find them under the same paths.
    destination : path
        Prefix of the shard names. Only this process needs access to it.
    progress : bool or callable, optional
        Whether to show progress on standard error, as in `recordmill.convert`.
    num_cpus : int
        CPUs for each task.
    memory : int, optional
        Bytes of memory that Ray reserves for each task; limits the tasks that run on a node at the same time.
    max_retries : int
        Maximum number of times that a chunk is converted again after its worker or node has died.
    **options
        Options of `recordmill.convert`, except `workers` and `worker_kind`. With ``resume=True``, finished shards of an
        interrupted run are kept.

    Returns
    -------
    ConvertResult

    Raises
    ------
    DamageError, FeatureError, OutputExistsError, ResumeError
        As in `recordmill.convert`. A note of the error names the node.
    WorkerError
        If a chunk is not converted because its worker or node dies more than `max_retries` times.
    MissingExtraError
        If Ray is not installed.

    Examples
    --------
    >>> rm.ray.convert("/shared/train-*", "/shared/small", encode="jpeg", resize=256, shards=64)  # doctest: +SKIP
    """
    import_ray()
    check_option_names("convert", options, [field.name for field in fields(ConvertOptions)])
    for name in _OMITTED:
        if name in options:
            raise TypeError(
                f"convert() on Ray does not support {name!r}, because Ray tasks replace local workers; omit {name}="
            )
    tasks = TaskOptions(num_cpus, memory, max_retries)
    writer = create_writer(
        absolute_paths(source), absolute_path(check_output_path(destination)), ConvertOptions(**options)
    )
    if not isinstance(writer, ShardsWriter):
        raise TypeError("convert() on Ray takes paths of shards, not a dataset")
    runner = TaskRunner(_convert_chunk, writer.converter, tasks)
    writer.run = replace(writer.run, workers=2 * runner.count_tasks())
    writer.start_workers = lambda *_: _create_chunk_converter(runner)
    return writer.write(Progress(writer.num_records, progress))


@contextmanager
def _create_chunk_converter(runner: TaskRunner) -> Iterator[ConvertChunk]:
    """Return a function that converts a chunk in a task and waits for the result. Several threads may call it."""

    def convert_in_task(positions: Positions, first: int) -> ConvertedChunk:
        result = runner.call(positions, first)
        if isinstance(result, TaskFailure):
            raise_failure(result)
        assert isinstance(result, ConvertedChunk)  # noqa: S101 (the result of _convert_chunk)
        return result

    yield convert_in_task


def _convert_chunk(converter: Converter, positions: Positions, first: int) -> ConvertedChunk:
    """Convert a chunk in a worker."""
    chunk = converter.convert(positions, first)
    # Wrap the memory of the native module in arrays, which Ray passes without copies. The native objects cannot be
    # pickled.
    return replace(chunk, framed=[replace(part, data=np.frombuffer(part.data, np.uint8)) for part in chunk.framed])

"""`read`: the records of shards as a dataset of Ray Data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.adapters.common import is_non_negative_integer, require_extra
from recordmill.adapters.ray.tasks import absolute_paths, import_ray
from recordmill.errors import FeatureError
from recordmill.pipeline.arrow import Converter, create_converter

if TYPE_CHECKING:
    import pyarrow as pa
    import ray.data

    from recordmill.shards.collection import ShardCollection
    from recordmill.shards.paths import Paths

# Approximate maximum number of stored bytes of the records in one Arrow table.
_BLOCK_BYTES = 16 << 20
# The same limit if features are decoded. It is lower, because images become about ten times as large.
_DECODED_BLOCK_BYTES = 2 << 20


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive records of one shard.

    Parameters
    ----------
    files : tuple of str
        Files of the shard; several if its records continue in the next file.
    start, stop : int
        Positions in the shard.
    num_bytes : int
        Bytes of the records as they are stored.
    """

    files: tuple[str, ...]
    start: int
    stop: int
    num_bytes: int


def divide_shards(shards: Sequence[tuple[tuple[str, ...], NDArray[np.int64]]], num_tasks: int) -> list[list[Segment]]:
    """Divide the records of shards among tasks; return a list of segments for each task.

    All lists have about the same number of bytes. The order of the records stays the same.

    Parameters
    ----------
    shards : sequence of (files, lengths)
        Files of each shard, and the bytes of each of its records.
    num_tasks : int
        Number of lists; there are fewer if there are fewer records.
    """
    total = sum(int(lengths.sum()) for _, lengths in shards)
    tasks: dict[int, list[Segment]] = {}
    position = 0
    for files, lengths in shards:
        if not len(lengths):
            continue
        # A record belongs to the task whose share of the bytes contains the start of the record.
        begins = position + np.cumsum(lengths) - lengths
        owners, starts = np.unique(begins * num_tasks // max(total, 1), return_index=True)
        for owner, start, stop in zip(owners.tolist(), starts.tolist(), [*starts[1:].tolist(), None], strict=True):
            part = lengths[start:stop]
            segment = Segment(files, start, start + len(part), int(part.sum()))
            tasks.setdefault(owner, []).append(segment)
        position += int(lengths.sum())
    return list(tasks.values())


def read(
    paths: Paths,
    *,
    columns: Sequence[str] | None = None,
    decode: Mapping[str, Any] | None = None,
    parallelism: int = -1,
    **options: Any,
) -> ray.data.Dataset:
    """Read shards as a dataset of Ray Data, whose blocks are Arrow tables.

    This process reads the indexes of the shards, so that the number of rows and bytes is known in advance. It needs
    about 16 bytes of memory for each record. Large shards are divided among several tasks. Features become columns as
    in `Dataset.to_arrow`, except that arrays of two and more axes, such as decoded images, become tensor columns. Ray
    Data returns rows in order only if ``DataContext.get_current().execution_options.preserve_order`` is true.

    Parameters
    ----------
    paths : path, glob pattern, folder, prefix, or iterable of them
        Shards, as in `recordmill.open`. All nodes must find them under the same paths.
    columns : sequence of str, optional
        Features to read; by default all.
    decode : mapping of str to spec, optional
        Specs by feature, such as ``{"image": rm.Image(crop=rm.CenterCrop(224))}``, as in `Dataset.decode`. Images of
        different sizes need ``stack=False``. Random specs use the random parameters of epoch 0.
    parallelism : int
        Number of tasks that read. By default, Ray Data chooses it from the size of the data and of the cluster.
    **options
        Options of `recordmill.open`. With ``payload="raw"``, each row has one column `payload` with the bytes of the
        record.

    Returns
    -------
    ray.data.Dataset

    Raises
    ------
    FileNotFoundError
        If no file matches.
    FeatureError
        If `columns` or `decode` name a feature that the records lack.
    ValueError
        If `parallelism` is 0 or less than -1.
    MissingExtraError
        If Ray or pyarrow is not installed.
    DamageError
        If a record is damaged; raised in the task that reads it. The error of Ray Data contains the shard, the record
        and the offset.

    Examples
    --------
    >>> dataset = rm.ray.read("/shared/train-*", decode={"image": rm.Image(resize=224)})  # doctest: +SKIP
    >>> for batch in dataset.iter_torch_batches(batch_size=256):  # doctest: +SKIP
    ...     ...
    """
    import_ray()
    if parallelism != -1 and not (is_non_negative_integer(parallelism) and parallelism):
        raise ValueError(f"parallelism must be a positive integer or -1, got {parallelism!r}")
    with require_extra("ray"):
        import pyarrow  # noqa: F401 (named by the error, if it is missing)
        import ray.data
    dataset = rm.open(absolute_paths(paths), **options)
    collection = cast("ShardCollection", dataset.origin.sources[0])
    shards = [(tuple(reader.shard.paths), np.asarray(reader.index.lengths)) for reader in collection.readers]
    source = _ReadOptions({**options, "schema": _select_features(dataset.schema, columns)}, dict(decode or {}))
    datasource = _create_datasource_class()(shards, source, _measure_decoded_bytes(shards, source))
    return ray.data.read_datasource(datasource, override_num_blocks=None if parallelism == -1 else parallelism)


def _select_features(schema: rm.Schema, columns: Sequence[str] | None) -> rm.Schema:
    if columns is None:
        return schema
    for name in columns:
        if name not in schema:
            raise FeatureError(
                f"the records have no feature {name!r}",
                kind="missing_feature",
                feature=name,
                expected=", ".join(schema),
                found=name,
            )
    return rm.Schema({name: schema[name] for name in columns})


@dataclass(frozen=True, slots=True)
class _ReadOptions:
    """Options of `recordmill.open`, and specs of the features to decode."""

    options: dict[str, Any]
    specs: dict[str, Any]


def _measure_decoded_bytes(shards: Sequence[tuple[tuple[str, ...], Any]], source: _ReadOptions) -> int:
    """Decode the first record, and return the number of bytes of its decoded features."""
    files = next((files for files, lengths in shards if len(lengths)), None)
    if not source.specs or files is None:
        return 0
    example = rm.open(files, **source.options).take(1).decode(**source.specs)[0]
    return sum(value.nbytes for name, value in example.items() if name in source.specs and hasattr(value, "nbytes"))


@cache
def _create_datasource_class() -> Any:
    """Create the data source class on first use, because its base class is part of Ray."""
    from ray.data import Datasource, ReadTask
    from ray.data.block import BlockMetadata

    class RecordmillDatasource(Datasource):  # type: ignore[misc]
        """Records of shards, divided among read tasks."""

        def __init__(self, shards: Any, source: _ReadOptions, row_bytes: int) -> None:
            super().__init__()
            self._shards, self._source, self._row_bytes = shards, source, row_bytes

        def estimate_inmemory_data_size(self) -> int:
            """Return an estimate of the size of all rows in memory, in bytes."""
            return sum(int(lengths.sum()) + len(lengths) * self._row_bytes for _, lengths in self._shards)

        def get_read_tasks(self, parallelism: int, per_task_row_limit: int | None = None, *_: Any, **__: Any) -> Any:
            """Return tasks that each read about the same number of bytes."""
            limits = {} if per_task_row_limit is None else {"per_task_row_limit": per_task_row_limit}
            return [
                ReadTask(
                    partial(_read_segments, self._source, segments), self._create_block_metadata(segments), **limits
                )
                for segments in divide_shards(self._shards, parallelism)
            ]

        def _create_block_metadata(self, segments: list[Segment]) -> Any:
            num_rows = sum(segment.stop - segment.start for segment in segments)
            known = {
                "num_rows": num_rows,
                "size_bytes": sum(segment.num_bytes for segment in segments) + num_rows * self._row_bytes,
                "input_files": [path for segment in segments for path in segment.files],
            }
            # The fields differ between versions of Ray. Set each field that is not in `known` to None.
            return BlockMetadata(**{field.name: known.get(field.name) for field in fields(BlockMetadata)})

    return RecordmillDatasource


def _read_segments(source: _ReadOptions, segments: list[Segment]) -> Iterator[pa.Table]:
    """Read segments in a worker; yield their records as Arrow tables of limited size."""
    block_bytes = _DECODED_BLOCK_BYTES if source.specs else _BLOCK_BYTES
    for segment in segments:
        dataset = rm.open(segment.files, **source.options)
        num_rows = segment.stop - segment.start
        num_blocks = max(min(-(-segment.num_bytes // block_bytes), num_rows), 1)
        for block in range(num_blocks):
            start = segment.start + num_rows * block // num_blocks
            stop = segment.start + num_rows * (block + 1) // num_blocks
            part = dataset.skip(start).take(stop - start)
            yield _build_table(part.decode(**source.specs) if source.specs else part, source.specs)


def _build_table(dataset: rm.Dataset, decoded: Mapping[str, Any]) -> pa.Table:
    """Read all samples as a table; arrays with two or more axes become tensor columns."""
    from ray.data.extensions import ArrowTensorArray

    converter = create_converter(dataset, "rm.ray.read")
    columns = dataset.to_numpy()
    tensors = {name: column for name, column in columns.items() if _is_tensor(column, name in decoded, name, converter)}
    table = converter.build_table({name: column for name, column in columns.items() if name not in tensors})
    for name, column in tensors.items():
        values = column if isinstance(column, np.ndarray) else _to_object_array(column)
        position = list(columns).index(name)
        table = table.add_column(min(position, table.num_columns), name, ArrowTensorArray.from_numpy(values))
    return table.select(list(columns))


def _is_tensor(column: Any, is_decoded: bool, name: str, converter: Converter) -> bool:
    if isinstance(column, np.ndarray):
        return column.ndim > 1 and (is_decoded or name not in converter.variable)
    return is_decoded and isinstance(column, list) and all(getattr(row, "ndim", 0) > 1 for row in column)


def _to_object_array(rows: list[NDArray[Any]]) -> NDArray[Any]:
    array = np.empty(len(rows), object)
    array[:] = rows
    return array

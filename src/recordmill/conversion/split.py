"""`split`: divide the records of a dataset into parts, such as train and validation."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.concurrency.threads import num_cpus
from recordmill.conversion.changes import Changes
from recordmill.conversion.convert import choose_output_format, choose_output_payload, open_records
from recordmill.conversion.converter import Converter
from recordmill.conversion.selection import read_feature
from recordmill.conversion.source import Positions, ShardRecords
from recordmill.conversion.writing import ConvertResult, ShardsWriter
from recordmill.errors import FeatureError, InputError
from recordmill.packing.options import OnError, OutputOptions, RunOptions
from recordmill.packing.progress import Progress, ProgressOption
from recordmill.pipeline.dataset import Dataset
from recordmill.shards.dataset_output import DatasetOutput
from recordmill.shards.index import IndexMode
from recordmill.shards.paths import Paths
from recordmill.storage.addresses import check_output_path
from recordmill.suggestions import suggest_arguments

Ints = NDArray[np.int64]
# For each record, the number of the part to which the record belongs.
Assignment = Ints


@dataclass(frozen=True, slots=True)
class SplitResult:
    """Result of `split`: for each part, a `ConvertResult` and the number of records per class.

    Parameters
    ----------
    parts : dict of str to ConvertResult
    counts : dict of str to (dict of value to int)
        For each part, the number of records by value of the feature `by`; empty without `by`.
    """

    parts: dict[str, ConvertResult]
    counts: dict[str, dict[Any, int]]

    def to_json(self) -> dict[str, Any]:
        """Return the result as a dict that can be written as JSON.

        Returns
        -------
        dict
            ``{"parts": {name: result}, "counts": {name: {class: count}}}``, with classes as text.
        """
        counts = {
            name: {_class_to_text(value): count for value, count in part.items()} for name, part in self.counts.items()
        }
        return {"parts": {name: part.to_json() for name, part in self.parts.items()}, "counts": counts}


def _class_to_text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


@suggest_arguments
def split(  # noqa: PLR0913 (the options of one command)
    source: Paths | Dataset,
    destination: str | os.PathLike[str],
    parts: Mapping[str, float],
    *,
    by: str | None = None,
    group: str | None = None,
    seed: int = 0,
    format: str | None = None,  # noqa: A002
    payload: str | None = None,
    compression: str | None = None,
    shards: int | None = None,
    max_shard_bytes: int | None = None,
    workers: int | None = 1,
    on_error: OnError = "stop",
    progress: ProgressOption = None,
    overwrite: bool = False,
    index: IndexMode = "auto",
    break_lock: bool = False,
) -> SplitResult:
    """Divide the records of shards at random into parts, such as train and validation.

    Every record is in exactly one part. The same records and options result in the same parts. Within a part, records
    keep their order.

    Parameters
    ----------
    source : path, pattern, folder, iterable of them, or Dataset
        A dataset must have no functions; it may be shuffled.
    destination : path
        Folder for the new datasets, which are named after the parts.
    parts : mapping of str to float
        Name of each part, and its share of the records. The shares must add up to 1.
    by : str, optional
        Feature with the class: each part gets the same share of each class, up to one record.
    group : str, optional
        Feature with the group, such as a person: all records of a group are in the same part. The shares of
        the parts are then only approximate. Cannot be combined with `by`.
    seed : int
        Seed of the random choice.
    format, payload, compression : str, optional
        Format, encoding and compression of the new shards, as in `convert`.
    shards, max_shard_bytes : int, optional
        Number of shards of each part, or their maximum size in bytes.
    workers : int or None
        Number of worker threads; None for the number of available processors.
    on_error : str
        Treatment of records that cannot be read: "stop" raises an error, "skip" reports them in the result.
    progress : bool or callable, optional
        Whether to show progress on standard error, as in `pack`.
    overwrite : bool
        Whether to replace existing parts.
    index : str
        "auto" stores a sidecar index beside each shard. With "never", the first `open` builds it.
    break_lock : bool
        Write although another process has locked the destination.

    Returns
    -------
    SplitResult

    Raises
    ------
    FeatureError
        If `by` or `group` is not a feature with at most one value per record.
    OutputExistsError
        If one of the parts exists. No part is written.
    ValueError
        If a share is not positive, if the shares do not add up to 1, or if options cannot be combined.

    Examples
    --------
    >>> result = rm.split("train.tfrecord", "parts", {"train": 0.75, "val": 0.25})
    >>> {name: part.num_records for name, part in result.parts.items()}
    {'train': 6, 'val': 2}
    """
    shares = _check_parts(parts)
    if by is not None and group is not None:
        raise ValueError("by= and group= cannot be combined")
    if not hasattr(seed, "__index__") or seed < 0:
        raise ValueError(f"seed must be an integer of at least 0, got {seed!r}")
    outputs = OutputOptions(shards, max_shard_bytes, compression, -1, overwrite, index, break_lock)
    run = RunOptions(num_cpus() if workers is None else workers, "threads", on_error)
    opened = open_records(source)
    if isinstance(opened, Dataset):
        message = "split() does not support a dataset with functions; write it with convert() and split the result"
        raise ValueError(message)  # noqa: TRY004 (no type error)
    records, positions = opened
    assignment, classes = _assign_parts(records, positions, shares, by, group, seed, run.workers)
    folder = check_output_path(destination)
    format_ = choose_output_format("", format, records.collections)
    codec = choose_output_payload(payload, format_, records.collections)
    writers = {}
    for number, name in enumerate(shares):
        rows = np.flatnonzero(assignment == number)
        converter = Converter(records, format_.name, codec.name, Changes(), on_error)
        writers[name] = ShardsWriter(
            converter,
            np.asarray(positions, np.int64)[rows],
            os.path.join(folder, name),
            format_,
            outputs,
            run,
            {},
        )
    _check_outputs(writers)
    shown = Progress(len(positions), progress)
    results = {name: writer.write(shown) for name, writer in writers.items()}
    return SplitResult(results, {} if by is None else _count_classes(assignment, list(shares), *classes))


def _check_parts(parts: Mapping[str, float]) -> dict[str, float]:
    if not parts:
        raise ValueError("parts must have at least one entry, such as {'train': 0.9, 'val': 0.1}")
    for name, share in parts.items():
        if not name or name in (".", "..") or os.path.basename(name) != name or "\0" in name:
            raise ValueError(f"the name of a part must be a valid file name, got {name!r}")
        if not share > 0:
            raise ValueError(f"the share of {name!r} must be above 0, got {share!r}")
    if not math.isclose(sum(parts.values()), 1, abs_tol=1e-9):
        raise ValueError(f"the shares must add up to 1, got {sum(parts.values()):g}")
    return dict(parts)


def _check_outputs(writers: Mapping[str, ShardsWriter]) -> None:
    """Raise an error if a part is empty or cannot be written. Call this function before writing the first part."""
    for name, writer in writers.items():
        if not len(writer.positions):
            raise InputError(
                f"part {name!r} would be empty", kind="empty_part", hint="use a larger share, or more records"
            )
        writer.converter.check()
        storage = writer.run.choose_output_storage(writer.destination)
        output = DatasetOutput(storage, writer.destination, writer.format, writer.outputs.shard_options())
        try:
            num_shards = writer.outputs.shards or 1
            output.check_not_existing([] if writer.outputs.max_shard_bytes else output.shard_paths(num_shards))
        finally:
            output.discard()


def _assign_parts(
    records: ShardRecords,
    positions: Positions,
    shares: Mapping[str, float],
    by: str | None,
    group: str | None,
    seed: int,
    threads: int,
) -> tuple[Assignment, tuple[Ints, list[Any]]]:
    """Choose a part for each record.

    Returns the part number of each record, its class or group as an integer code, and the value of each code.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    fractions = np.array(list(shares.values()))
    name = by if by is not None else group
    if name is None:
        codes, values = np.zeros(len(positions), np.int64), [None]
    else:
        known = {feature for collection in records.collections for feature in collection.schema}
        if name not in known:
            raise FeatureError(
                f"there is no feature {name!r}",
                kind="feature_mismatch",
                feature=name,
                expected=", ".join(sorted(known)),
            )
        codes, values = read_feature(records, name, positions, threads)
    choose = assign_groups if group is not None else assign_stratified
    return choose(codes, fractions, generator), (codes, values)


def assign_stratified(codes: Ints, fractions: NDArray[np.float64], generator: np.random.Generator) -> Assignment:
    """Choose a part for each record. Each part gets its share of every class, with a difference of at most one record.

    The share of each class is rounded down. The remaining records go to the parts that are farthest below their share
    of all records.
    """
    assignment = np.empty(len(codes), np.int64)
    num_classes = int(codes.max()) + 1 if len(codes) else 0
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes, minlength=num_classes)
    quotas = sizes[:, None] * fractions
    counts = np.floor(quotas + 1e-9).astype(np.int64)
    missing = len(codes) * fractions - counts.sum(axis=0)
    for row in range(num_classes):
        num_left = int(sizes[row] - counts[row].sum())
        chosen = np.argsort(-missing, kind="stable")[:num_left]
        counts[row, chosen] += 1
        missing[chosen] -= 1
    start = 0
    for row in range(num_classes):
        members = generator.permutation(order[start : start + sizes[row]])
        assignment[members] = np.repeat(np.arange(len(fractions)), counts[row])
        start += int(sizes[row])
    return assignment


def assign_groups(codes: Ints, fractions: NDArray[np.float64], generator: np.random.Generator) -> Assignment:
    """Assign groups to parts, largest group first. Each group goes to the part that is farthest below its share."""
    sizes = np.bincount(codes) if len(codes) else np.empty(0, np.int64)
    shuffled = generator.permutation(len(sizes))
    part_of_group = np.empty(len(sizes), np.int64)
    missing = len(codes) * fractions
    for row in shuffled[np.argsort(-sizes[shuffled], kind="stable")].tolist():
        part = int(np.argmax(missing))
        part_of_group[row] = part
        missing[part] -= sizes[row]
    return part_of_group[codes]


def _count_classes(
    assignment: Assignment, names: list[str], codes: Ints, values: list[Any]
) -> dict[str, dict[Any, int]]:
    counts = {}
    for number, name in enumerate(names):
        found = np.bincount(codes[assignment == number], minlength=len(values)).tolist()
        pairs = [(value, count) for value, count in zip(values, found, strict=True) if count]
        counts[name] = dict(sorted(pairs, key=lambda pair: (type(pair[0]).__name__, 0 if pair[0] is None else pair[0])))
    return counts

"""Summarize shards: formats, sizes, numbers of records, and features."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from textwrap import indent
from typing import Any

import numpy as np

from recordmill.errors import RecordmillError
from recordmill.formats.base import FeatureSummary
from recordmill.schema import Schema
from recordmill.shards.class_names import find_classes
from recordmill.shards.completeness import describe_content, select_shards
from recordmill.shards.index import ShardIndex
from recordmill.shards.inference import SAMPLE_RECORDS, detect_payload, infer_features
from recordmill.shards.open import DEFAULT_MAX_RECORD_BYTES, OpenShard
from recordmill.shards.paths import Paths, list_paths
from recordmill.shards.reader import open_reader
from recordmill.shards.spanning import group_spanning_files
from recordmill.shards.statistics import Statistics, StatisticsCollector
from recordmill.storage.addresses import describe_path
from recordmill.storage.choose import StorageOptions, choose_storage
from recordmill.suggestions import suggest_arguments


@dataclass(frozen=True, slots=True)
class ShardInfo:
    """Summary of one shard file.

    Parameters
    ----------
    path : str
        Path of the file.
    format : str
        Name of the format.
    compression : str or None
        Compression of the file. Either "gzip" or "zlib".
    num_records : int
        Number of records, without those whose damage is visible in the frame headers.
    num_bytes : int
        Size of the file, in bytes.
    damage : str or None
        Message of the damage, if there is any.
    """

    path: str
    format: str
    compression: str | None
    num_records: int
    num_bytes: int
    damage: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the summary as a dict that can be written as JSON.

        Returns
        -------
        dict
        """
        names = ("path", "format", "compression", "num_records", "num_bytes")
        entry = {name: getattr(self, name) for name in names}
        return entry if self.damage is None else entry | {"damage": self.damage}


@dataclass(frozen=True, slots=True)
class Info:
    """Summary of shards.

    Parameters
    ----------
    shards : list of ShardInfo
        One entry per file.
    payload : str or None
        Name of the payload codec; None if there are no records.
    features : dict of str to FeatureSummary
        Features of the sampled records.
    num_sampled : int
        Number of sampled records.
    schema : Schema or None
        Schema of the writer; without one, a schema that is inferred from the sample.
    complete : bool or None
        True if a whole dataset was selected and is complete. False for explicit files and patterns that match only a
        part of a dataset, and for an incomplete dataset. None if the expected number of shards is unknown.
    problems : list of str
        Problems of the dataset as a whole: missing, foreign and replaced shards, or an interrupted writer.
    classes : list of str or None
        Class names in the order of the label numbers, if the writer stored them or ``labels.txt`` lists them.
    statistics : Statistics or None
        Statistics over all records; None unless ``stats=True``.
    """

    shards: list[ShardInfo]
    payload: str | None = None
    features: dict[str, FeatureSummary] = field(default_factory=dict)
    num_sampled: int = 0
    schema: Schema | None = None
    complete: bool | None = None
    problems: list[str] = field(default_factory=list)
    classes: list[str] | None = None
    statistics: Statistics | None = None

    @property
    def num_records(self) -> int:
        """Number of records of all shards."""
        return sum(shard.num_records for shard in self.shards)

    @property
    def num_bytes(self) -> int:
        """Size of all shards, in bytes."""
        return sum(shard.num_bytes for shard in self.shards)

    @property
    def format(self) -> str:
        """Format of the shards; different formats are joined with ``+``."""
        return "+".join(dict.fromkeys(shard.format for shard in self.shards))

    def to_json(self) -> dict[str, Any]:
        """Return the summary as a dict that can be written as JSON.

        Returns
        -------
        dict
        """
        plain: dict[str, Any] = {
            "num_records": self.num_records,
            "num_bytes": self.num_bytes,
            "format": self.format,
            "payload": self.payload,
            "schema": {} if self.schema is None else self.schema.to_json(),
            "features": {name: self._feature_to_json(summary) for name, summary in self.features.items()},
            "num_sampled": self.num_sampled,
            "complete": self.complete,
            "problems": self.problems,
            "classes": self.classes,
            "shards": [shard.to_json() for shard in self.shards],
        }
        return plain if self.statistics is None else plain | {"statistics": self.statistics.to_json()}

    def __str__(self) -> str:
        """Return format, sizes, features and problems, as text of several lines."""
        completeness = {True: ", complete", False: ", not the whole dataset", None: ""}[self.complete]
        records, shards = _format_count(self.num_records, "record"), _format_count(len(self.shards), "shard")
        lines = [f"{self.format}: {records} in {shards}, {self.num_bytes:,} bytes{completeness}"]
        lines += [f"classes: {', '.join(self.classes)}"] if self.classes else []
        if self.schema is not None:
            lines += [f"features of payload {self.payload}:", indent(str(self.schema), "  ")]
        lines += [f"damaged: {shard.path}: {shard.damage}" for shard in self.shards if shard.damage is not None]
        return "\n".join(lines + [f"incomplete: {problem}" for problem in self.problems])

    def _repr_html_(self) -> str:
        """Return the summary as HTML, for notebooks."""
        from recordmill.shards.summary_html import format_info_html

        return format_info_html(self)

    def _feature_to_json(self, summary: FeatureSummary) -> dict[str, Any]:
        missing = 1 - summary.num_present / self.num_sampled if self.num_sampled else 0.0
        return {
            "kind": summary.feature.kind,
            "shape": list(summary.feature.shape),
            "varying": summary.counts[0] != summary.counts[1],
            "counts": list(summary.counts),
            "num_bytes": None if summary.num_bytes is None else list(summary.num_bytes),
            "missing_rate": missing,
            "mixed_kinds": summary.mixed_kinds,
        }


@suggest_arguments
def info(
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    num_records: int = SAMPLE_RECORDS,
    stats: bool = False,
    max_decompressed_bytes: int | None = None,
    max_record_bytes: int = DEFAULT_MAX_RECORD_BYTES,
    storage_options: StorageOptions = None,
) -> Info:
    """Summarize shards from their indexes and a sample of their records.

    Parameters
    ----------
    paths : path, pattern, directory, or iterable of them
        The shards.
    format : str, optional
        Record format, such as "tfrecord", "ofrecord" or "recordio"; detected from the content by default.
    compression : str or None, default "auto"
        Compression of the shards; ``"auto"`` detects it from the content. One of "auto", "gzip" or "zlib".
    num_records : int, default 1000
        Number of records in the sample, which is taken from the first shard that has records.
    stats : bool, default False
        Read all records, and return statistics over them: ranges and counts of values, and sizes of images. A damaged
        record is skipped and counted, and its shard is reported as damaged.
    max_decompressed_bytes : int, optional
        Maximum size of a compressed shard after decompression, in bytes. The default is 64 MiB or 250 times the file
        size, whichever is larger.
    max_record_bytes : int, default 1073741824
        Maximum length of a payload in bytes. Reading a longer one raises `LimitError`, and no memory is allocated for
        it; the other records can be read.
    storage_options : mapping of str to object, optional
        Settings for addresses such as ``s3://bucket/train``, as in `open`.

    Returns
    -------
    Info

    Raises
    ------
    FormatError
        If the format of a file is unknown.

    Examples
    --------
    >>> summary = rm.info("train.tfrecord")
    >>> summary.format, summary.num_records, list(summary.schema)
    ('tfrecord', 8, ['image', 'label'])
    >>> label = rm.info("train.tfrecord", stats=True).statistics.features["label"]
    >>> label.minimum, label.maximum, label.mean
    (0, 7, 3.5)
    """
    paths = list_paths(paths)
    storage = choose_storage(paths, storage_options)
    shards: list[ShardInfo] = []
    sample = Info([])
    options: dict[str, Any] = {
        "format": format,
        "compression": compression,
        "max_decompressed_bytes": max_decompressed_bytes,
        "max_record_bytes": max_record_bytes,
    }
    selection = select_shards(paths, storage)
    classes: list[list[str] | None] = []
    collector = StatisticsCollector() if stats else None
    for files in group_spanning_files(selection.files, options, storage):
        with open_reader(files, storage, **options) as reader:
            shard, loaded, sidecar = reader.shard, reader.load_index(), reader.sidecar
            selection.compare(describe_content(shard, loaded))
            classes.append(sidecar.classes)
            error = None if collector is None else collector.add_shard(reader)
            shards += summarize_files(shard, loaded, error)
            if sample.payload is None and sidecar.num_records > len(loaded.faults):
                codec = detect_payload(shard, sidecar)
                inference = infer_features(shard, codec, num_records, sidecar=sidecar)
                schema = inference.schema if sidecar.schema is None or sidecar.is_inferred else sidecar.schema
                sample = Info([], codec.name, inference.features, inference.num_records, schema)
    return replace(
        sample,
        shards=shards,
        complete=selection.complete,
        problems=selection.describe_problems(),
        classes=find_classes(storage, selection.files, selection.classes, classes),
        statistics=None if collector is None else collector.finish(),
    )


def _format_count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("s" if number != 1 else "")


def summarize_files(shard: OpenShard, loaded: ShardIndex, error: RecordmillError | None = None) -> list[ShardInfo]:
    """Return a `ShardInfo` for each file of a shard. A record that spans files belongs to the file where it starts."""
    kind, damage = (shard.format.name, shard.compression), _describe_damage(loaded, error)
    offsets = np.delete(loaded.sidecar.index.offsets, list(loaded.faults))
    if len(shard.paths) == 1:
        return [ShardInfo(shard.name, *kind, len(offsets), shard.source.num_stored_bytes or 0, damage)]
    sizes = [shard.storage.stat(path).num_bytes for path in shard.paths]
    counts = np.diff(np.searchsorted(offsets, np.cumsum([0, *sizes]))).tolist()
    rows = zip(map(describe_path, shard.paths), counts, sizes, strict=True)
    return [ShardInfo(path, *kind, count, size, damage) for path, count, size in rows]


def _describe_damage(loaded: ShardIndex, error: RecordmillError | None) -> str | None:
    """Return a message about the known damage of a shard; return None if no damage is known.

    `error` is an error that reading a record has raised. It is used if the index lists no damage.
    """
    error = next(iter(loaded.faults.values()), error)
    if error is not None:
        return str(error).replace("\n", ";")
    if loaded.condition in ("damaged", "truncated"):
        return f"the shard is {loaded.condition} according to its sidecar index; `recordmill verify` lists the faults"
    return None

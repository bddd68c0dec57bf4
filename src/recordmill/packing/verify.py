"""Verify shards and the images in their records."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recordmill.concurrency.threads import map_range
from recordmill.decode.signatures import are_mostly_images
from recordmill.errors import RecordmillError
from recordmill.packing.recode import check_decodable
from recordmill.shards.collection import ShardCollection
from recordmill.shards.completeness import Selection, select_shards
from recordmill.shards.open import DEFAULT_MAX_RECORD_BYTES
from recordmill.shards.paths import Paths, list_paths
from recordmill.shards.spanning import group_spanning_files
from recordmill.shards.verify import Report, merge_guarantees, verify_shard
from recordmill.storage.base import Storage
from recordmill.storage.choose import StorageOptions, choose_storage
from recordmill.suggestions import suggest_arguments
from recordmill.types import Fault

# Number of records that are read in one call and then decoded in parallel.
_CHUNK_RECORDS = 64
# Number of records that are read to find out which features contain images.
_SAMPLE_RECORDS = 32


@suggest_arguments
def verify(
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    payload: str | None = "auto",
    decode: bool = False,
    max_decompressed_bytes: int | None = None,
    max_record_bytes: int = DEFAULT_MAX_RECORD_BYTES,
    storage_options: StorageOptions = None,
) -> Report:
    """Verify all bytes of shards and report every fault.

    OFRecord parts whose records continue in the next file are verified as one stream.

    Parameters
    ----------
    paths : path, pattern, directory, or iterable of them
        The shards.
    format : str, optional
        Record format, such as "tfrecord", "ofrecord" or "recordio"; detected from the content by default.
    compression : str or None
        Compression of the shards; "auto" detects it from their content. One of "auto", "gzip" or "zlib".
    payload : str or None
        Codec with which all payloads are parsed; "auto" detects it from the first records, None parses no payloads. One
        of "auto", "example", "sequence_example", "ofrecord", "irheader" or "raw".
    decode : bool, default False
        Also decode every image and report those that cannot be decoded as ``"bad_image"``. A feature is assumed to
        contain images if most of its first values begin like image files. Formats other than JPEG and PNG need the
        extra ``image``.
    max_decompressed_bytes : int, optional
        Maximum size of a compressed shard after decompression, in bytes. The default is 64 MiB or 250 times the file
        size, whichever is larger.
    max_record_bytes : int, default 1073741824
        Maximum length of a payload in bytes. A longer one is reported as ``"record_too_long"``.
    storage_options : mapping of str to object, optional
        Settings for addresses such as ``s3://bucket/train``, as in `open`.

    Returns
    -------
    Report

    Raises
    ------
    FileNotFoundError
        If a path or pattern matches no file.

    Examples
    --------
    >>> report = rm.verify("train.tfrecord")
    >>> report.ok, report.num_records
    (True, 8)
    """
    options = {
        "format": format,
        "compression": compression,
        "max_decompressed_bytes": max_decompressed_bytes,
        "max_record_bytes": max_record_bytes,
    }
    names = list_paths(paths)
    storage = choose_storage(names, storage_options)
    verifier = ShardVerifier(storage, options, payload, decode)
    selection = select_shards(names, storage)
    results = [verifier.verify(files, selection) for files in group_spanning_files(selection.files, options, storage)]
    return verifier.merge(selection, results)


@dataclass(frozen=True, slots=True)
class ShardResult:
    """Result of the verification of one shard.

    Parameters
    ----------
    report : Report
    image_faults : list of Fault
        Images that cannot be decoded.
    image_features : list of str
        Features whose values were decoded.
    """

    report: Report
    image_faults: list[Fault]
    image_features: list[str]


@dataclass(frozen=True, slots=True)
class ShardVerifier:
    """Verifies shards one by one, and merges the results. Picklable, because it is sent to worker processes.

    Parameters
    ----------
    storage : Storage
    options : mapping of str to object
        Keyword arguments of `open_shard`.
    payload : str or None
    decode : bool
    """

    storage: Storage
    options: Mapping[str, Any]
    payload: str | None
    decode: bool

    def verify(self, files: list[str], selection: Selection) -> ShardResult:
        """Verify the files of one shard. If the shard differs from the manifest, add it to ``selection.replaced``."""
        report = verify_shard(self.storage, files, self.options, self.payload, selection)
        if self.decode:
            payload = None if self.payload == "auto" else self.payload
            # `verify_shard` has already reported a shard that cannot be opened.
            with contextlib.suppress(RecordmillError):
                collection = ShardCollection(files, payload=payload, storage=self.storage, **self.options)
                return ShardResult(report, *_decode_images(collection))
        return ShardResult(report, [], [])

    def merge(self, selection: Selection, results: Sequence[ShardResult]) -> Report:
        """Merge the results of all shards of a selection, in order."""
        reports = [result.report for result in results]
        images = [fault for result in results for fault in result.image_faults]
        dataset_faults = selection.list_faults(self.storage)
        guarantees = merge_guarantees([report.guarantees for report in reports])
        if self.decode:
            features = ", ".join(sorted({name for result in results for name in result.image_features})) or "none"
            guarantees = {
                name: [*lines, f"every image was decoded (features: {features})"] for name, lines in guarantees.items()
            }
        num_bad_records = len({(fault.shard, fault.record) for fault in images})
        return Report(
            sum(report.num_records for report in reports) - num_bad_records,
            [*dataset_faults, *(fault for report in reports for fault in report.faults), *images],
            len(dataset_faults) + sum(report.num_faults for report in reports) + len(images),
            guarantees,
        )


def _decode_images(collection: ShardCollection) -> tuple[list[Fault], list[str]]:
    """Decode all images; return a fault for each invalid image, and the names of the image features."""
    features = _find_image_features(collection)
    faults: list[Fault] = []
    for start in range(0, len(collection), _CHUNK_RECORDS):
        positions = range(start, min(start + _CHUNK_RECORDS, len(collection)))
        faults += _find_image_faults(collection, positions, features)
    return faults, features


def _find_image_features(collection: ShardCollection) -> list[str]:
    """Return the names of the features that contain images, judged by the signatures of values in the first records."""
    names = [name for name, feature in collection.schema.items() if feature.kind == "bytes" and not feature.sequence]
    examples = [
        example for _, example in _read_intact_examples(collection, range(min(_SAMPLE_RECORDS, len(collection))))
    ]
    values = {
        name: [value for example in examples for value in _collect_byte_strings(example.get(name))] for name in names
    }
    return [name for name in names if are_mostly_images(values[name])]


def _read_intact_examples(
    collection: ShardCollection, positions: Sequence[int]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the positions and examples of intact records. `verify_shard` reports damaged records."""
    try:
        yield from zip(positions, collection.__getitems__(positions), strict=True)
    except RecordmillError:
        for position in positions:
            try:
                (example,) = collection.__getitems__([position])
            except RecordmillError:
                continue
            yield position, example


def _collect_byte_strings(value: Any) -> list[bytes]:
    if value is None:
        return []
    return [value] if isinstance(value, bytes) else [bytes(entry) for entry in value]


def _find_image_faults(collection: ShardCollection, positions: Sequence[int], features: list[str]) -> list[Fault]:
    images = [
        (position, name, value)
        for position, example in _read_intact_examples(collection, positions)
        for name in features
        for value in _collect_byte_strings(example[name])
    ]
    messages = map_range(lambda number: _find_decode_error(images[number][2]), len(images))
    faults = []
    for (position, name, _), message in zip(images, messages, strict=True):
        if message is not None:
            place = collection.where(position)
            faults.append(Fault("bad_image", place.shard, place.record, place.offset, f"feature {name!r}: {message}"))
    return faults


def _find_decode_error(data: bytes) -> str | None:
    """Decode an image; return the error message, or None if it succeeds."""
    try:
        check_decodable(data)
    except RecordmillError as error:
        return str(error).splitlines()[0]
    return None

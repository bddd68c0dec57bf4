"""The function `iterate_payloads`, which reads the payloads of many shards in order, without an index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from recordmill.shards.completeness import select_shards
from recordmill.shards.open import DEFAULT_MAX_RECORD_BYTES
from recordmill.shards.paths import Paths, list_paths
from recordmill.shards.reader import ShardReader, open_reader, records_per_read
from recordmill.shards.spanning import group_spanning_files
from recordmill.storage.base import Storage
from recordmill.storage.choose import choose_storage
from recordmill.suggestions import suggest_arguments


@suggest_arguments
def iterate_payloads(
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    verify: bool = True,
    allow_incomplete: bool = False,
    max_decompressed_bytes: int | None = None,
    max_record_bytes: int = DEFAULT_MAX_RECORD_BYTES,
) -> Iterator[bytes]:
    """Yield the payloads of shards in order, one shard after another, in bounded memory.

    Parameters
    ----------
    paths : path, pattern, directory, prefix, or iterable of them
        The shards, as in `open`.
    format : str, optional
        Record format, such as "tfrecord", "ofrecord" or "recordio"; detected from the content by default.
    compression : str or None, default "auto"
        Compression of the shards; ``"auto"`` detects it from the content. One of "auto", "gzip" or "zlib".
    verify : bool, default True
        Check all checksums that the format has.
    allow_incomplete : bool, default False
        Read the remaining shards of a dataset even if some are missing, do not belong to it, or were replaced.
    max_decompressed_bytes : int, optional
        Maximum size of a compressed shard after decompression, in bytes, as in `open`.
    max_record_bytes : int, default 1073741824
        Maximum length of a payload in bytes; a longer one raises `LimitError`.

    Yields
    ------
    bytes

    Raises
    ------
    IncompleteDatasetError
        If shards of the dataset are missing or foreign, or if its writer was interrupted.
    DamageError
        If a record is damaged; raised after all records before it were yielded.

    Examples
    --------
    >>> [type(payload) for payload in rm.iterate_payloads("train.tfrecord")][:2]
    [<class 'bytes'>, <class 'bytes'>]
    """
    options = {
        "format": format,
        "compression": compression,
        "max_decompressed_bytes": max_decompressed_bytes,
        "max_record_bytes": max_record_bytes,
    }
    names = list_paths(paths)
    storage = choose_storage(names)
    files = list_complete_files(names, storage, allow_incomplete=allow_incomplete)
    return _iterate_readers(open_readers(files, options, storage, verify=verify))


def _iterate_readers(readers: Iterator[ShardReader]) -> Iterator[bytes]:
    for reader in readers:
        for batch in reader.batches(records_per_read(reader.shard)):
            for payload in batch:
                yield bytes(payload)


def list_complete_files(paths: Paths, storage: Storage, *, allow_incomplete: bool) -> list[str]:
    """Return the files that paths stand for; raise IncompleteDatasetError if shards of a dataset are missing."""
    selection = select_shards(paths, storage)
    if allow_incomplete:
        selection.keep_complete()
    else:
        selection.raise_if_interrupted(storage)
        selection.raise_if_incomplete()
    return selection.files


def open_readers(
    files: list[str], options: Mapping[str, Any], storage: Storage, *, verify: bool = True
) -> Iterator[ShardReader]:
    """Open one shard after another, so that only one is open at a time."""
    for group in group_spanning_files(files, options, storage):
        reader = open_reader(group, storage, verify=verify, index="never", **options)
        yield reader
        reader.close()

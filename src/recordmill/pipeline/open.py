"""The function `open`, which creates a dataset of the examples in shards."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from recordmill.pipeline.checks import check_integer
from recordmill.pipeline.compiled_pipeline import SourceOrigin
from recordmill.pipeline.dataset import Dataset
from recordmill.shards.collection import ShardCollection
from recordmill.shards.open import DEFAULT_MAX_RECORD_BYTES
from recordmill.shards.paths import list_paths
from recordmill.storage.choose import StorageOptions, choose_storage
from recordmill.suggestions import suggest_arguments

if TYPE_CHECKING:
    from recordmill.schema import Feature, Schema
    from recordmill.shards.paths import Paths


@suggest_arguments
def open(  # noqa: A001, PLR0913 (the options of one function)
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    payload: str | None = None,
    schema: Schema | Mapping[str, Feature] | None = None,
    verify: bool = True,
    allow_incomplete: bool = False,
    max_decompressed_bytes: int | None = None,
    max_record_bytes: int = DEFAULT_MAX_RECORD_BYTES,
    storage_options: StorageOptions = None,
    max_requests: int = 32,
    cache_dir: str | os.PathLike[str] | None = None,
    cache_bytes: int | None = None,
) -> Dataset:
    """Open shards as one dataset of examples.

    Parameters
    ----------
    paths : path, glob pattern, folder, prefix, or iterable of them
        The files of a pattern or folder are read in natural order (``part-2`` before ``part-10``); a list keeps its
        order. A file that matches several times is read once; use `mix` or `repeat` to read samples more often. A
        folder, the prefix that was passed to the writer, or a pattern that matches all shards selects a whole dataset,
        which must be complete. Explicit files and narrower patterns may select a part of it.
    format : str, optional
        Record format, such as "tfrecord", "ofrecord" or "recordio"; detected from the content by default.
    compression : str or None
        Compression of whole files; detected from the content by default. One of "auto", "gzip" or "zlib".
    payload : str, optional
        Type of the records; detected from the first records by default. One of "example", "sequence_example",
        "ofrecord", "irheader" or "raw".
    schema : Schema or mapping of str to Feature, optional
        Features of the examples. By default, the schema that the writer stored, otherwise one that is inferred from
        the first thousand records.
    verify : bool
        Verify all checksums of the format while reading.
    allow_incomplete : bool, default False
        If shards are missing, do not belong to the dataset or were replaced, open the other shards instead of raising
        `IncompleteDatasetError`.
    max_decompressed_bytes : int, optional
        Maximum size of a compressed shard after decompression, in bytes. The default is 64 MiB or 250 times the file
        size, whichever is larger.
    max_record_bytes : int, default 1073741824
        Maximum length of a payload in bytes. Reading a longer one raises `LimitError`, and no memory is allocated for
        it; the other records can be read.
    storage_options : mapping of str to object, optional
        Options of obstore for addresses such as ``s3://bucket/train``: any configuration key, for example ``region``,
        ``endpoint`` or ``skip_signature`` (anonymous access), and the arguments ``client_options``, ``retry_config``
        and ``credential_provider``. By default, the usual environment variables, such as ``AWS_ACCESS_KEY_ID``.
    max_requests : int, default 32
        Maximum number of concurrent requests to an object store.
    cache_dir : path, optional
        Local folder in which blocks of remote shards are stored after they have been read. Several processes may share
        it.
    cache_bytes : int, optional
        Maximum size of `cache_dir`; by default no limit. A full cache keeps its blocks.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If no file matches.
    FormatError
        If the format of a file is unknown, or differs from `format`.
    IncompleteDatasetError
        If shards of the dataset are missing, foreign or replaced, or if its writer was interrupted.
    RemoteError
        If a request to an object store fails, even after retries.
    ManifestError
        If the manifest is damaged, or was written by a newer version of recordmill.
    DamageError
        If some frames of a shard cannot be found.

    Examples
    --------
    >>> dataset = rm.open("train.tfrecord")
    >>> len(dataset), int(dataset[0]["label"])
    (8, 0)
    """
    check_integer(max_requests, "max_requests must be a positive integer", 1)
    if cache_bytes is not None:
        check_integer(cache_bytes, "cache_bytes must be an integer of at least 0")
        if cache_dir is None:
            raise ValueError("cache_bytes= requires cache_dir=, the folder of the cache")
    names = list_paths(paths)
    storage = choose_storage(
        names, storage_options, max_requests=max_requests, cache_dir=cache_dir, cache_bytes=cache_bytes
    )
    source = ShardCollection(
        names,
        storage=storage,
        format=format,
        compression=compression,
        payload=payload,
        schema=schema,
        verify=verify,
        allow_incomplete=allow_incomplete,
        max_decompressed_bytes=max_decompressed_bytes,
        max_record_bytes=max_record_bytes,
    )
    return Dataset(SourceOrigin(source))

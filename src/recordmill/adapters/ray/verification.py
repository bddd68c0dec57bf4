"""`verify` on a Ray cluster: each task verifies one shard."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace

from recordmill.adapters.ray.tasks import (
    TaskFailure,
    TaskOptions,
    TaskRunner,
    absolute_paths,
    import_ray,
    raise_failure,
)
from recordmill.packing.progress import Progress, ProgressOption
from recordmill.packing.verify import ShardResult, ShardVerifier
from recordmill.shards.completeness import Selection, select_shards
from recordmill.shards.open import DEFAULT_MAX_RECORD_BYTES
from recordmill.shards.paths import Paths
from recordmill.shards.spanning import group_spanning_files
from recordmill.shards.verify import Report
from recordmill.storage.choose import choose_storage


def verify(  # noqa: PLR0913 (the options of one command)
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    payload: str | None = "auto",
    decode: bool = False,
    max_decompressed_bytes: int | None = None,
    max_record_bytes: int = DEFAULT_MAX_RECORD_BYTES,
    progress: ProgressOption = None,
    num_cpus: int = 1,
    memory: int | None = None,
    max_retries: int = 3,
) -> Report:
    """Verify all bytes of shards as `recordmill.verify` does, with the workers of a Ray cluster.

    Parameters
    ----------
    paths : path, pattern, folder, or iterable of them
        Shards. All nodes must find them under the same paths.
    format : str, optional
        Record format; detected from the content by default.
    compression : str or None
        Compression of the shards, as in `recordmill.verify`.
    payload : str or None
        Codec with which all payloads are parsed, as in `recordmill.verify`.
    decode : bool
        Also decode every image.
    max_decompressed_bytes : int, optional
        Maximum size of a compressed shard after decompression, in bytes.
    max_record_bytes : int
        Maximum length of a payload in bytes.
    progress : bool or callable, optional
        Whether to show progress on standard error. Counts records; the total is unknown.
    num_cpus : int
        CPUs for each task, which verifies one shard.
    memory : int, optional
        Bytes of memory that Ray reserves for each task; limits the tasks that run on a node at the same time.
    max_retries : int
        Maximum number of times that a shard is verified again after its worker or node has died.

    Returns
    -------
    Report
        Equal to the report of `recordmill.verify` for absolute paths.

    Raises
    ------
    FileNotFoundError
        If a path or pattern matches no file.
    WorkerError
        If a shard is not verified because its worker or node dies more than `max_retries` times.
    MissingExtraError
        If Ray is not installed.

    Examples
    --------
    >>> rm.ray.verify("/shared/train-*", decode=True).ok  # doctest: +SKIP
    True
    """
    import_ray()
    options = {
        "format": format,
        "compression": compression,
        "max_decompressed_bytes": max_decompressed_bytes,
        "max_record_bytes": max_record_bytes,
    }
    names = absolute_paths(paths)
    storage = choose_storage(names)
    verifier = ShardVerifier(storage, options, payload, decode)
    tasks = TaskOptions(num_cpus, memory, max_retries)
    selection = select_shards(names, storage)
    inputs = [
        (files, _restrict_selection(selection, files))
        for files in group_spanning_files(selection.files, options, storage)
    ]
    shown = Progress(None, progress)
    results: dict[int, ShardResult] = {}
    with closing(TaskRunner(_verify_shard, verifier, tasks).run(inputs)) as finished:
        for number, result in finished:
            if isinstance(result, TaskFailure):
                raise_failure(result)
            results[number], replaced = result
            if replaced:
                selection.replaced += replaced
                selection.complete = False
            shown.advance(results[number].report.num_records)
    shown.close()
    selection.replaced.sort(key=selection.files.index)
    return verifier.merge(selection, [results[number] for number in range(len(inputs))])


def _restrict_selection(selection: Selection, files: list[str]) -> Selection:
    """Return a new selection with only `files` and their manifest entries. Less data is then sent to a task."""
    names = {os.path.basename(path) for path in files}
    manifests = {
        path: replace(manifest, shards=[shard for shard in manifest.shards if shard.name in names])
        for path, manifest in selection.manifests.items()
        if os.path.dirname(path) == os.path.dirname(files[0])
    }
    return Selection(files, manifests=manifests)


def _verify_shard(verifier: ShardVerifier, shard: tuple[list[str], Selection]) -> tuple[ShardResult, list[str]]:
    """Verify a shard in a worker; return the result, and the shard path if the shard differs from the manifest."""
    files, selection = shard
    return verifier.verify(files, selection), selection.replaced

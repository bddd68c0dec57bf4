"""Choose the storage for paths: the local file system, or remote storage for addresses."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from recordmill.errors import UnsupportedPathError
from recordmill.storage.addresses import check_path, is_address, redact
from recordmill.storage.base import Storage
from recordmill.storage.local import LOCAL

StorageOptions = Mapping[str, Any] | None


def choose_storage(
    names: Sequence[str],
    options: StorageOptions = None,
    *,
    max_requests: int | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    cache_bytes: int | None = None,
    for_writing: bool = False,
) -> Storage:
    """Return the storage for paths, which must be all local or all addresses; `options` are settings for obstore."""
    remote = [name for name in names if is_address(name)]
    if not remote:
        return LOCAL
    if len(remote) < len(names):
        local = next(name for name in names if not is_address(name))
        raise UnsupportedPathError(
            f"{redact(remote[0])} is an address, but {local!r} is a local path",
            kind="remote_path",
            shard=redact(remote[0]),
            hint="use only addresses or only local paths; to combine datasets, open them separately and call mix()",
        )
    from recordmill.storage.block_cache import BlockCache
    from recordmill.storage.remote import RemoteStorage

    cache = None if cache_dir is None else BlockCache(_check_cache_folder(cache_dir), cache_bytes)
    limit = {} if max_requests is None else {"max_requests": max_requests}
    return RemoteStorage(options, cache=cache, keeps_listings=not for_writing, **limit)


def _check_cache_folder(path: str | os.PathLike[str]) -> str:
    """Return the path of a cache as str; raise an error if it is empty or an address."""
    name = check_path(path)
    if not name:
        raise ValueError("cache_dir must not be empty: it is the folder of the cache")
    if is_address(name):
        raise UnsupportedPathError(
            "a cache must be a local folder", kind="remote_path", shard=redact(name), hint="use cache_dir='cache'"
        )
    return name

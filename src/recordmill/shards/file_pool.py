"""A bounded pool of open shard files: when file descriptors run low, the least recently opened file is closed.

A closed file is reopened when it is needed, also in another process. A reopened file must be the one that was indexed.
"""

from __future__ import annotations

import errno
import os
import resource
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import ref

from recordmill.errors import FormatError, ShardChangedError
from recordmill.shards.index import ShardIndex
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import OpenShard, open_known_shard, open_shard
from recordmill.shards.sidecar import Probes, Sidecar, compute_probes
from recordmill.storage.base import Stat, Storage

# Identity of a shard: its size in bytes, and checksums of some of its blocks.
Identity = tuple[int, Probes]

# The pool keeps at most 1/_POOL_SHARE of the file descriptors open. The other descriptors are for the program and for
# reads in progress.
_POOL_SHARE = 2
# One read call opens at most 1/_CALL_SHARE of the descriptors, but it may always open _MIN_SHARDS_PER_CALL shards.
_CALL_SHARE = 16
_MIN_SHARDS_PER_CALL = 4
# The pool leaves this many descriptors free, so that the program can still open files, for example for an import.
_NUM_RESERVED = 8
# The soft limit of open file descriptors is raised to at most this number.
_MAX_DESCRIPTORS = 1 << 16

# Open files by object id, oldest first. Each change is one atomic operation. A lock is not used, because a fork could
# copy it to the child process while it is locked.
_OPEN_FILES: OrderedDict[int, ref[ShardFile]] = OrderedDict()


def identity_from_sidecar(sidecar: Sidecar) -> Identity:
    """Return the size and the block checksums that a shard must have when it is reopened."""
    return sidecar.num_stored_bytes, sidecar.probes


class ShardFile:
    """A shard that the pool may close, and that is reopened on the next access.

    Can be pickled, used after a fork and used by several threads.

    Parameters
    ----------
    paths : sequence of str
        One file, or several that form one stream of bytes.
    storage : Storage
    options : mapping
        Keyword arguments of `open_shard`.
    is_known : bool
        Whether `options` has the actual format and compression, so that the file is not opened before it is needed.
    """

    def __init__(
        self, paths: Sequence[str], storage: Storage, options: Mapping[str, Any], *, is_known: bool = False
    ) -> None:
        self.paths, self.storage = tuple(paths), storage
        # `store_identity` sets `identity` and `seek_points` when the index of the shard is loaded.
        self.identity: Identity | None = None
        # If True, the files are opened without a check for changes. The value is `is_known` during `__init__`. Later it
        # is True only for remote storage, because remote storage detects changes itself.
        self._is_known = is_known
        self.seek_points: bytes | None = None
        self._options = dict(options)
        self._directory = _get_working_directory()
        self._stats: list[Stat] | None = None
        self._open: OpenShard | None = None
        self._process = os.getpid()
        self._is_closed = False
        self.format: str
        self.compression: str | None
        if is_known:
            self.format, self.compression = self._options["format"], self._options["compression"]
        else:
            shard = self.shard
            self.format, self.compression = shard.format.name, shard.compression
            self._options |= {"format": self.format, "compression": self.compression}
        self._is_known = storage.is_remote

    @property
    def shard(self) -> OpenShard:
        """The open shard; accessing it reopens the files after an eviction, a fork or unpickling."""
        if self._is_closed:
            raise ValueError(f"the reader of {self.paths[0]!r} is closed")
        shard = self._open
        if shard is None or self._process != os.getpid():
            shard = self._open_or_evict()
            self._open, self._process = shard, os.getpid()
            _add_to_pool(self)
        return shard

    def store_identity(self, loaded: ShardIndex) -> None:
        """Store the seek points of the shard, and the size and checksums that it must have when it is reopened."""
        self.identity, self.seek_points = identity_from_sidecar(loaded.sidecar), loaded.sidecar.seek_points
        if loaded.condition in ("damaged", "truncated") and not self.storage.is_remote:
            stored = self.shard.source.num_stored_bytes or 0
            self.identity = stored, compute_probes(self.shard.source, stored)

    def _open_or_evict(self) -> OpenShard:
        """Open the files. If the descriptor limit is reached, raise the limit, or close other shards and try again."""
        while True:
            try:
                return self._open_and_check_unchanged()
            except OSError as error:
                if error.errno != errno.EMFILE:
                    raise
                if not raise_descriptor_limit() and not _close_oldest_file():
                    message = (
                        f"too many open files: `ulimit -n` is {descriptor_limit()}; raise it, or use smaller batches"
                    )
                    raise OSError(errno.EMFILE, message, self.paths[0]) from None

    def _open_and_check_unchanged(self) -> OpenShard:
        """Open the files; raise ShardChangedError if they changed after they were indexed or first opened."""
        if self._is_known:
            shard = open_known_shard(self.paths, **self._options, storage=self.storage)
            if self.seek_points is not None:
                shard.source.restore_seek_points(self.seek_points)
            return shard
        paths = self._resolve_paths()
        try:
            shard = open_shard(paths, **self._options, storage=self.storage)
        except (FileNotFoundError, FormatError) as error:
            if self.identity is None:
                raise
            is_missing = isinstance(error, FileNotFoundError)
            raise _shard_changed_error(paths[0], "removed" if is_missing else "replaced") from None
        if self.identity is not None:
            with native_errors(shard.name):
                stored = shard.source.num_stored_bytes or 0
                if (stored, compute_probes(shard.source, stored)) != self.identity:
                    raise _shard_changed_error(shard.name, "replaced")
        # File ids and times are compared only within one process. After unpickling, another machine may read a copy of
        # the shard, and the copy has different ids and times.
        stats = [self.storage.stat(path) for path in paths]
        if self._stats is not None and self._process == os.getpid() and stats != self._stats:
            raise _shard_changed_error(paths[0], "replaced")
        self._stats = stats
        if self.seek_points is not None:
            shard.source.restore_seek_points(self.seek_points)
        return shard

    def _resolve_paths(self) -> tuple[str, ...]:
        """Return the paths to open. If the working directory has changed, try the original directory first."""
        is_moved = self._directory not in ("", _get_working_directory())
        if is_moved and not all(map(os.path.isabs, self.paths)):
            original = tuple(os.path.join(self._directory, path) for path in self.paths)
            if all(map(self.storage.exists, original)):
                return original
        return self.paths

    def evict(self) -> None:
        """Close the file until it is needed again."""
        self._open = None

    def close(self) -> None:
        """Close the file permanently."""
        self._open, self._is_closed = None, True

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for pickling, without data that is valid only in this process."""
        return self.__dict__ | {"_open": None, "_stats": None, "seek_points": None}


def _get_working_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # The working directory was removed.
        return ""


def _shard_changed_error(name: str, change: str) -> ShardChangedError:
    hint = "open the dataset again in all processes"
    return ShardChangedError(f"the shard was {change} after it was first opened", kind="changed", shard=name, hint=hint)


def _add_to_pool(file: ShardFile) -> None:
    """Add an opened file to the pool; close the files that were opened first if too many are open."""
    key, remove = id(file), _OPEN_FILES.pop  # At exit, `_OPEN_FILES` may be gone.
    remove(key, None)
    _OPEN_FILES[key] = ref(file, lambda _: remove(key, None))
    while len(_OPEN_FILES) > descriptor_limit() // _POOL_SHARE or (len(_OPEN_FILES) > 1 and is_near_descriptor_limit()):
        if not raise_descriptor_limit() and not _close_oldest_file():
            break


def _close_oldest_file() -> bool:
    try:
        oldest = _OPEN_FILES.popitem(last=False)[1]()
    except KeyError:
        return False
    if oldest is not None:
        oldest.evict()
    return True


def descriptor_limit() -> int:
    """Return the maximum number of files that this process may have open (the soft limit)."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MAX_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


def is_near_descriptor_limit() -> bool:
    """Return True if the process is close to its limit of open file descriptors."""
    # The system assigns the lowest free number to a new descriptor. If this number is close to the limit, almost all
    # descriptors are in use.
    try:
        lowest = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        return error.errno == errno.EMFILE
    os.close(lowest)
    return lowest >= descriptor_limit() - _NUM_RESERVED


def can_read_in_one_call(count: int) -> bool:
    """Return True if one read call may open `count` shards; raise the soft limit of descriptors if necessary."""
    while count > _MIN_SHARDS_PER_CALL and count > descriptor_limit() // _CALL_SHARE:
        if not raise_descriptor_limit():
            return False
    return True


def raise_descriptor_limit() -> bool:
    """Double the soft limit of descriptors, up to the hard limit; return False if that is not possible."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = _MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MAX_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= highest:
        return False
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(2 * soft, highest), hard))
    except (OSError, ValueError):
        return False
    return True

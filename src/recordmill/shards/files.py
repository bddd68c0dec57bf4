"""Whether a shard that is opened again, by another process or later, is still the one that it was."""

from __future__ import annotations

import errno
import os
import resource
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar
from weakref import ref

from recordmill.errors import FormatError, ShardChangedError
from recordmill.shards import sidecar as sidecars
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import OpenShard, open_shard
from recordmill.shards.sidecar import Sidecar

# Bytes of the file, and checksums of some of its blocks: (offset, CRC-32C).
Identity = tuple[int, tuple[tuple[int, int], ...]]

# Device, number, bytes and time of change of each file.
Marks = tuple[tuple[int, int, int, int], ...]


def identity_of(sidecar: Sidecar) -> Identity:
    """What tells a shard from another."""
    return sidecar.num_stored_bytes, tuple((offset, crc) for offset, crc in sidecar.probes)


def located(paths: Sequence[str], folder: str) -> tuple[str, ...]:
    """Paths as they are reached now; relative ones count from the folder where they were named first."""
    if all(map(os.path.isabs, paths)) or folder in ("", working_folder()):
        return tuple(paths)
    there = tuple(os.path.join(folder, path) for path in paths)
    return there if all(map(os.path.exists, there)) else tuple(paths)


def working_folder() -> str:
    """Return the working directory; empty if somebody removed it."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def marks_of(paths: Sequence[str], before: Marks | None) -> Marks:
    """What the file system says of files, for opening them again in the same process."""
    found = [os.stat(path) for path in paths]
    marks = tuple((one.st_dev, one.st_ino, one.st_size, one.st_mtime_ns) for one in found)
    if before is not None and marks != before:
        raise _changed(paths[0], "is another one than before")
    return marks


def open_known(paths: Sequence[str], options: Mapping[str, Any], known: Identity | None) -> OpenShard:
    """Open a shard that may be known from an earlier time."""
    if known is None:
        return open_shard(paths, **options)
    try:
        shard = open_shard(paths, **options)
    except FileNotFoundError:
        raise _changed(paths[0], "is not there any more") from None
    except FormatError:
        raise _changed(paths[0], "is another one than before") from None
    with native_errors(shard.name):
        found = shard.source.num_stored_bytes or 0
        if (found, tuple(sidecars.make_probes(shard.source, found))) != known:
            raise _changed(shard.name, "is another one than before")
    return shard


def _changed(name: str, what: str) -> ShardChangedError:
    hint = "open the data set again, in all processes"
    return ShardChangedError(f"the shard {what}", kind="changed", shard=name, hint=hint)


# Half of the descriptors are left to the rest of the process and to shards that are being read, by several threads.
_PART = 2
_PART_AT_ONCE = 16
# So many are left to the rest of the process also where it has most of the others itself: to import a module, say.
_SPARE = 8
# So many shards may always be read by one call.
_FREE = 4
# So many descriptors are asked of the system at most: shards beyond half of them are opened again when needed.
_MOST = 1 << 16

Opened = TypeVar("Opened")


class Holder(Protocol):
    """Something that can open its files again."""

    def let_go(self) -> None:
        """Close the files until they are needed."""


# By identity, the oldest first. Each change is whole by itself, so no lock is there that a fork could leave locked.
_HOLDERS: OrderedDict[int, ref[Holder]] = OrderedDict()


def hold(holder: Holder) -> None:
    """Note that a shard was opened; where there are too many, one that was opened longest ago is let go."""
    key, forget = id(holder), _HOLDERS.pop  # the name of the table may be gone when the process ends
    forget(key, None)
    _HOLDERS[key] = ref(holder, lambda _: forget(key, None))
    while len(_HOLDERS) > limit() // _PART and (raise_limit() or _let_oldest_go()):
        pass
    while len(_HOLDERS) > 1 and is_short() and (raise_limit() or _let_oldest_go()):
        pass


def opened(open_files: Callable[[], Opened], name: str) -> Opened:
    """Open files; where descriptors do not suffice, those of other shards are let go."""
    while True:
        try:
            return open_files()
        except OSError as error:
            if error.errno != errno.EMFILE:
                raise
            if not raise_limit() and not _let_oldest_go():
                told = f"too many open files: `ulimit -n` allows {limit()}; raise it, or take smaller batches"
                raise OSError(errno.EMFILE, told, name) from None


def limit() -> int:
    """How many files this process may have open."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MOST if soft == resource.RLIM_INFINITY else soft


def is_short() -> bool:
    """Whether few descriptors are left, whoever has the others."""
    # A new one gets the lowest number that is free.
    try:
        lowest = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        return error.errno == errno.EMFILE
    os.close(lowest)
    return lowest >= limit() - _SPARE


def enough(count: int) -> bool:
    """Whether one call may read from so many shards; the soft limit is raised for that, too."""
    while count > _FREE and count > limit() // _PART_AT_ONCE:
        if not raise_limit():
            return False
    return True


def raise_limit() -> bool:
    """Raise the soft limit of descriptors to double, within the hard one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return False
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(2 * soft, most), hard))
    except (OSError, ValueError):
        return False
    return True


def _let_oldest_go() -> bool:
    try:
        oldest = _HOLDERS.popitem(last=False)[1]()
    except KeyError:
        return False
    if oldest is not None:
        oldest.let_go()
    return True


class Handle:
    """A shard that is open while it is needed.

    Safe to pickle, to use after fork, and to use in several threads.

    Parameters
    ----------
    paths : sequence of str
        One file, or several that make one stream of bytes.
    options : mapping
        Of `open_shard`.
    """

    def __init__(self, paths: Sequence[str], options: Mapping[str, Any]) -> None:
        self.paths = tuple(paths)
        self.known: Identity | None = None
        self.seek_points: bytes | None = None
        self._options = dict(options)
        self._folder = working_folder()
        self._marks: Marks | None = None
        self._open: OpenShard | None = None
        self._process = os.getpid()
        self._closed = False
        shard = self.shard
        self._options |= {"format": shard.format.name, "compression": shard.compression}

    @property
    def format(self) -> str:
        """Name of the format."""
        return str(self._options["format"])

    @property
    def shard(self) -> OpenShard:
        """The open shard."""
        if self._closed:
            raise ValueError(f"the reader of {self.paths[0]!r} is closed")
        shard = self._open
        if shard is None or self._process != os.getpid():
            shard = opened(self._opened, self.paths[0])
            self._open, self._process = shard, os.getpid()
            hold(self)
        return shard

    def _opened(self) -> OpenShard:
        paths = located(self.paths, self._folder)
        shard = open_known(paths, self._options, self.known)
        self._marks = marks_of(paths, self._marks if self._process == os.getpid() else None)
        if self.seek_points is not None:
            shard.source.restore_seek_points(self.seek_points)
        return shard

    def let_go(self) -> None:
        """Close the file until it is needed again."""
        self._open = None

    def close(self) -> None:
        """Close the file for good."""
        self._open, self._closed = None, True

    def __getstate__(self) -> dict[str, Any]:
        """State without what belongs to this process."""
        return self.__dict__ | {"_open": None, "_marks": None, "seek_points": None}

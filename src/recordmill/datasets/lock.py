"""The lock of a destination: a hidden file that exists while a process writes there.

The file is created with its whole content in one step that fails if the file exists. Unlike `flock`, this works on all
file systems. A writer takes over the lock of a dead process on this machine. It cannot know whether a process on
another machine or in another container is alive, so such a lock stays until the user breaks it with
``break_lock=True``.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass

from recordmill.errors import DestinationLockedError, WriteError
from recordmill.storage.base import Storage

# Tokens of the locks that this process holds. A lock file with this process id but another token is stale.
_held: set[str] = set()


@dataclass(frozen=True, slots=True)
class LockOwner:
    """The process that holds a lock.

    Parameters
    ----------
    host : str
        Name of the machine.
    pid : int
        Process id.
    started : str
        Time at which the lock was taken, in UTC.
    process_start : str or None
        Boot id and start time of the process, which distinguish it from a later process with the same id; None if
        unknown.
    namespace : str or None
        Process id namespace, which differs between containers; None if unknown.
    token : str
        Random text that distinguishes the locks of one process.
    """

    host: str
    pid: int
    started: str
    process_start: str | None
    namespace: str | None
    token: str

    def __str__(self) -> str:
        """Return the process id, the machine and the time of the lock, as text for error messages."""
        return f"process {self.pid} on {self.host}, since {self.started}"


class WriterLock:
    """Lock of a destination. Creating the object takes the lock.

    Parameters
    ----------
    storage : Storage
    path : str
        Path of the lock file.
    break_lock : bool
        Whether to take over the lock even if its owner may be alive.

    Raises
    ------
    DestinationLockedError
        If another process, or another writer of this process, holds the lock.
    """

    def __init__(self, storage: Storage, path: str, *, break_lock: bool = False) -> None:
        self._storage, self._path = storage, path
        self._owner = _describe_this_process()
        content = json.dumps(asdict(self._owner)).encode()
        _held.add(self._owner.token)
        try:
            while not self._create_file(content):
                self._remove_stale_lock(break_lock=break_lock)
        except BaseException:
            self.release()
            raise

    def _create_file(self, content: bytes) -> bool:
        """Create the lock file; return False if it exists."""
        try:
            self._storage.create_exclusively(self._path, content)
        except FileExistsError:
            return False
        return True

    def _remove_stale_lock(self, *, break_lock: bool) -> None:
        """Remove a lock whose owner is dead; raise DestinationLockedError if the owner may be alive."""
        owner = read_lock_owner(self._storage, self._path)
        if owner is not None and not break_lock and is_possibly_alive(owner):
            raise locked_error(self._path, owner)
        if owner is None and not break_lock and self._storage.exists(self._path):
            raise locked_error(self._path, None)
        # If several processes find the same stale lock file, only one of them can rename the file. If the renamed file
        # turns out to be the new lock of another process, the rename is undone.
        removed = f"{self._path}.tmp-{os.urandom(6).hex()}"
        try:
            self._storage.rename(self._path, removed, overwrite=True)
        except WriteError:
            if self._storage.exists(self._path):
                raise
            return  # Another process has already removed the stale lock.
        if read_lock_owner(self._storage, removed) == owner:
            self._storage.remove(removed)
        else:
            with contextlib.suppress(WriteError):  # A third process may have taken the lock meanwhile.
                self._storage.rename(removed, self._path, overwrite=False)

    def check(self) -> None:
        """Raise WriteError if another process has broken this lock."""
        if read_lock_owner(self._storage, self._path) != self._owner:
            raise WriteError(
                "another process has taken over the lock of this destination, so nothing was written",
                kind="lock_lost",
                shard=self._path,
                hint="write the dataset again after the other process has finished",
            )

    def leave(self) -> str:
        """Keep the lock file after this process has stopped writing; return the token of the lock.

        Other processes respect the lock as long as this process may be alive. This process itself may take it over.
        """
        _held.discard(self._owner.token)
        return self._owner.token

    def release(self) -> None:
        """Remove the lock file, unless another process has taken over the lock."""
        _held.discard(self._owner.token)
        with contextlib.suppress(OSError):
            if read_lock_owner(self._storage, self._path) == self._owner:
                self._storage.remove(self._path)


def read_lock_owner(storage: Storage, path: str) -> LockOwner | None:
    """Return the owner of a lock file; None if there is no such file, or its content is not a lock."""
    try:
        content = json.loads(storage.read(path))
        return LockOwner(**content)
    except (FileNotFoundError, ValueError, TypeError):
        return None


def locked_error(path: str, owner: LockOwner | None) -> DestinationLockedError:
    """Create the error for a destination that is locked."""
    return DestinationLockedError(
        f"a writer has locked this destination: {'an unknown process' if owner is None else owner}",
        kind="locked",
        shard=path,
        host=None if owner is None else owner.host,
        pid=None if owner is None else owner.pid,
        started=None if owner is None else owner.started,
        hint="wait until the writer has finished; if it no longer runs, use break_lock=True",
    )


def is_possibly_alive(owner: LockOwner) -> bool:
    """Return False if the owner of a lock is known to be dead."""
    here = _describe_this_process()
    if (owner.host, owner.namespace) != (here.host, here.namespace):
        return True
    if owner.pid == here.pid:
        return owner.token in _held
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    start = _read_process_start(owner.pid)
    return start is None or start == owner.process_start


def _describe_this_process() -> LockOwner:
    import platform

    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = None
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    pid = os.getpid()
    return LockOwner(platform.node(), pid, started, _read_process_start(pid), namespace, os.urandom(8).hex())


def _read_process_start(pid: int) -> str | None:
    """Return a string that identifies the start of a process: the boot id, and the time from boot to start.

    Return "dead" for a zombie process, and None if the start is unknown.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot_id = file.read().strip()
        return "dead" if fields[0] in (b"Z", b"X") else f"{boot_id}:{int(fields[19])}"
    except (OSError, ValueError, IndexError):
        return None

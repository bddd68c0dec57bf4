"""A remote folder as the destination of an export. All objects are uploaded before they get their final names."""

from __future__ import annotations

import contextlib
import errno
import posixpath
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, wait

from recordmill.concurrency.daemon_pool import DaemonPool
from recordmill.conversion.export.named_files import LABEL_LINES, LABEL_LIST
from recordmill.conversion.export.output import (
    FolderFile,
    create_same_file_error,
    folder_exists_error,
    warn_about_remaining,
)
from recordmill.errors import WriteError
from recordmill.shards.class_names import LABELS_FILE
from recordmill.storage.addresses import normalize_address, redact, split_address
from recordmill.storage.local import temporary_path
from recordmill.storage.object_store import DEFAULT_MAX_REQUESTS
from recordmill.storage.remote import RemoteStorage
from recordmill.storage.remote_output import MAX_DISCARD_S, RemoteOutputFile, convert_remote_errors

# Maximum number of requests that were started and not yet awaited, and approximate maximum size of their files.
_MAX_PENDING, _MAX_PENDING_BYTES = 64, 64 << 20
# Larger files are uploaded in parts, one after the other.
_MAX_PUT_BYTES = 16 << 20
_LABEL_FILES = (LABELS_FILE, LABEL_LINES, LABEL_LIST)


class RemoteFolder:
    """A folder of an object store. Its files are uploaded to a hidden folder beside it, and then renamed.

    Parameters
    ----------
    storage : RemoteStorage
    path : str
        Address of the folder; it must contain no objects, unless `overwrite` is set.
    overwrite : bool
        Remove the objects of an existing folder.
    sources : sequence of str
        Files that are read. The folder must not contain them.
    """

    def __init__(self, storage: RemoteStorage, path: str, *, overwrite: bool, sources: Sequence[str]) -> None:
        self._storage, self.path, self._overwrite = storage, path.rstrip("/"), overwrite
        inside = f"{normalize_address(path)}/"
        if any(normalize_address(source).startswith(inside) for source in sources):
            raise create_same_file_error(path)
        root, key = split_address(self.path)
        folder, name = posixpath.split(key)
        # The root of a bucket has no folder beside it, so the hidden folder is inside.
        self._temporary = temporary_path(posixpath.join(root, folder), name or "export")
        self._check_existing()
        self._pool = DaemonPool(DEFAULT_MAX_REQUESTS, "recordmill-export")
        self._pending: deque[tuple[Future[None], int]] = deque()
        self._pending_bytes = 0
        self._names: list[str] = []
        # Temporary objects that could not be removed.
        self._remaining: list[str] = []
        # Whether objects of this export have final names, in a folder that was empty before.
        self._has_filled_empty_folder = False
        self.num_files = self.num_bytes = 0

    def _check_existing(self) -> bool:
        """Return True if the folder contains no objects. Raise OutputExistsError if it must not be replaced."""
        with convert_remote_errors(self.path, "cannot list the destination"):
            names = set(self._storage.list_names(self.path)) - {posixpath.basename(self._temporary)}
            if not names and not self._storage.can_list(self.path):
                message = "cannot list the destination: access is denied"
                raise WriteError(message, kind="access_denied", errno=errno.EACCES, shard=redact(self.path))
        if names and not self._overwrite:
            raise folder_exists_error(self.path)
        return not names

    def write_file(self, name: str, data: bytes) -> None:
        """Start to upload a file."""
        if len(data) > _MAX_PUT_BYTES:
            FolderFile(self, name).write_all(data)
            return
        self._names.append(name)
        self.num_files, self.num_bytes = self.num_files + 1, self.num_bytes + len(data)
        self._submit(self._upload, name, data, num_bytes=len(data))

    def create_file(self, name: str) -> RemoteOutputFile:
        """Create a file that is uploaded in parts."""
        self._names.append(name)
        self.num_files += 1
        path, temporary = f"{self.path}/{name}", f"{self._temporary}/{name}"
        return RemoteOutputFile(self._storage, path, overwrite=True, temporary=temporary)

    def _upload(self, name: str, data: bytes) -> None:
        with convert_remote_errors(f"{self.path}/{name}", "cannot write"):
            self._storage.write(f"{self._temporary}/{name}", data)

    def _rename(self, name: str) -> None:
        self._storage.rename(f"{self._temporary}/{name}", f"{self.path}/{name}", overwrite=True)

    def _submit(self, function: Callable[..., None], *arguments: object, num_bytes: int = 0) -> None:
        """Call a function in a thread. Raise the error of an earlier call that has failed."""
        self._pending.append((self._pool.submit(function, *arguments), num_bytes))
        self._pending_bytes += num_bytes
        while len(self._pending) >= _MAX_PENDING or self._pending_bytes > _MAX_PENDING_BYTES:
            self._wait_for_oldest()

    def _wait_for_oldest(self) -> None:
        # After Ctrl-C, the call is still pending, and `discard` waits for it.
        future, num_bytes = self._pending[0]
        future.result()
        self._pending.popleft()
        self._pending_bytes -= num_bytes

    def _run_all(self, function: Callable[[str], None], arguments: Iterable[str]) -> None:
        """Call a function for each argument, and wait for all calls."""
        for argument in arguments:
            self._submit(function, argument)
        self._wait_for_all()

    def _wait_for_all(self) -> None:
        while self._pending:
            self._wait_for_oldest()

    def commit(self) -> None:
        """Give all objects their final names, those of the lists of labels last. Then remove all older objects."""
        self._wait_for_all()
        was_empty = self._check_existing()
        self._has_filled_empty_folder = was_empty
        self._run_all(self._rename, (name for name in self._names if name not in _LABEL_FILES))
        self._run_all(self._rename, (name for name in self._names if name in _LABEL_FILES))
        if not was_empty:
            with convert_remote_errors(self.path, "cannot list the destination"):
                old = set(self._storage.list_recursively(self.path)).difference(self._names)
            self._run_all(self._storage.remove, (f"{self.path}/{name}" for name in old))
        self._has_filled_empty_folder = False
        self._remove_temporary()
        if self._remaining:
            warn_about_remaining(self._temporary)

    def discard(self) -> None:
        """Wait a short time for running requests, and remove everything that was written; never raises."""
        wait([future for future, _ in self._pending if not future.cancel()], MAX_DISCARD_S)
        self._pending.clear()
        self._pending_bytes = 0
        if self._has_filled_empty_folder:
            with contextlib.suppress(Exception):
                found = set(self._storage.list_recursively(self.path)).intersection(self._names)
                self._run_all(self._try_remove, (f"{self.path}/{name}" for name in found))
        self._remove_temporary()

    def _remove_temporary(self) -> None:
        with contextlib.suppress(Exception):
            names = self._storage.list_recursively(self._temporary)
            self._run_all(self._try_remove, (f"{self._temporary}/{name}" for name in names))

    def _try_remove(self, path: str) -> None:
        try:
            self._storage.remove(path)
        except WriteError:
            self._remaining.append(path)

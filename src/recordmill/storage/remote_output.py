"""Write an object under a temporary name by multipart upload, and raise a WriteError if the upload fails."""

from __future__ import annotations

import contextlib
import posixpath
import queue
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Protocol

from recordmill.concurrency.daemon_pool import DaemonPool
from recordmill.errors import RemoteError, WriteError
from recordmill.storage.addresses import redact
from recordmill.storage.local import temporary_path

# Size of one part of a multipart upload. S3 allows at most 10,000 parts, which limits an object to about 80 GB.
_PART_BYTES = 8 << 20
# Maximum time, in seconds, for which `discard` waits for a running request. Otherwise a server that does not respond
# would delay the end of the process after Ctrl-C.
MAX_DISCARD_S = 3
_ERRNO = {"access_denied": 13, "no_credentials": 13, "expired_credentials": 13}


class UploadStorage(Protocol):
    """Methods of `RemoteStorage` that an upload needs."""

    def upload(self, path: str, chunks: Iterator[bytes | memoryview], part_bytes: int) -> Future[None]:
        """Start a thread that uploads the chunks as one object."""
        ...

    def write(self, path: str, data: bytes) -> None:
        """Write a small object."""
        ...

    def rename(self, old: str, new: str, *, overwrite: bool) -> None:
        """Give an object another name."""
        ...

    def remove(self, path: str) -> None:
        """Remove an object."""
        ...


class RemoteOutputFile:
    """An object that is being uploaded under a temporary name. The object exists after `finish`.

    Parameters
    ----------
    storage : RemoteStorage
    path : str
        Final address.
    overwrite : bool
        Replace an existing object of that name on commit.
    temporary : str, optional
        Temporary address; by default a new hidden name in the same folder.
    """

    def __init__(self, storage: UploadStorage, path: str, *, overwrite: bool, temporary: str | None = None) -> None:
        self.path, self._storage, self._overwrite = path, storage, overwrite
        self.temporary = temporary or temporary_path(*posixpath.split(path))
        self._buffer = bytearray()
        # The upload takes its parts from this queue. The value None ends the upload, and an exception aborts it.
        self._parts: queue.Queue[bytes | Exception | None] = queue.Queue(1)
        self._upload: Future[None] | None = None
        self._is_open = True

    def write(self, data: memoryview | bytes) -> None:
        """Append bytes."""
        if not self._is_open:
            raise ValueError(f"the output file {self.path!r} is closed")
        # `+=` appends a memoryview. With a NumPy array, `+=` would add numbers instead of appending bytes.
        self._buffer += memoryview(data).cast("B")
        while len(self._buffer) >= _PART_BYTES:
            part, self._buffer = bytes(self._buffer[:_PART_BYTES]), self._buffer[_PART_BYTES:]
            self._queue_part(part)

    def _queue_part(self, part: bytes | Exception | None) -> None:
        if self._upload is None:
            self._upload = self._storage.upload(self.temporary, iter(self._take_part, None), _PART_BYTES)
        while True:
            try:
                return self._parts.put(part, timeout=0.1)
            except queue.Full:
                if self._upload.done():  # The upload has failed.
                    return self._wait_for_upload()

    def _take_part(self) -> bytes | None:
        part = self._parts.get()
        if isinstance(part, Exception):
            raise part
        return part

    def _wait_for_upload(self) -> None:
        with convert_remote_errors(self.path, "cannot write"):
            if self._upload is not None:
                self._upload.result()

    def finish(self) -> None:
        """Send the remaining bytes, and wait until the store has all of them."""
        if self._is_open:
            self._is_open = False
            data, self._buffer = bytes(self._buffer), bytearray()
            if self._upload is None:  # The request runs in a thread, so that `discard` can wait for it after Ctrl-C.
                pool = DaemonPool(1, "recordmill-upload")
                self._upload = pool.submit(self._storage.write, self.temporary, data)
            else:
                if data:
                    self._queue_part(data)
                self._queue_part(None)
            self._wait_for_upload()

    def commit(self) -> None:
        """Give the object its final name."""
        self._storage.rename(self.temporary, self.path, overwrite=self._overwrite)

    def discard(self) -> None:
        """Abort an unfinished upload, or remove the temporary object of a finished upload."""
        self._is_open = False
        with contextlib.suppress(Exception):
            if self._upload is None:
                # If Ctrl-C has interrupted the start of an upload, its thread takes this exception and aborts.
                self._parts.put_nowait(_DiscardedError())
                return
            is_running = not self._upload.done()
            if is_running:
                with contextlib.suppress(queue.Empty):
                    self._parts.get_nowait()
                self._parts.put_nowait(_DiscardedError())
            if self._upload.exception(MAX_DISCARD_S) is None or not is_running:
                self._storage.remove(self.temporary)


class _DiscardedError(Exception):
    """Raised in the upload thread if the file is discarded."""


@contextlib.contextmanager
def convert_remote_errors(path: str, action: str) -> Iterator[None]:
    """Convert a RemoteError that is raised in the `with` block to a WriteError."""
    try:
        yield
    except RemoteError as error:
        raise WriteError(
            f"{action}: {error.message}",
            kind=error.kind,
            errno=_ERRNO.get(error.kind or ""),
            shard=redact(path),
            hint=error.hint,
        ) from None

"""Read one remote file, and prefetch the following bytes if the reads are sequential."""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import Future
from threading import Lock
from typing import Protocol

_CHUNK_BYTES = 4 << 20
# Maximum number of chunks that are prefetched. The cache of a `RemoteFile` holds at most _MAX_CHUNKS_AHEAD + 2 chunks.
_MAX_CHUNKS_AHEAD = 12
# A read is sequential if it begins at most this many bytes after the end of the previous read.
_MAX_SKIP_BYTES = 4 << 20
# A score decides when prefetching starts. A sequential read adds 5 points if the gap to the previous read is at most
# _CLOSE_BYTES, and 1 point if the gap is larger. Any other read resets the score to 0. From 13 points on, the file is
# read in chunks, and the next chunks are prefetched. Opening a shard reads 8 blocks. With large gaps between them, the
# blocks score at most 5 + 7 * 1 = 12 points, so opening the shard does not start prefetching.
_CLOSE_BYTES = 128 << 10
_POINTS_IF_CLOSE, _POINTS_OF_STREAM = 5, 13


class RangeSource(Protocol):
    """Interface of a storage that returns ranges of files."""

    def read_range(self, path: str, start: int, stop: int) -> memoryview:
        """Return a range of a file."""
        ...

    def request(self, path: str, start: int, stop: int) -> Future[memoryview]:
        """Request a range of a file, without waiting for it."""
        ...


class RemoteFile:
    """A remote file of known size, for `_core.Source.from_reader`. Several threads may read it.

    Parameters
    ----------
    storage : RangeSource
    path : str
    num_bytes : int
    """

    def __init__(self, storage: RangeSource, path: str, num_bytes: int) -> None:
        self._storage, self._path, self.num_bytes = storage, path, num_bytes
        self._lock = Lock()
        self._chunks: OrderedDict[int, Future[memoryview]] = OrderedDict()
        self._end = self._points = 0
        self._num_ahead = 1

    def read(self, offset: int, length: int) -> memoryview:
        """Return up to `length` bytes at `offset`."""
        stop = min(offset + length, self.num_bytes)
        with self._lock:
            is_next = self._end - _CHUNK_BYTES * len(self._chunks) <= offset <= self._end + _MAX_SKIP_BYTES
            points = _POINTS_IF_CLOSE if offset <= self._end + _CLOSE_BYTES else 1
            self._points = self._points + points if is_next else 0
            self._end = max(self._end, stop) if is_next else stop
            is_stream = self._points >= _POINTS_OF_STREAM
            chunk = self._find_chunk(offset // _CHUNK_BYTES) if is_stream else None
        if chunk is None:
            return self._storage.read_range(self._path, offset, stop)
        start = offset // _CHUNK_BYTES * _CHUNK_BYTES
        try:
            # A read stops at the end of the chunk. `_core.Source` calls `read` again for the remaining bytes.
            return chunk.result()[offset - start : stop - start]
        except Exception:
            with self._lock:
                self._chunks.clear()  # Otherwise, later reads would raise the same error.
            raise

    def _find_chunk(self, number: int) -> Future[memoryview]:
        """Return the future of chunk `number`, and request the chunks that follow this chunk."""
        if number not in self._chunks:
            self._num_ahead = min(2 * self._num_ahead, _MAX_CHUNKS_AHEAD)
        last = min(number + self._num_ahead, -(-self.num_bytes // _CHUNK_BYTES))
        for ahead in range(number, max(last, number + 1)):
            if ahead not in self._chunks:
                start = ahead * _CHUNK_BYTES
                stop = min(start + _CHUNK_BYTES, self.num_bytes)
                self._chunks[ahead] = self._storage.request(self._path, start, stop)
        chunk = self._chunks[number]
        self._chunks.move_to_end(number)
        while len(self._chunks) > _MAX_CHUNKS_AHEAD + 2:
            self._chunks.popitem(last=False)
        return chunk

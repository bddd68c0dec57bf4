"""A cache of remote files on a local disk. When the cache is full, it keeps the stored blocks and adds no others.

If the cache has room for a fraction f of the dataset, a shuffled epoch finds the fraction f of its blocks in the cache.
Evicting the least recently used blocks would reduce this to about f squared, because most other blocks are read before
a block is needed again.

Each block of 1 MiB is stored in a separate file, whose header has a checksum of every 64 KiB. A file gets its final
name when it is complete. Processes may therefore share a cache, and may be killed at any time.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import struct
import time
import warnings
import weakref
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Self

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.storage.object_store import ObjectInfo
from recordmill.storage.ranges import MAX_REQUEST_BYTES

BLOCK_BYTES = 1 << 20
_PIECE_BYTES = 64 << 10
_PIECES_PER_BLOCK = BLOCK_BYTES // _PIECE_BYTES
_MAGIC = b"RMBLOCK1"
# Header of a block file: magic bytes, number of data bytes, 16 checksums of 64 KiB of data each (0 after the end of the
# data), and a checksum of the preceding fields, the folder name and the file name.
_HEADER = struct.Struct(f"<8sQ{_PIECES_PER_BLOCK}II")
_FOLDER_NAME = re.compile(r"[0-9a-f]{32}-[0-9a-f]{16}")
_BLOCK_NAME = re.compile(r"\d+\.block(?P<temporary>\.tmp-[0-9a-f]+)?")
# Maximum number of files that stay open. `shuffle` reads from 16 ranges of 7 MiB at the same time, and the cache stores
# each of these ranges in up to 8 files.
_MAX_OPEN_FILES = 160
# Number of consecutive blocks that one lock protects.
_LOCKED_BLOCKS = 8
# Largest number of bytes that the file ``total`` can contain.
_MAX_COUNT = 2**64 - 1
# Temporary files of killed writers are removed after this time.
_LEFTOVER_S = 3600

Download = Callable[[int, int], memoryview]
# A file of the cache, an offset in this file, and a number of bytes.
FilePart = tuple[_core.LocalFile, int, int]


class BlockCache:
    """Blocks of remote files in a local folder. Several threads and processes may use a folder at the same time.

    Parameters
    ----------
    folder : str
        Created if it does not exist. Only files that a cache has created are removed from the folder.
    max_bytes : int, optional
        Maximum total size of all blocks; by default, only the disk is the limit.
    """

    def __init__(self, folder: str, max_bytes: int | None = None) -> None:
        self.folder, self.max_bytes = os.path.abspath(folder), max_bytes
        self._is_writable = True
        self._folders: dict[tuple[str, ObjectInfo], str] = {}
        self._lock, self._process = Lock(), os.getpid()
        self._locks: dict[tuple[str, int], Lock] = {}
        self._verified: dict[str, _VerifiedPieces] = {}  # For the folder of each remote file.
        self._open_files: OrderedDict[str, _core.LocalFile] = OrderedDict()
        self._join_users()

    def _join_users(self) -> None:
        """Lock the file ``users`` as long as this object exists. The only user of a folder counts the stored bytes.

        The count does not include blocks for which another user has reserved space but which it has not yet written.
        """
        try:
            os.makedirs(self.folder, exist_ok=True)
            users = os.open(os.path.join(self.folder, "users"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            weakref.finalize(self, os.close, users)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with self._lock_byte_count() as byte_count:
                    byte_count.write(self._count_bytes())
            fcntl.flock(users, fcntl.LOCK_SH)
        except OSError as error:
            self._stop_writing(error)

    def read(self, name: str, info: ObjectInfo, start: int, stop: int, download: Download) -> tuple[memoryview, int]:
        """Return a range of a file, and the number of bytes that were in the cache; download the missing bytes."""
        folder = self._find_folder(name, info)
        if folder not in self._verified:
            self._verified.setdefault(folder, _VerifiedPieces(folder, info.num_bytes))
        numbers = range(start // BLOCK_BYTES, -(-stop // BLOCK_BYTES))
        parts = [self._read_block(folder, number, *_find_overlap(number, start, stop)) for number in numbers]
        num_cached = sum(len(part) for part in parts if part is not None)
        if num_cached < stop - start:
            # Only one thread downloads a block.
            with contextlib.ExitStack() as locks:
                for group in range(numbers[0] // _LOCKED_BLOCKS, numbers[-1] // _LOCKED_BLOCKS + 1):
                    locks.enter_context(self._find_lock(folder, group))
                for row, number in enumerate(numbers):
                    if parts[row] is None:
                        parts[row] = self._read_block(folder, number, *_find_overlap(number, start, stop))
                self._download_missing(folder, numbers, parts, (start, stop, info.num_bytes), download)
        if len(parts) == 1 and parts[0] is not None:
            return parts[0], num_cached
        return memoryview(b"".join(part for part in parts if part is not None)), num_cached

    def _read_block(self, folder: str, number: int, start: int, stop: int) -> memoryview | None:
        """Read a part of a cached block and verify its checksums; return None if the block is missing or damaged."""
        path = _block_path(folder, number)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            state = _find_file_state(os.fstat(descriptor))
            data = _read_and_verify(descriptor, path, start, stop)
        except OSError:
            return None
        finally:
            os.close(descriptor)
        if data is not None:
            self._add_verified(folder, number, start, stop, state)
        return data

    def _add_verified(self, folder: str, number: int, start: int, stop: int, state: int) -> None:
        """Record that a part of a block was verified while its file had the given state."""
        if self._verified[folder].add(number, start, stop, state):
            self._open_files.pop(_block_path(folder, number), None)

    def _find_lock(self, folder: str, group: int) -> Lock:
        """Return the lock of a group of blocks. To avoid deadlocks, threads lock groups in increasing order."""
        if self._process != os.getpid():
            # A lock that a thread of the parent held at the fork is never released in this process.
            self._process, self._locks = os.getpid(), {}
        return self._locks.setdefault((folder, group), Lock())

    def has_verified(
        self,
        name: str,
        info: ObjectInfo,
        starts: NDArray[np.int64],
        stops: NDArray[np.int64],
        *,
        check_files: bool = True,
    ) -> NDArray[np.bool_]:
        """Return a mask of ranges of a file: True if a range is cached, and verified by this process.

        With `check_files`, files of the cache that have changed since they were verified do not count.
        """
        verified = self._verified.get(self._folders.get((name, info), ""))
        if verified is None:
            return np.zeros(len(starts), bool)
        is_verified = verified.find(starts, stops)
        return verified.find_unchanged(starts, stops, is_verified) if check_files else is_verified

    def locate(self, name: str, info: ObjectInfo, start: int, stop: int) -> Iterator[tuple[int, FilePart]]:
        """Split a range at block boundaries; yield the start and the cache location of each piece.

        `has_verified` must be True for the range.

        Raises
        ------
        FileNotFoundError
            If a file of the cache was removed.
        """
        folder = self._folders[name, info]
        for number in range(start // BLOCK_BYTES, -(-stop // BLOCK_BYTES)):
            low, high = _find_overlap(number, start, stop)
            yield number * BLOCK_BYTES + low, (self._open_block(folder, number), _HEADER.size + low, high - low)

    def _open_block(self, folder: str, number: int) -> _core.LocalFile:
        """Return the open file of a block. The most recently used files stay open."""
        path = _block_path(folder, number)
        file = self._open_files.pop(path, None)
        if file is None:
            file = _core.LocalFile(path)
            if len(self._open_files) >= _MAX_OPEN_FILES:
                with contextlib.suppress(KeyError):  # Another thread may have emptied the dictionary.
                    self._open_files.popitem(last=False)
        self._open_files[path] = file
        return file

    def forget_verified(self) -> None:
        """Forget which checksums were verified. Call this after a file of the cache was removed."""
        self._verified.clear()
        self._open_files.clear()

    def _download_missing(
        self,
        folder: str,
        numbers: range,
        parts: list[memoryview | None],
        limits: tuple[int, int, int],
        download: Download,
    ) -> None:
        """Download the missing blocks. If the cache has no space for a block, download only its requested bytes."""
        start, stop, num_bytes = limits
        row = 0
        while row < len(parts):
            end = row
            while end < len(parts) and parts[end] is None and (end - row) * BLOCK_BYTES < MAX_REQUEST_BYTES:
                end += 1
            if end == row:
                row += 1
                continue
            first, last = numbers[row] * BLOCK_BYTES, min(numbers[end - 1] * BLOCK_BYTES + BLOCK_BYTES, num_bytes)
            group = numbers[row:end]
            # A damaged block is overwritten, so only new blocks need additional space.
            new = [number for number in group if not os.path.lexists(_block_path(folder, number))]
            num_reserved = self._reserve_space(len(new))
            kept = {*group}.difference(new[num_reserved:]) if self._is_writable else set()
            if numbers[row] not in kept:
                first = max(first, start)
            if numbers[end - 1] not in kept:
                last = min(last, stop)
            try:
                data = download(first, last)
            except BaseException:
                self._reserve_space(-num_reserved)
                raise
            for number in group:
                low, high = _find_overlap(number, start, stop)
                offset = number * BLOCK_BYTES - first
                if number in kept:
                    block = data[offset : offset + BLOCK_BYTES]
                    if not self._write_block(folder, number, block):
                        kept.clear()
                parts[number - numbers[0]] = data[offset + low : offset + high]
            row = end

    def _find_folder(self, name: str, info: ObjectInfo) -> str:
        """Return the folder for the blocks of one version of a file; remove the blocks of other versions."""
        folder = self._folders.get((name, info))
        if folder is None:
            digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:32]
            version = hashlib.sha256(repr(tuple(info)).encode()).hexdigest()[:16]
            folder = os.path.join(self.folder, f"{digest}-{version}")
            if self._is_writable:
                self._remove_versions(digest, folder)
            self._folders[name, info] = folder
        return folder

    def _remove_versions(self, digest: str, current: str) -> None:
        with contextlib.suppress(OSError):
            names = [name for name in os.listdir(self.folder) if name.startswith(digest)]
            old = [name for name in names if _FOLDER_NAME.fullmatch(name) and name != os.path.basename(current)]
            num_removed = sum(_remove_blocks(os.path.join(self.folder, name)) for name in old)
            self._reserve_space(-num_removed)

    def _count_bytes(self) -> int:
        """Return the size of all blocks; remove temporary files that killed writers have left."""
        count = 0
        with os.scandir(self.folder) as folders:
            paths = [entry.path for entry in folders if _FOLDER_NAME.fullmatch(entry.name)]
        for path in paths:
            with os.scandir(path) as entries:
                for entry in entries:
                    match = _BLOCK_NAME.fullmatch(entry.name)
                    if match is not None and match["temporary"] and entry.stat().st_mtime < time.time() - _LEFTOVER_S:
                        os.unlink(entry.path)
                    elif match is not None:
                        count += BLOCK_BYTES
        return count

    def _lock_byte_count(self) -> _LockedByteCount:
        return _LockedByteCount(os.path.join(self.folder, "total"))

    def _reserve_space(self, num_blocks: int) -> int:
        """Reserve space for at most `num_blocks` blocks; return how many blocks fit. A negative number frees space."""
        if not self._is_writable or not num_blocks:
            return num_blocks
        try:
            with self._lock, self._lock_byte_count() as byte_count:
                used, count = byte_count.read(), num_blocks
                if self.max_bytes is not None:
                    count = min(num_blocks, max(self.max_bytes - used, 0) // BLOCK_BYTES)
                byte_count.write(used + count * BLOCK_BYTES)
        except OSError as error:
            self._stop_writing(error)
            return 0
        return count

    def _write_block(self, folder: str, number: int, data: memoryview) -> bool:
        """Write a block; return False if it cannot be written."""
        path = _block_path(folder, number)
        temporary = f"{path}.tmp-{os.urandom(6).hex()}"
        pieces = [data[start : start + _PIECE_BYTES] for start in range(0, len(data), _PIECE_BYTES)]
        checksums = [_core.crc32c(piece) for piece in pieces] + [0] * (BLOCK_BYTES // _PIECE_BYTES - len(pieces))
        header = _HEADER.pack(_MAGIC, len(data), *checksums, 0)[:-4]
        try:
            os.makedirs(folder, exist_ok=True)
            with open(temporary, "xb") as file:
                file.write(header + struct.pack("<I", _checksum_header(header, path)))
                file.write(data)
            os.replace(temporary, path)
            self._add_verified(folder, number, 0, len(data), _find_file_state(os.stat(path)))
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            self._stop_writing(error)
            return False
        return True

    def _stop_writing(self, error: OSError) -> None:
        """Stop adding blocks to the cache, and warn once."""
        if self._is_writable:
            self._is_writable = False
            cause = error.strerror or error
            text = f"the cache {self.folder!r} stores no more data: {cause}; reading continues without it"
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def __getstate__(self) -> dict[str, object]:
        """Return the arguments of the constructor, for pickling."""
        return {"folder": self.folder, "max_bytes": self.max_bytes}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore a pickled cache."""
        self.__dict__.update(state)
        self._is_writable, self._folders, self._lock = True, {}, Lock()
        self._process, self._locks, self._verified = os.getpid(), {}, {}
        self._open_files = OrderedDict()
        self._join_users()


class _VerifiedPieces:
    """Pieces of 64 KiB of a remote file that this process has verified in the cache.

    If a block file changes after that, its pieces are no longer verified.

    Parameters
    ----------
    folder : str
        Folder of the blocks.
    num_bytes : int
        Size of the remote file.
    """

    def __init__(self, folder: str, num_bytes: int) -> None:
        self._folder = folder
        self._is_verified = bytearray(-(-num_bytes // _PIECE_BYTES))
        # State of each block file when its pieces were verified, see `_find_file_state`.
        self._states = array("q", bytes(8 * -(-num_bytes // BLOCK_BYTES)))

    def add(self, number: int, start: int, stop: int, state: int) -> bool:
        """Add a part of a block; return True if the state of the block file is new."""
        pieces, is_new = slice(number * _PIECES_PER_BLOCK, (number + 1) * _PIECES_PER_BLOCK), False
        if self._states[number] != state:
            self._is_verified[pieces] = bytes(len(self._is_verified[pieces]))
            self._states[number], is_new = state, True
        first, last = pieces.start + start // _PIECE_BYTES, pieces.start - (-stop // _PIECE_BYTES)
        self._is_verified[first:last] = b"\1" * (last - first)
        return is_new

    def find(self, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return a mask of the ranges that consist of verified pieces."""
        first, last = (starts // _PIECE_BYTES).tolist(), (-(-stops // _PIECE_BYTES)).tolist()
        pairs = zip(first, last, strict=True)
        return np.fromiter((0 not in self._is_verified[start:stop] for start, stop in pairs), bool, len(starts))

    def find_unchanged(
        self, starts: NDArray[np.int64], stops: NDArray[np.int64], chosen: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return a mask of the chosen ranges whose block files have not changed since they were verified."""
        first, last = (starts // BLOCK_BYTES).tolist(), (-(-stops // BLOCK_BYTES)).tolist()
        rows = np.flatnonzero(chosen).tolist()
        numbers = {number for row in rows for number in range(first[row], last[row])}
        changed = {number for number in numbers if not self._is_unchanged(number)}
        if not changed:
            return chosen
        is_unchanged = chosen.copy()
        for row in rows:
            is_unchanged[row] = changed.isdisjoint(range(first[row], last[row]))
        return is_unchanged

    def _is_unchanged(self, number: int) -> bool:
        try:
            return _find_file_state(os.stat(_block_path(self._folder, number))) == self._states[number]
        except OSError:
            return False


def _find_file_state(status: os.stat_result) -> int:
    """Return a number that changes if the file is replaced or written."""
    return hash((status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))


class _LockedByteCount:
    """Context manager that locks the file with the total size of a cache, so that only one process updates the size."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> Self:
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        return self

    def read(self) -> int:
        data = os.pread(self._descriptor, 8, 0)
        return int.from_bytes(data, "little")

    def write(self, num_bytes: int) -> None:
        # If another program has changed the file, the new number may be outside the range.
        os.pwrite(self._descriptor, min(max(num_bytes, 0), _MAX_COUNT).to_bytes(8, "little"), 0)

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _find_overlap(number: int, start: int, stop: int) -> tuple[int, int]:
    """Return the overlap of a block and the range from `start` to `stop`, as two offsets in the block."""
    base = number * BLOCK_BYTES
    return max(start - base, 0), min(stop - base, BLOCK_BYTES)


def _block_path(folder: str, number: int) -> str:
    return os.path.join(folder, f"{number}.block")


def _checksum_header(header: bytes, path: str) -> int:
    """Return one checksum of the header, the folder name and the file name, to detect misplaced block files."""
    return _core.crc32c(header + os.fsencode("/".join(path.split(os.sep)[-2:])))


def _read_and_verify(descriptor: int, path: str, start: int, stop: int) -> memoryview | None:
    """Return a part of a block; None if its checksums do not match."""
    header = os.pread(descriptor, _HEADER.size, 0)
    if len(header) < _HEADER.size:
        return None
    magic, num_bytes, *checksums, own = _HEADER.unpack(header)
    if magic != _MAGIC or own != _checksum_header(header[:-4], path) or stop > num_bytes:
        return None
    first, last = start // _PIECE_BYTES, -(-stop // _PIECE_BYTES)
    low, high = first * _PIECE_BYTES, min(last * _PIECE_BYTES, num_bytes)
    data = memoryview(os.pread(descriptor, high - low, _HEADER.size + low))
    if len(data) != high - low:
        return None
    for number in range(first, last):
        piece = data[number * _PIECE_BYTES - low :][:_PIECE_BYTES]
        if _core.crc32c(piece) != checksums[number]:
            return None
    return data[start - low : stop - low]


def _remove_blocks(folder: str) -> int:
    """Remove the blocks in a folder, and the folder if nothing else is in it.

    Return the number of removed blocks, without those that were not yet complete.
    """
    num_removed = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if (match := _BLOCK_NAME.fullmatch(entry.name)) is not None:
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)
                    num_removed += match["temporary"] is None
    with contextlib.suppress(OSError):
        os.rmdir(folder)
    return num_removed

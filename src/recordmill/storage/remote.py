"""Storage of remote files: list, read and write the objects of object stores and web servers."""

from __future__ import annotations

import contextlib
import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.errors import RemoteError
from recordmill.storage.addresses import expand_braces, is_address, is_web_address, redact, split_address
from recordmill.storage.base import Stat, output_exists_error
from recordmill.storage.block_cache import BlockCache
from recordmill.storage.compression import Compression
from recordmill.storage.connect import load_obstore
from recordmill.storage.local import natural_sort_key
from recordmill.storage.object_store import DEFAULT_MAX_REQUESTS, ObjectInfo, ObjectStore
from recordmill.storage.ranges import MAX_REQUEST_BYTES, CachedContent, RequestedRange, merge_ranges
from recordmill.storage.remote_file import RemoteFile
from recordmill.storage.remote_output import RemoteOutputFile, convert_remote_errors
from recordmill.types import Traffic

Ints = NDArray[np.int64]

# Ranges are requested together if the gap between them has at most this many bytes. Receiving so many bytes takes about
# as long as another request.
_MAX_GAP_BYTES = 128 << 10
# Ranges in the cache are read together if the gap between them has at most this many bytes.
_MAX_CACHED_GAP_BYTES = 8 << 10
# Above this number of objects of one folder, listing the folder takes fewer requests than asking for each object.
_MAX_HEADS = 32
_HAS_MAGIC = re.compile(r"[*?[]")


class RemoteStorage:
    """Storage of the objects of any number of object stores and web servers. Can be pickled and used after a fork.

    Parameters
    ----------
    options : mapping of str to object
        Settings for obstore, see `ObjectStore`.
    max_requests : int
        Number of requests that are sent at the same time, for each store.
    cache : BlockCache, optional
        Stores the blocks that were read.
    keeps_listings : bool
        Whether each folder is listed only once. False for writers, which must see the files of other writers.
    """

    is_remote = True

    def __init__(
        self,
        options: Mapping[str, Any] | None = None,
        *,
        max_requests: int = DEFAULT_MAX_REQUESTS,
        cache: BlockCache | None = None,
        keeps_listings: bool = True,
    ) -> None:
        load_obstore()  # If obstore is missing, raise the error now rather than at the first request.
        self._options, self._max_requests = dict(options or {}), max_requests
        self.cache, self._keeps_listings = cache, keeps_listings
        self.traffic = Traffic()
        self._stores: dict[str, ObjectStore] = {}
        self._infos: dict[str, ObjectInfo] = {}
        # Names in each listed folder; None for a folder that cannot be listed.
        self._listings: dict[str, list[str] | None] = {}

    def _find_store(self, path: str) -> tuple[ObjectStore, str]:
        root, key = split_address(path)
        store = self._stores.get(root)
        if store is None:
            store = self._stores[root] = ObjectStore(root, self._options, self._max_requests, self.traffic)
        return store, key

    # Names

    def expand(self, pattern: str) -> list[str]:
        """List the files that an address, pattern or folder stands for, in natural order."""
        patterns = list(expand_braces(pattern))
        if len(patterns) > 1 and not self.can_list(patterns[0].rpartition("/")[0]):
            self._find_infos(patterns)
        names = [name for address in patterns for name in self._expand_pattern(address)]
        return sorted(dict.fromkeys(names), key=natural_sort_key)

    def _find_infos(self, paths: Sequence[str]) -> None:
        """Request the properties of many objects at the same time."""
        requests = []
        for path in paths:
            store, key = self._find_store(path)
            requests.append((path, store.submit(store.head, key)))
        for path, request in requests:
            with contextlib.suppress(FileNotFoundError):
                self._infos[path] = request.result()

    def find_objects(self, paths: Sequence[str]) -> list[ObjectInfo | None]:
        """Return the properties of many objects; None for those that do not exist."""
        folders: dict[str, list[str]] = {}
        for path in paths:
            if path not in self._infos:
                folders.setdefault(path.rpartition("/")[0], []).append(path)
        large = [folder for folder, names in folders.items() if len(names) > _MAX_HEADS]
        requests = [self._find_store(folder)[0].submit(self._list_folder, folder) for folder in large]
        listed = {folder for folder, request in zip(large, requests, strict=True) if request.result() is not None}
        self._find_infos([path for folder, names in folders.items() if folder not in listed for path in names])
        return [self._infos.get(path) for path in paths]

    def list_recursively(self, folder: str) -> list[str]:
        """Return the names of all objects in a folder and its subfolders, relative to the folder, in any order.

        Empty objects that mark folders are omitted.
        """
        store, key = self._find_store(folder)
        infos, _ = store.list(key, recursive=True)
        folders = {name.rpartition("/")[0] for name in infos}
        found = {
            name[len(key) :].lstrip("/"): info
            for name, info in infos.items()
            if name != key and (info.num_bytes or name not in folders)
        }
        self._infos |= {f"{folder}/{name}": info for name, info in found.items()}
        return list(found)

    def _expand_pattern(self, pattern: str) -> list[str]:
        key = split_address(pattern).key
        if not _HAS_MAGIC.search(key) or is_web_address(pattern):
            if not pattern.endswith("/") and self.exists(pattern):
                return [pattern]
            names = self._list_folder(pattern.rstrip("/")) or []
            return [f"{pattern.rstrip('/')}/{name}" for name in names if not name.startswith(".") and name[-1:] != "/"]
        fixed = pattern[: len(pattern) - len(key)] + key[: _HAS_MAGIC.search(key).start()]  # type: ignore[union-attr]
        folder = fixed.rpartition("/")[0]
        if "/" in pattern[len(folder) + 1 :]:
            return self._match_recursively(folder, pattern)
        names, pattern = self._list_folder(folder) or [], pattern[len(folder) + 1 :]
        return [f"{folder}/{name}" for name in names if name[-1:] != "/" and _matches_name(name, pattern)]

    def _match_recursively(self, folder: str, pattern: str) -> list[str]:
        """List a folder and all its subfolders, and return the addresses that match a pattern."""
        store, key = self._find_store(folder)
        patterns = split_address(pattern).key.split("/")
        infos, _ = store.list(key, recursive=True)
        matches = {
            f"{store.root}/{name}": info for name, info in infos.items() if _matches_pattern(name.split("/"), patterns)
        }
        self._infos |= matches
        return list(matches)

    def _list_folder(self, folder: str) -> list[str] | None:
        """Return the names in a folder; names of subfolders end with a slash. None if the folder cannot be listed."""
        if folder in self._listings:
            return self._listings[folder]
        store, key = self._find_store(folder)
        names: list[str] | None
        try:
            listed = None if is_web_address(folder) else store.list(key)
        except RemoteError as error:
            if error.kind != "access_denied":
                raise
            listed = None
        if listed is None:
            names = None
        else:
            infos, folders = listed
            # An object whose key is the path of the folder marks an empty folder. It is not a file in the folder.
            found = {name[len(key) :].lstrip("/"): info for name, info in infos.items() if name != key}
            self._infos |= {f"{folder}/{name}": info for name, info in found.items()}
            names = [*found, *(f"{name[len(key) :].strip('/')}/" for name in folders)]
        if self._keeps_listings:
            self._listings[folder] = names
        return names

    def can_list(self, folder: str) -> bool:
        """Return True if the server lists the names in a folder."""
        # If the path is only a bucket, such as s3://train, then `folder` is "s3:/". No request is sent for it.
        return "://" not in folder or self._list_folder(folder.rstrip("/")) is not None

    def list_names(self, folder: str) -> list[str]:
        """Return the names of all entries of a folder; empty if it does not exist or cannot be listed."""
        return [name.rstrip("/") for name in self._list_folder(folder.rstrip("/")) or []]

    def _find_info(self, path: str) -> ObjectInfo:
        """Return the properties of an object. Request them only if no earlier response contained them."""
        if path in self._infos:
            return self._infos[path]
        if not is_address(path):
            raise FileNotFoundError(2, "no such object", path)
        store, key = self._find_store(path)
        if not key and not is_web_address(path):
            raise FileNotFoundError(2, "a bucket is not an object", store.address(key))
        folder, _, name = path.rpartition("/")
        if self._keeps_listings and key:
            names = self._list_folder(folder)
            if names is not None and name not in names:
                raise FileNotFoundError(2, "the object does not exist", store.address(key))
        if path not in self._infos:
            self._infos[path] = store.head(key)
        return self._infos[path]

    def stat(self, path: str) -> Stat:
        """Return the size, modification time and version of an object."""
        if not self._keeps_listings:
            self._infos.pop(path, None)
        info = self._find_info(path)
        return Stat(info.num_bytes, info.modified_ns, (path, info.version))

    def exists(self, path: str) -> bool:
        """Return True if an object of this name exists."""
        try:
            self.stat(path)
        except FileNotFoundError:
            return False
        return True

    # Reading

    def open(self, paths: Sequence[str], compression: Compression | None = None, max_bytes: int = 0) -> _core.Source:
        """Open one or several objects as one stream that can be read at any offset."""
        sources = []
        for path in paths:
            file = RemoteFile(self, path, self._find_info(path).num_bytes)
            sources.append(
                _core.Source.from_reader(file.read, file.num_bytes, compression=compression, max_bytes=max_bytes)
            )
        return sources[0] if len(sources) == 1 else _core.Source.join(sources)

    def read(self, path: str) -> bytes:
        """Read a whole small object into memory."""
        info = self._find_info(path) if self._keeps_listings else None
        store, key = self._find_store(path)
        return store.get(key, info)

    def request_file(self, path: str, info: ObjectInfo) -> Future[bytes]:
        """Request a whole object, which must have the size and version of `info`, without waiting for it."""
        store, key = self._find_store(path)
        return store.submit(store.get, key, info)

    def request(self, path: str, start: int, stop: int) -> Future[memoryview]:
        """Request a range of an object, without waiting for it."""
        store, _ = self._find_store(path)
        return store.submit(self.read_range, path, start, stop)

    def read_range(self, path: str, start: int, stop: int) -> memoryview:
        """Return a range of an object, from the cache if it is there."""
        store, key = self._find_store(path)
        info = self._find_info(path)

        def download(first: int, last: int) -> memoryview:
            return store.get_range(key, first, last, info)

        if self.cache is None:
            return download(start, stop)
        data, cached_bytes = self.cache.read(redact(path), info, start, stop, download)
        self.traffic.cached_bytes += cached_bytes
        return data

    def request_ranges(self, path: str, starts: Ints, stops: Ints) -> list[RequestedRange]:
        """Return ranges of an object, and request those that are not cached. One request also covers small gaps."""
        found, missing = self._find_cached_ranges(path, starts, stops)
        return found + self._send_requests(path, starts[missing], stops[missing])

    def request_ahead(self, path: str, starts: Ints, stops: Ints) -> list[RequestedRange]:
        """Request ranges of an object that will be read soon, except those in the cache."""
        if self.cache is not None:
            # The files of the cache are checked when the ranges are read.
            found = self.cache.has_verified(redact(path), self._find_info(path), starts, stops, check_files=False)
            missing = ~found
            starts, stops = starts[missing], stops[missing]
        return self._send_requests(path, starts, stops)

    def _send_requests(self, path: str, starts: Ints, stops: Ints) -> list[RequestedRange]:
        if not len(starts):
            return []
        pairs = zip(*merge_ranges(starts, stops, _MAX_GAP_BYTES), strict=True)
        return [RequestedRange(start, stop, self.request(path, start, stop)) for start, stop in pairs]

    def _find_cached_ranges(
        self, path: str, starts: Ints, stops: Ints
    ) -> tuple[list[RequestedRange], NDArray[np.bool_]]:
        """Return the cached ranges, merged across small gaps, and a mask that is True for each missing range."""
        if self.cache is None:
            return [], np.ones(len(starts), bool)
        name, info = redact(path), self._find_info(path)
        is_cached = self.cache.has_verified(name, info, starts, stops)
        if not is_cached.any():
            return [], ~is_cached
        pairs = zip(*merge_ranges(starts[is_cached], stops[is_cached], _MAX_CACHED_GAP_BYTES), strict=True)
        parts = [part for pair in pairs for part in self.cache.locate(name, info, *pair)]
        found = [RequestedRange(start, start + part[2], CachedContent(part)) for start, part in parts]
        self.traffic.cached_bytes += sum(stop - start for start, stop, _ in found)
        return found, ~is_cached

    # Writing

    def create_output(self, path: str, *, overwrite: bool) -> RemoteOutputFile:
        """Create an object under a temporary name, to be written and then committed."""
        if not overwrite and self.exists(path):
            raise output_exists_error(path)
        return RemoteOutputFile(self, path, overwrite=overwrite)

    def write(self, path: str, data: bytes) -> None:
        """Write a small object."""
        store, key = self._find_store(path)
        store.put(key, data)

    def upload(self, path: str, chunks: Iterator[bytes | memoryview], part_bytes: int) -> Future[None]:
        """Start a thread that writes an object from chunks."""
        store, key = self._find_store(path)
        return store.start_upload(key, chunks, part_bytes)

    def remove(self, path: str) -> None:
        """Remove an object; has no effect if it does not exist."""
        store, key = self._find_store(path)
        with convert_remote_errors(path, "cannot remove the object"):
            store.delete(key)
        self._infos.pop(path, None)

    def rename(self, old: str, new: str, *, overwrite: bool) -> None:
        """Copy an object to a new name inside the store, then remove the old object.

        This is not atomic, but every existing object is complete at any time. The lock of the destination prevents
        two writers from doing this at the same time. If a rename was interrupted between the steps, it is continued.
        """
        store, key = self._find_store(old)
        with convert_remote_errors(new, "cannot rename the object to its final name"):
            exists = not overwrite and self.exists(new)
            if exists and not self._have_equal_content(old, new):
                raise output_exists_error(new)
            if not exists:
                store.copy(key, split_address(new).key)
            self._infos.pop(new, None)
        # The new object is complete. If the old object cannot be removed now, the next writer removes it.
        with contextlib.suppress(RemoteError):
            store.delete(key)
        self._infos.pop(old, None)

    def _have_equal_content(self, path: str, other: str) -> bool:
        infos = [self._find_info(path), self._find_info(other)]
        if infos[0].num_bytes != infos[1].num_bytes:
            return False
        starts = range(0, infos[0].num_bytes, MAX_REQUEST_BYTES)
        ranges = ((start, min(start + MAX_REQUEST_BYTES, infos[0].num_bytes)) for start in starts)
        return all(self.read_range(path, *each) == self.read_range(other, *each) for each in ranges)

    def create_exclusively(self, path: str, data: bytes) -> None:
        """Create a small object, unless it exists. If several processes create it, exactly one succeeds.

        Stores without conditional requests do not guarantee that.
        """
        store, key = self._find_store(path)
        with convert_remote_errors(path, "cannot create an object"):
            try:
                store.put(key, data, create=True)
            except RemoteError as error:
                if error.kind != "bad_request" and "NotImplemented" not in error.message:
                    raise
                if self.exists(path):
                    raise FileExistsError(17, "the object exists", path) from None
                store.put(key, data)

    def append(self, path: str, data: bytes) -> None:
        """Append bytes to a small object by reading it and writing it again."""
        store, key = self._find_store(path)
        with convert_remote_errors(path, "cannot write"):
            try:
                old = store.get(key)
            except FileNotFoundError:
                old = b""
            store.put(key, old + data)

    def sync_folder(self, path: str) -> None:
        """Do nothing, because a write to an object store is durable when the store confirms it."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for pickling, without the counters of this process."""
        return self.__dict__ | {"traffic": Traffic(), "_stores": {}}


def _matches_pattern(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    """Return True if the parts of a key match the parts of a glob pattern, in which ``**`` matches any folders."""
    if not patterns or not parts:
        return not patterns and not parts
    if patterns[0] == "**":
        return _matches_pattern(parts, patterns[1:]) or (
            not parts[0].startswith(".") and _matches_pattern(parts[1:], patterns)
        )
    return _matches_name(parts[0], patterns[0]) and _matches_pattern(parts[1:], patterns[1:])


def _matches_name(name: str, pattern: str) -> bool:
    """Return True if a name matches a glob pattern; hidden names match only patterns that begin with a dot."""
    return fnmatch.fnmatchcase(name, pattern) and name.startswith(".") <= pattern.startswith(".")

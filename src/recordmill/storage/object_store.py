"""Send requests to one object store, repeat failed requests, and check the responses."""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from threading import BoundedSemaphore, Lock, Thread, current_thread, main_thread
from typing import Any, NamedTuple, NoReturn, TypeVar

from recordmill.concurrency.daemon_pool import DaemonPool
from recordmill.errors import MissingExtraError, RemoteError, ShardChangedError
from recordmill.storage.addresses import redact
from recordmill.storage.connect import INHERITED, create_store, load_obstore
from recordmill.storage.failures import (
    Failure,
    LengthError,
    OptionsError,
    VersionError,
    classify_failure,
    describe_cause,
)
from recordmill.types import Traffic

T = TypeVar("T")

DEFAULT_MAX_REQUESTS = 32
# Maximum number of times that a request is sent. The waits between attempts are random, up to _BACKOFF_S * 2 ** attempt
# seconds.
_MAX_ATTEMPTS = 6
_BACKOFF_S, _MAX_BACKOFF_S = 0.1, 5.0


class ObjectInfo(NamedTuple):
    """Properties of an object.

    Parameters
    ----------
    num_bytes : int
    modified_ns : int
        Time of the last modification, in nanoseconds since the epoch.
    version : str
        ETag; empty if the server has none.
    """

    num_bytes: int
    modified_ns: int
    version: str


class ObjectStore:
    """One bucket, container or host. Can be pickled, used after a fork, and used by several threads.

    Parameters
    ----------
    root : str
        Address without the key of an object, see `Address`.
    options : mapping of str to object
        Settings of an obstore store, and the obstore arguments `client_options`, `retry_config` and
        `credential_provider`.
    max_requests : int
        Number of requests that are sent at the same time, besides uploads.
    traffic : Traffic
        Counters of requests and bytes, which the store updates.
    """

    def __init__(self, root: str, options: Mapping[str, Any], max_requests: int, traffic: Traffic) -> None:
        self.root, self._options, self._max_requests = root, dict(options), max_requests
        self.traffic = traffic
        self._connect()

    def _connect(self) -> None:
        self._process, self._lock = os.getpid(), Lock()
        self._slots = BoundedSemaphore(self._max_requests)
        self._stores: dict[int, Any] = {}  # Maps each value of `max_retries` to the obstore store with this setting.
        self._pool: DaemonPool | None = None

    def _reconnect_after_fork(self) -> None:
        """Connect again in a forked process, because the connections and threads of the parent do not work there."""
        if self._process != os.getpid():
            INHERITED.append((self._stores, self._pool))
            self._connect()

    def address(self, key: str) -> str:
        """Return the address of an object, without secrets."""
        return redact(f"{self.root}/{key}" if key else self.root)

    def head(self, key: str) -> ObjectInfo:
        """Return the properties of an object; raise FileNotFoundError if it does not exist."""
        return _parse_info(self._request("read the size of the object", key, lambda api, store: api.head(store, key)))

    def list(self, folder: str, *, recursive: bool = False) -> tuple[dict[str, ObjectInfo], list[str]]:
        """Return a dict that maps the key of each object in a folder to its properties, and a list of the subfolders.

        With `recursive`, the dict includes the objects in all subfolders, and the list is empty.
        """

        def send(api: Any, store: Any) -> tuple[dict[str, ObjectInfo], list[str]]:
            if not recursive:
                result = api.list_with_delimiter(store, folder or None)
                return {entry["path"]: _parse_info(entry) for entry in result["objects"]}, result["common_prefixes"]
            infos: dict[str, ObjectInfo] = {}
            for chunk in api.list(store, folder or None, chunk_size=1000):
                for entry in chunk:
                    # obstore omits the slash at the end of a key that marks a folder. The object "a" precedes "a/".
                    infos.setdefault(entry["path"], _parse_info(entry))
            return infos, []

        return self._request("list the folder", folder, send)

    def get(self, key: str, info: ObjectInfo | None = None) -> bytes:
        """Return the content of a small object, which must have the size and version of `info`."""

        def send(api: Any, store: Any) -> bytes:
            result = api.get(store, key)
            data, found = bytes(result.bytes()), _parse_info(result.meta)
            if info is not None:
                _check_version(found, info)
            return _check_length(data, found.num_bytes if info is None else info.num_bytes)

        return self._request("read the object", key, send)

    def get_range(self, key: str, start: int, stop: int, info: ObjectInfo) -> memoryview:
        """Return the bytes from `start` to `stop` of an object, which must have the size and version of `info`."""
        # A weak ETag never matches an If-Match condition.
        condition = {"if_match": info.version} if info.version and not info.version.startswith("W/") else {}

        def send(api: Any, store: Any) -> memoryview:
            result = api.get(store, key, options={"range": (start, stop), **condition})
            found = _parse_info(result.meta)
            _check_version(found, info)
            if found.num_bytes != info.num_bytes:
                raise VersionError(f"the size is {found.num_bytes:,} bytes instead of {info.num_bytes:,}")
            return _check_length(memoryview(result.bytes()), stop - start)

        return self._request("read the object", key, send, (start, stop))

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Call a function in one of the threads that send requests."""
        self._reconnect_after_fork()
        if self._pool is None:
            with self._lock:
                if self._pool is None:  # The threads of the pool end when this store is garbage collected.
                    self._pool = DaemonPool(self._max_requests, "recordmill-request")
        return self._pool.submit(function, *arguments)

    def start_upload(self, key: str, chunks: Iterator[bytes | memoryview], chunk_bytes: int) -> Future[None]:
        """Call `upload` in a new thread, because an upload waits for chunks. The number of uploads is not limited."""
        future: Future[None] = Future()

        def run_upload() -> None:
            try:
                self.upload(key, chunks, chunk_bytes)
            except BaseException as error:  # noqa: BLE001 (raised by the future)
                future.set_exception(error)
            else:
                future.set_result(None)

        # The thread is a daemon, so that a writer that is never closed does not prevent the process from ending.
        Thread(target=run_upload, name="recordmill-upload", daemon=True).start()
        return future

    def put(self, key: str, data: bytes, *, create: bool = False) -> None:
        """Write a small object. With `create`, raise FileExistsError if it exists."""
        if not create:
            self._request("write the object", key, lambda api, store: api.put(store, key, data, use_multipart=False))
            return
        try:
            self._request(
                "create the object",
                key,
                lambda api, store: api.put(store, key, data, mode="create", use_multipart=False),
            )
        except FileExistsError:
            # An earlier attempt may have succeeded although its response was lost.
            if self.get(key) != data:
                raise

    def upload(self, key: str, chunks: Iterator[bytes | memoryview], chunk_bytes: int) -> None:
        """Write a new object by a multipart upload. After an error, no object and no part of it remains."""
        num_bytes, has_read = 0, False

        def read_and_count_chunks() -> Iterator[bytes | memoryview]:
            nonlocal num_bytes, has_read
            has_read = True
            for chunk in chunks:
                num_bytes += len(chunk)
                yield chunk

        def send(api: Any, store: Any) -> None:
            api.put(store, key, read_and_count_chunks(), use_multipart=True, chunk_size=chunk_bytes, max_concurrency=4)

        for attempt in range(1, _MAX_ATTEMPTS + 1):
            try:
                return self._request("write the object", key, send, attempts=1, part_retries=_MAX_ATTEMPTS - 1)
            except (RemoteError, FileNotFoundError) as error:
                # The response to the last request of the upload may have been lost.
                with contextlib.suppress(FileNotFoundError, RemoteError):
                    if num_bytes and self.head(key).num_bytes == num_bytes:
                        return None
                if isinstance(error, FileNotFoundError):
                    message = "cannot write the object: the upload was aborted"
                    raise RemoteError(message, kind="connection", shard=self.address(key)) from None
                # obstore does not repeat the first request of an upload. If the first request failed, obstore has not
                # read any of `chunks` yet, so another attempt can still write all of them.
                if has_read or error.kind not in ("connection", "http_status") or attempt == _MAX_ATTEMPTS:
                    raise
            self.traffic.retries += 1
            _wait_for_retry(attempt)
        raise AssertionError("unreachable")

    def copy(self, key: str, new: str) -> None:
        """Copy an object inside the store, without transferring its bytes."""
        self._request("copy the object", key, lambda api, store: api.copy(store, key, new))

    def delete(self, key: str) -> None:
        """Remove an object; has no effect if it does not exist."""
        with contextlib.suppress(FileNotFoundError):
            self._request("remove the object", key, lambda api, store: api.delete(store, key))

    def _request(
        self,
        action: str,
        key: str,
        send: Callable[[Any, Any], T],
        byte_range: tuple[int, int] | None = None,
        attempts: int = _MAX_ATTEMPTS,
        part_retries: int = 0,
    ) -> T:
        """Send a request; repeat it after an error that may be temporary.

        This method repeats requests itself, because it also checks the response. Only the parts of an upload are
        repeated by obstore, up to `part_retries` times.
        """
        self._reconnect_after_fork()
        for attempt in range(1, attempts + 1):
            self.traffic.requests += 1
            try:
                api = load_obstore()
                if part_retries not in self._stores:
                    self._stores[part_retries] = self._create_store(api, part_retries)
                # An upload does not occupy a request slot. It waits for data, and an occupied slot would block other
                # requests during this wait.
                store = self._stores[part_retries]
                result = send(api, store) if part_retries else self._send_interruptibly(send, api, store)
            except (MissingExtraError, KeyboardInterrupt, SystemExit, GeneratorExit):
                raise
            except BaseException as error:  # noqa: BLE001 (raised below, as another class)
                # obstore raises a subclass of BaseException, PanicException, for some malformed responses.
                failure = classify_failure(error)
                if not failure.is_temporary or attempt == attempts:
                    self._raise_request_error(action, key, failure, byte_range, attempt)
            else:
                self.traffic.num_bytes += 0 if byte_range is None else byte_range[1] - byte_range[0]
                return result
            self.traffic.retries += 1
            _wait_for_retry(attempt)
        raise AssertionError("unreachable")

    def _create_store(self, api: Any, max_retries: int) -> Any:
        try:
            return create_store(api, self.root, self._options, max_retries)
        except (MissingExtraError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 (also PanicException, and those of providers of credentials)
            raise OptionsError(describe_cause(str(error), 0, None)) from None

    def _send_interruptibly(self, send: Callable[[Any, Any], T], api: Any, store: Any) -> T:
        """Send one request. A signal such as Ctrl-C interrupts the wait for the response."""
        slots = self._slots

        def wait_for_slot_and_send() -> T:
            with slots:
                return send(api, store)

        if current_thread() is main_thread():
            return self.submit(wait_for_slot_and_send).result()
        return wait_for_slot_and_send()

    def _raise_request_error(
        self, action: str, key: str, failure: Failure, byte_range: tuple[int, int] | None, attempts: int
    ) -> NoReturn:
        """Raise the error of a request, without its `__cause__`, because the text of the cause may contain secrets."""
        address = self.address(key)
        if failure.kind == "missing":
            raise FileNotFoundError(2, "the object does not exist", address) from None
        if failure.kind == "exists":
            raise FileExistsError(17, "the object exists", address) from None
        if failure.kind == "changed":
            raise ShardChangedError(
                f"the object was replaced after it was first opened: {failure.cause}",
                kind="changed",
                shard=address,
                hint="open the dataset again in all processes; for pack(), create the source again",
            ) from None
        raise RemoteError(
            f"cannot {action}: {failure.cause}",
            kind=failure.kind,
            shard=address,
            byte_range=byte_range,
            attempts=attempts,
            hint=failure.hint,
        ) from None

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for pickling, without the connections of this process."""
        return {"root": self.root, "_options": self._options, "_max_requests": self._max_requests}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the attributes; connections are opened when they are needed."""
        self.__dict__.update(state)
        self.traffic = Traffic()
        self._connect()


def _wait_for_retry(attempt: int) -> None:
    """Wait for a random time that increases with each attempt, so that clients do not all repeat requests at once."""
    time.sleep(random.uniform(0.5, 1) * min(_BACKOFF_S * 2**attempt, _MAX_BACKOFF_S))  # noqa: S311 (no secret)


def _parse_info(meta: Mapping[str, Any]) -> ObjectInfo:
    modified, version = meta["last_modified"], meta["e_tag"] or ""
    if version and not version.endswith('"'):
        version = f'"{version}"'  # Some servers omit the quotes of an ETag in listings.
    return ObjectInfo(int(meta["size"]), int(modified.timestamp() * 1e9), version)


def _check_version(found: ObjectInfo, expected: ObjectInfo) -> None:
    # Listings of some servers have no ETags.
    if found.version and expected.version and found.version != expected.version:
        raise VersionError(f"the version is {found.version} instead of {expected.version}")


def _check_length(data: T, num_bytes: int) -> T:
    found = len(data)  # type: ignore[arg-type]
    if found != num_bytes:
        raise LengthError(f"the response has {found:,} bytes instead of {num_bytes:,}")
    return data

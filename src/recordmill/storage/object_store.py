"""Requests to one object store: connect, repeat failed requests, check what comes back, and explain what failed."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from functools import cache
from importlib.machinery import ExtensionFileLoader
from threading import BoundedSemaphore, Lock, Thread, current_thread, main_thread
from typing import Any, NamedTuple, NoReturn, TypeVar

from recordmill.concurrency.daemon_pool import DaemonPool
from recordmill.errors import MissingExtraError, RemoteError, ShardChangedError
from recordmill.storage.addresses import redact
from recordmill.types import Traffic

T = TypeVar("T")

# Connections and threads of the parent of a forked process. They are kept, because closing them may wait for threads
# that this process does not have.
_INHERITED: list[Any] = []

DEFAULT_MAX_REQUESTS = 32
# A request is sent at most this often. The waits between are random, up to _BACKOFF_S * 2 ** attempt seconds.
_MAX_ATTEMPTS = 6
_BACKOFF_S, _MAX_BACKOFF_S = 0.1, 5.0
_CLIENT_OPTIONS = {"timeout": "30s", "connect_timeout": "5s", "pool_max_idle_per_host": "64"}
# Entries of `storage_options` that are arguments of obstore rather than settings of the store.
_ARGUMENTS = ("client_options", "retry_config", "credential_provider")
_TEMPORARY_STATUS = (408, 409, 425, 429, 500, 502, 503, 504)
_STATUS = re.compile(r"status code: (\d{3})")
# Without other credentials, obstore asks the server of the cloud that has those of the machine.
_CREDENTIAL_SERVERS = re.compile(r"169\.254\.|metadata\.google|/latest/api/token|/latest/meta-data")
_CODE = re.compile(r"<Code>([\w.]+)</Code>(?:\s*<Message>([^<]{0,300})</Message>)?")


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
        Settings of obstore: those of its stores, and `client_options`, `retry_config` and `credential_provider`.
    max_requests : int
        Number of requests that are sent at the same time, besides uploads.
    traffic : Traffic
        Counters that are increased.
    """

    def __init__(self, root: str, options: Mapping[str, Any], max_requests: int, traffic: Traffic) -> None:
        self.root, self._options, self._max_requests = root, dict(options), max_requests
        self.traffic = traffic
        self._connect()

    def _connect(self) -> None:
        self._process, self._lock = os.getpid(), Lock()
        self._slots = BoundedSemaphore(self._max_requests)
        self._stores: dict[int, Any] = {}  # By the number of repetitions that the store makes itself.
        self._pool: DaemonPool | None = None

    def _check_process(self) -> None:
        """Connect again in a forked process, which has neither the connections nor the threads of its parent."""
        if self._process != os.getpid():
            _INHERITED.append((self._stores, self._pool))
            self._connect()

    def address(self, key: str) -> str:
        """Return the address of an object, without secrets."""
        return redact(f"{self.root}/{key}" if key else self.root)

    def head(self, key: str) -> ObjectInfo:
        """Return the properties of an object; raise FileNotFoundError if it does not exist."""
        return _convert_info(self._request("read the size of the object", key, lambda api, store: api.head(store, key)))

    def list(self, folder: str, *, recursive: bool = False) -> tuple[dict[str, ObjectInfo], list[str]]:
        """Return the objects of a folder by key, and the folders in it; with `recursive`, also those in all folders."""

        def send(api: Any, store: Any) -> tuple[dict[str, ObjectInfo], list[str]]:
            if not recursive:
                result = api.list_with_delimiter(store, folder or None)
                return {entry["path"]: _convert_info(entry) for entry in result["objects"]}, result["common_prefixes"]
            entries = api.list(store, folder or None, chunk_size=1000)
            return {entry["path"]: _convert_info(entry) for chunk in entries for entry in chunk}, []

        return self._request("list the folder", folder, send)

    def get(self, key: str, info: ObjectInfo | None = None) -> bytes:
        """Return the content of a small object, which must have the size and version of `info`."""

        def send(api: Any, store: Any) -> bytes:
            result = api.get(store, key)
            data, found = bytes(result.bytes()), _convert_info(result.meta)
            if info is not None:
                _check_version(found, info)
            return _check_length(data, found.num_bytes if info is None else info.num_bytes)

        return self._request("read the object", key, send)

    def get_range(self, key: str, start: int, stop: int, info: ObjectInfo) -> memoryview:
        """Return the bytes from `start` to `stop` of an object, which must have the size and version of `info`."""
        # A weak ETag never matches a condition.
        condition = {"if_match": info.version} if info.version and not info.version.startswith("W/") else {}

        def send(api: Any, store: Any) -> memoryview:
            result = api.get(store, key, options={"range": (start, stop), **condition})
            found = _convert_info(result.meta)
            _check_version(found, info)
            if found.num_bytes != info.num_bytes:
                raise _VersionError(f"it has {found.num_bytes:,} bytes instead of {info.num_bytes:,}")
            return _check_length(memoryview(result.bytes()), stop - start)

        return self._request("read the object", key, send, (start, stop))

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Call a function in one of the threads that send requests."""
        self._check_process()
        if self._pool is None:
            with self._lock:
                if self._pool is None:  # Its threads end when this object is garbage collected.
                    self._pool = DaemonPool(self._max_requests, "recordmill-request")
        return self._pool.submit(function, *arguments)

    def start_upload(self, key: str, chunks: Iterator[bytes | memoryview], chunk_bytes: int) -> Future[None]:
        """Call `upload` in a thread of its own, because it waits for chunks; any number of uploads may be open."""
        future: Future[None] = Future()

        def run() -> None:
            try:
                self.upload(key, chunks, chunk_bytes)
            except BaseException as error:  # noqa: BLE001 (raised by the future)
                future.set_exception(error)
            else:
                future.set_result(None)

        # A daemon, so that a writer that is never closed does not keep the process from ending.
        Thread(target=run, name="recordmill-upload", daemon=True).start()
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
            # The response to a request that succeeded may have been lost, and the request was sent again.
            if self.get(key) != data:
                raise

    def upload(self, key: str, chunks: Iterator[bytes | memoryview], chunk_bytes: int) -> None:
        """Write a new object by a multipart upload. After an error, no object and no part of it remains."""
        num_bytes = 0

        def count() -> Iterator[bytes | memoryview]:
            nonlocal num_bytes
            for chunk in chunks:
                num_bytes += len(chunk)
                yield chunk

        def send(api: Any, store: Any) -> None:
            api.put(store, key, count(), use_multipart=True, chunk_size=chunk_bytes, max_concurrency=4)

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
                # obstore repeats the requests of an upload except the first one, after which it takes the chunks.
                if num_bytes or error.kind not in ("connection", "http_status") or attempt == _MAX_ATTEMPTS:
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

        Requests are repeated here, where the response is checked, too. Only the parts of an upload are repeated by
        obstore, up to `part_retries` times.
        """
        self._check_process()
        for attempt in range(1, attempts + 1):
            self.traffic.requests += 1
            try:
                api = load_obstore()
                if part_retries not in self._stores:
                    self._stores[part_retries] = self._create_store(api, part_retries)
                # Any number of uploads wait for their data at the same time, so they take no slots.
                store = self._stores[part_retries]
                result = send(api, store) if part_retries else self._send(send, api, store)
            except (MissingExtraError, KeyboardInterrupt, SystemExit, GeneratorExit):
                raise
            except BaseException as error:  # noqa: BLE001 (raised below, as another class)
                # obstore raises a subclass of BaseException, PanicException, for some malformed responses.
                failure = _classify(error)
                if not failure.is_temporary or attempt == attempts:
                    self._raise(action, key, failure, byte_range, attempt)
            else:
                self.traffic.num_bytes += 0 if byte_range is None else byte_range[1] - byte_range[0]
                return result
            self.traffic.retries += 1
            _wait_for_retry(attempt)
        raise AssertionError("unreachable")

    def _create_store(self, api: Any, max_retries: int) -> Any:
        try:
            return _create_store(api, self.root, self._options, max_retries)
        except MissingExtraError:
            raise
        except Exception as error:  # noqa: BLE001 (also those of providers of credentials)
            raise _OptionsError(_describe(str(error), 0, None)) from None

    def _send(self, send: Callable[[Any, Any], T], api: Any, store: Any) -> T:
        """Send one request, so that a signal such as Ctrl-C interrupts the wait for its response."""
        slots = self._slots

        def send_in_slot() -> T:
            with slots:
                return send(api, store)

        if current_thread() is main_thread():
            return self.submit(send_in_slot).result()
        return send_in_slot()

    def _raise(
        self, action: str, key: str, failure: _Failure, byte_range: tuple[int, int] | None, attempts: int
    ) -> NoReturn:
        """Raise the error of a request. Its cause is hidden, because the text of the cause may contain secrets."""
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
                hint="open the dataset again in all processes",
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
        """Restore the attributes; connections are made when they are needed."""
        self.__dict__.update(state)
        self.traffic = Traffic()
        self._connect()


def _wait_for_retry(attempt: int) -> None:
    """Wait longer after each attempt, and for a random time, so that many clients do not repeat requests at once."""
    time.sleep(random.uniform(0.5, 1) * min(_BACKOFF_S * 2**attempt, _MAX_BACKOFF_S))  # noqa: S311 (no secret)


def _convert_info(meta: Mapping[str, Any]) -> ObjectInfo:
    modified, version = meta["last_modified"], meta["e_tag"] or ""
    if version and not version.endswith('"'):
        version = f'"{version}"'  # Some servers omit the quotes of an ETag in listings.
    return ObjectInfo(int(meta["size"]), int(modified.timestamp() * 1e9), version)


class _LengthError(Exception):
    """A response has another length than it should have."""


class _VersionError(Exception):
    """A response belongs to another version of the object."""


def _check_version(found: ObjectInfo, expected: ObjectInfo) -> None:
    # Listings of some servers have no ETags.
    if found.version and expected.version and found.version != expected.version:
        raise _VersionError(f"its version is {found.version} instead of {expected.version}")


class _OptionsError(Exception):
    """The options, or the environment variables, do not suffice to connect to a store."""


def _check_length(data: T, num_bytes: int) -> T:
    found = len(data)  # type: ignore[arg-type]
    if found != num_bytes:
        raise _LengthError(f"the response has {found:,} bytes instead of {num_bytes:,}")
    return data


class _Failure(NamedTuple):
    kind: str
    cause: str
    hint: str | None = None
    is_temporary: bool = False


_CREDENTIALS_HINT = (
    "set the credentials by the environment variables of the store, such as AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY, by AWS_PROFILE or by storage_options; for public data, use "
    'storage_options={"skip_signature": True}'
)


_MISSING_BUCKET = _Failure("missing_bucket", "the bucket does not exist", "check the spelling and the endpoint")


def _is_missing_bucket(text: str) -> bool:
    return re.search(r"NoSuchBucket|ContainerNotFound|specified bucket does not exist", text) is not None


def _classify(error: BaseException) -> _Failure:
    """Return what an exception of obstore means, without secrets."""
    name, text = type(error).__name__, str(error)
    if isinstance(error, _LengthError):
        return _Failure("wrong_length", text, is_temporary=True)
    if isinstance(error, _VersionError) or name == "PreconditionError":
        return _Failure("changed", text if isinstance(error, _VersionError) else "it has another version (ETag)")
    if isinstance(error, _OptionsError):
        return _Failure("bad_request", text, "check storage_options and the environment variables of the store")
    if isinstance(error, FileNotFoundError):
        return _MISSING_BUCKET if _is_missing_bucket(text) else _Failure("missing", "the object does not exist")
    if name == "AlreadyExistsError":
        return _Failure("exists", "the object exists")
    return _classify_response(name, text)


def _classify_response(name: str, text: str) -> _Failure:
    match, code = _STATUS.search(text), _CODE.search(text)
    status = int(match[1]) if match else 0
    cause = _describe(text, status, code)
    if re.search(r"ExpiredToken|RequestExpired|TokenRefreshRequired|token (has|is) expired", text, re.IGNORECASE):
        return _Failure("expired_credentials", f"the credentials have expired ({cause})", "renew the credentials")
    if _is_missing_bucket(text):
        return _MISSING_BUCKET
    if _CREDENTIAL_SERVERS.search(text) or (not status and re.search(r"[Cc]redential", text)):
        return _Failure("no_credentials", "no credentials were found", _CREDENTIALS_HINT)
    if status in (401, 403) or name in ("PermissionDeniedError", "UnauthenticatedError"):
        return _Failure("access_denied", f"access is denied ({cause})", _CREDENTIALS_HINT)
    if status == 416:
        return _Failure("changed", "it is shorter")
    if re.search(r"Requested \d+\.\.\d+, got \d+\.\.\d+", text):
        return _Failure("wrong_length", cause, is_temporary=True)
    if "redirect without LOCATION" in text:
        hint = "set the region of the bucket by AWS_REGION or storage_options"
        return _Failure("http_status", "the server redirects to another region", hint)
    if status:
        return _Failure("http_status", cause, is_temporary=status in _TEMPORARY_STATUS)
    if name in ("NotSupportedError", "InvalidPathError", "UnknownConfigurationKeyError", "ValueError", "TypeError"):
        return _Failure("bad_request", cause)
    return _Failure("connection", cause, is_temporary=True)


def _describe(text: str, status: int, code: re.Match[str] | None) -> str:
    """Return one short line for the message of obstore, without the body of the response."""
    if code is not None:
        return redact(f"{code[1]}: {code[2]}" if code[2] else code[1])
    if status:
        return f"the server returned the status {status}"
    causes = re.findall(r'(?:source|message): "([^"]+)"', text) or [text.partition("\n")[0]]
    return redact(causes[-1])[:300]


def _create_store(api: Any, root: str, options: Mapping[str, Any], max_retries: int) -> Any:
    """Connect to a store; settings come from `options`, otherwise from the environment."""
    from importlib import import_module

    from_url = import_module(f"{api.__name__}.store").from_url
    settings = {name: value for name, value in options.items() if name not in _ARGUMENTS}
    arguments = {name: options[name] for name in _ARGUMENTS if name in options}
    arguments["retry_config"] = {"max_retries": max_retries} | arguments.get("retry_config", {})
    arguments["client_options"] = _CLIENT_OPTIONS | _allow_http(root, settings) | arguments.get("client_options", {})
    if root.startswith(("s3://", "s3a://")) and "credential_provider" not in arguments:
        arguments |= _load_aws_profile(settings)
    return from_url(root, **arguments, **settings)


def _allow_http(root: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Allow connections without TLS if the endpoint says so. obstore ignores AWS_ALLOW_HTTP beside other options."""
    names = [name for name in os.environ if re.fullmatch(r"(AWS|GOOGLE|AZURE)\w*_(ENDPOINT(_URL\w*)?|BASE_URL)", name)]
    endpoints = [os.environ[name] for name in names]
    endpoints += [str(value) for name, value in settings.items() if "endpoint" in name.lower()]
    is_plain = root.startswith("http://") or any(endpoint.startswith("http://") for endpoint in endpoints)
    return {"allow_http": True} if is_plain else {}


def _load_aws_profile(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the credentials of a profile in ``~/.aws``, unless the environment or the options have others."""
    profile = settings.pop("profile", None) or os.environ.get("AWS_PROFILE")
    given = {name.lower().removeprefix("aws_") for name in (*settings, *os.environ)}
    if not profile and not given.isdisjoint({"access_key_id", "skip_signature", "web_identity_token_file"}):
        return {}
    folder = os.path.join(os.path.expanduser("~"), ".aws")
    names = [os.environ.get("AWS_SHARED_CREDENTIALS_FILE", os.path.join(folder, "credentials"))]
    names.append(os.environ.get("AWS_CONFIG_FILE", os.path.join(folder, "config")))
    if not profile and not any(map(os.path.exists, names)):
        return {}
    try:
        import boto3
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError as error:
        raise MissingExtraError(f"a profile of AWS needs {error.name}", hint="pip install boto3") from None
    return {"credential_provider": Boto3CredentialProvider(boto3.Session(profile_name=profile))}


# Id of the process in which obstore was first used.
_obstore_process: int | None = None
# Path of its native module.
_native_path = ""


def load_obstore() -> Any:
    """Import obstore; in a forked process, a copy of it."""
    global _obstore_process, _native_path  # noqa: PLW0603 (one per process)
    try:
        import obstore
        import obstore._obstore as native
    except ImportError:
        message = "remote storage needs obstore"
        raise MissingExtraError(message, hint="pip install 'recordmill[cloud]'") from None
    if _obstore_process is None:
        _obstore_process, _native_path = os.getpid(), native.__file__
    return obstore if _obstore_process == os.getpid() else _load_copy(os.getpid())


@cache
def _load_copy(process: int) -> Any:
    """Load obstore a second time.

    Its native module has a Tokio runtime, whose threads a forked process does not have, so that every request would
    wait forever. There is no way to restart the runtime, but another copy of the module has a runtime of its own.
    """
    del process
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "obstore"}
    try:
        with open(_native_path, "rb") as original, open(os.memfd_create("obstore"), "wb") as copy:
            copy.write(original.read())
            copy.flush()
            loader = ExtensionFileLoader("obstore._obstore", f"/proc/self/fd/{copy.fileno()}")
            spec = importlib.util.spec_from_loader(loader.name, loader)
            assert spec is not None  # noqa: S101 (a loader always has a spec)
            module = sys.modules[loader.name] = importlib.util.module_from_spec(spec)
            loader.exec_module(module)
        import obstore.store

        return obstore
    finally:
        _INHERITED.append(hidden)

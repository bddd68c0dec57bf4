"""Explain why requests to an object store failed, without the secrets in the messages of obstore."""

from __future__ import annotations

import re
from typing import NamedTuple

from recordmill.storage.addresses import redact

_TEMPORARY_STATUS = (408, 409, 425, 429, 500, 502, 503, 504)
_STATUS = re.compile(r"status code: (\d{3})")
# Matches addresses of metadata servers of clouds. obstore requests credentials from these servers if none are set.
_CREDENTIAL_SERVERS = re.compile(r"169\.254\.|metadata\.google|/latest/api/token|/latest/meta-data")
_CODE = re.compile(r"<Code>([\w.]+)</Code>(?:\s*<Message>([^<]{0,300})</Message>)?")


class LengthError(Exception):
    """Raised if the length of a response differs from the expected length."""


class VersionError(Exception):
    """Raised if a response belongs to another version of the object."""


class OptionsError(Exception):
    """Raised if options and environment variables are not sufficient to connect to a store."""


class Failure(NamedTuple):
    """Meaning of an error: its kind (see `RemoteError`), its cause in words, and whether it may be temporary."""

    kind: str
    cause: str
    hint: str | None = None
    is_temporary: bool = False


_CREDENTIALS_HINT = (
    "set the credentials by the environment variables of the store, such as AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY, by AWS_PROFILE or by storage_options; for public data, use "
    'storage_options={"skip_signature": True}'
)


_MISSING_BUCKET = Failure("missing_bucket", "the bucket does not exist", "check the spelling and the endpoint")


def _is_missing_bucket(text: str) -> bool:
    return re.search(r"NoSuchBucket|ContainerNotFound|specified bucket does not exist", text) is not None


def classify_failure(error: BaseException) -> Failure:
    """Return the meaning of an exception of obstore, without secrets."""
    name, text = type(error).__name__, str(error)
    if isinstance(error, LengthError):
        return Failure("wrong_length", text, is_temporary=True)
    if isinstance(error, VersionError) or name == "PreconditionError":
        return Failure("changed", text if isinstance(error, VersionError) else "its version (ETag) is different")
    if isinstance(error, OptionsError):
        return Failure("bad_request", text, "check storage_options and the environment variables of the store")
    if "InvalidHeaderValue" in text:
        hint = "remove line breaks and other control characters from the credentials and options of the store"
        return Failure("bad_request", "a credential or an option contains an invalid character", hint)
    if "Error parsing Path" in text:
        hint = "rename the object: empty parts of a key, '.', '..' and control characters are not supported"
        return Failure("bad_request", describe_cause(text, 0, None), hint)
    if isinstance(error, FileNotFoundError):
        return _MISSING_BUCKET if _is_missing_bucket(text) else Failure("missing", "the object does not exist")
    if name == "AlreadyExistsError":
        return Failure("exists", "the object exists")
    return _classify_response(name, text)


def _classify_response(name: str, text: str) -> Failure:
    match, code = _STATUS.search(text), _CODE.search(text)
    status = int(match[1]) if match else 0
    cause = describe_cause(text, status, code)
    if _is_missing_bucket(text):
        return _MISSING_BUCKET
    refused = _classify_access_error(name, text, status, cause)
    if refused is not None:
        return refused
    if status == 416:
        return Failure("changed", "it is shorter than before")
    if re.search(r"Requested \d+\.\.\d+, got \d+\.\.\d+", text):
        return Failure("wrong_length", cause, is_temporary=True)
    if status:
        return Failure("http_status", cause, is_temporary=status in _TEMPORARY_STATUS)
    if name in (
        "NotSupportedError",
        "InvalidPathError",
        "UnknownConfigurationKeyError",
        "ValueError",
        "TypeError",
        "RuntimeError",
    ):
        return Failure("bad_request", cause)
    return Failure("connection", cause, is_temporary=True)


def _classify_access_error(name: str, text: str, status: int, cause: str) -> Failure | None:
    """Return the failure if the credentials or the region are wrong; otherwise return None."""
    if re.search(r"ExpiredToken|RequestExpired|TokenRefreshRequired|token (has|is) expired", text, re.IGNORECASE):
        return Failure("expired_credentials", f"the credentials have expired ({cause})", "renew the credentials")
    if _CREDENTIAL_SERVERS.search(text) or (not status and re.search(r"[Cc]redential", text)):
        return Failure("no_credentials", "no credentials were found", _CREDENTIALS_HINT)
    if status in (401, 403) or name in ("PermissionDeniedError", "UnauthenticatedError"):
        return Failure("access_denied", f"access is denied ({cause})", _CREDENTIALS_HINT)
    if "redirect without LOCATION" in text:
        hint = "set the region of the bucket by AWS_REGION or storage_options"
        return Failure("http_status", "the server redirects to another region", hint)
    return None


def describe_cause(text: str, status: int, code: re.Match[str] | None) -> str:
    """Summarize the message of obstore in one short line, without the body of the response."""
    if code is not None:
        return redact(f"{code[1]}: {code[2]}" if code[2] else code[1])
    if status:
        return f"the server returned the status {status}"
    causes = re.findall(r'(?:source|message): "([^"]+)"', text) or [text.partition("\n")[0]]
    return redact(causes[-1])[:300]

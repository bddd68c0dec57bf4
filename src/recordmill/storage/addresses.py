"""Recognize, split and expand addresses of remote files, such as ``s3://bucket/train``, and hide secrets in them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from recordmill.errors import UnsupportedPathError

_BUCKET_SCHEMES, _WEB_SCHEMES = ("s3", "s3a", "gs", "az"), ("https", "http")
SCHEMES = (*_BUCKET_SCHEMES, "abfs", "abfss", *_WEB_SCHEMES)
# Matches an address such as s3://bucket/train. It also matches s3:/bucket/train, because pathlib removes one slash.
_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/(?P<slash>/?)(?P<rest>.*)", re.DOTALL)
_REMOTE = re.compile(rf"(?:{'|'.join(SCHEMES)})://")
_BRACES = re.compile(r"\{(?:(?P<first>\d+)\.\.(?P<last>\d+)|(?P<words>[^{}]*,[^{}]*))\}")
# A range in braces with more numbers than this is considered a mistake.
_MAX_EXPANDED = 1_000_000
# Matches user names, passwords and query values in an address, and credentials in messages of object stores.
_SIGNED_VALUES = r"<(AWSAccessKeyId|StringToSign\w*|Signature\w*|Token[-\w]*|CanonicalRequest\w*)>.*?</\1>"
_SECRETS = (
    (re.compile(r"(?<=://)[^/@\s]+@"), "…@"),
    (re.compile(r"(?<=[?&])([^=&\s\"'<>]+)=[^&\s\"'<>)]*"), r"\1=…"),
    (re.compile(_SIGNED_VALUES, re.DOTALL), ""),
)


class Address(NamedTuple):
    """An address, split into a root and the name of an object. One connection serves all objects of a root.

    Parameters
    ----------
    root : str
        Bucket, container or host, such as ``s3://bucket``. A signed address is a root, with an empty key.
    key : str
        Name of the object, without percent-encoding.
    """

    root: str
    key: str


def is_address(path: str) -> bool:
    """Return True if a path is the address of a remote file."""
    return _REMOTE.match(path) is not None


def is_web_address(path: str) -> bool:
    """Return True if a path is the address of a file on a web server, which is read-only and cannot list folders."""
    return path.startswith(("https://", "http://"))


def check_path(path: str | os.PathLike[str]) -> str:
    """Return a local path or a supported address as str; raise UnsupportedPathError for any other address."""
    name = os.fsdecode(path)
    match = _ADDRESS.match(name)
    if match is None or (not match["slash"] and os.path.isdir(f"{match['scheme']}:")):
        return name
    scheme = match["scheme"].lower()
    if scheme == "file":
        return unquote(f"/{match['rest'].lstrip('/').removeprefix('localhost/')}")
    if scheme not in SCHEMES:
        raise UnsupportedPathError(
            f"addresses with the scheme {match['scheme']!r} are not supported",
            kind="remote_path",
            shard=redact(name),
            hint=f"use a local path, or an address such as {', '.join(f'{known}://' for known in SCHEMES)}",
        )
    bucket, slash, key = match["rest"].partition("/")
    if not bucket:
        message, hint = f"{name} has no bucket", "use the address of a folder or an object"
        raise UnsupportedPathError(message, kind="remote_path", shard=name, hint=hint)
    if scheme in _BUCKET_SCHEMES and re.search("[@:]", bucket):
        raise UnsupportedPathError(
            "the name of a bucket must not contain '@' or ':'",
            kind="remote_path",
            shard=redact(name),
            hint="set credentials and endpoints by the environment variables of the store or by storage_options",
        )
    return f"{scheme}://{bucket}{slash}{key if scheme in _WEB_SCHEMES else key.lstrip('/')}"


def check_output_path(path: str | os.PathLike[str]) -> str:
    """Return the path of a destination as str; raise UnsupportedPathError if it cannot be written."""
    name = check_path(path)
    if is_web_address(name):
        raise UnsupportedPathError(
            "files cannot be written to a web server",
            kind="remote_path",
            shard=redact(name),
            hint="use a local path, or an address such as s3://bucket/folder",
        )
    return name


def absolute_path(path: str) -> str:
    """Return the absolute path of a local file; return an address unchanged."""
    return path if is_address(path) else os.path.abspath(path)


def normalize_address(address: str) -> str:
    """Return the same text for different spellings of an address, to compare addresses."""
    return re.sub("^s3a://", "s3://", address.rstrip("/"))


def split_address(address: str) -> Address:
    """Split an address into its root and its key."""
    if not is_web_address(address):
        scheme, _, rest = address.partition("://")
        bucket, _, key = rest.partition("/")
        return Address(f"{scheme}://{bucket}", key)
    parts = urlsplit(address)
    if parts.query:
        return Address(address, "")
    return Address(f"{parts.scheme}://{parts.netloc}", unquote(parts.path.lstrip("/")))


def expand_braces(address: str) -> Iterator[str]:
    """Yield an address for each number of ``{00000..00127}``, or for each word of ``{train,test}``."""
    match = _BRACES.search(address)
    if match is None:
        yield address
        return
    if match["words"] is not None:
        choices: Iterator[str] = iter(match["words"].split(","))
    else:
        first, last = int(match["first"]), int(match["last"])
        if not 0 <= last - first < _MAX_EXPANDED:
            raise ValueError(f"{match[0]} must be an increasing range of at most {_MAX_EXPANDED:,} numbers")
        width = len(match["first"])
        choices = (f"{number:0{width}d}" for number in range(first, last + 1))
    for choice in choices:
        yield from expand_braces(f"{address[: match.start()]}{choice}{address[match.end() :]}")


def describe_path(path: str) -> str:
    """Return a path as shown in messages: an address without secrets, or the unchanged local path."""
    return redact(path) if is_address(path) else path


def redact(text: str) -> str:
    """Return a text without the passwords, signatures and tokens in it."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text

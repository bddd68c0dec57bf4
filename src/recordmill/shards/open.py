"""Open a shard. Detect its compression and format from the content or, if that fails, from the suffix."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from recordmill import _core
from recordmill.errors import FormatError, RecordmillError
from recordmill.formats.base import Format
from recordmill.formats.detect import HEAD_BYTES, describe_content, detect_format, guess_format_from_name
from recordmill.formats.registry import FORMATS, get_format
from recordmill.shards.native_errors import convert_error, native_errors
from recordmill.storage.addresses import describe_path
from recordmill.storage.base import Storage
from recordmill.storage.compression import (
    Compression,
    check_compression,
    detect_compression,
    detect_compression_by_trial,
)

# Default of max_record_bytes.
DEFAULT_MAX_RECORD_BYTES = 1 << 30
# By default, the decompressed size of a shard is limited to the larger of these two: a number of bytes, and a multiple
# of the file size.
_DEFAULT_MAX_BYTES = 64 << 20
_DEFAULT_MAX_RATIO = 250
# Hint of the error that is raised for a file that is not a shard.
NAME_SHARDS_HINT = "name only the shards"
# For a file with fewer bytes than this, any declared format is accepted, because the file may be the rest of a
# truncated shard.
_MIN_HEAD_BYTES = 16


@dataclass(frozen=True, slots=True)
class OpenShard:
    """An open shard with its detected format.

    Parameters
    ----------
    paths : tuple of str
        One file, or several if records continue in the next file.
    source : _core.Source
        Uncompressed bytes of the files.
    format : Format
    compression : str or None
        Either "gzip" or "zlib".
    storage : Storage
        Storage of the files, and of the index files beside them.
    """

    paths: tuple[str, ...]
    source: _core.Source
    format: Format
    compression: Compression | None
    storage: Storage

    @property
    def name(self) -> str:
        """Name of the shard in messages."""
        first, *rest = map(describe_path, self.paths)
        return f"{first} … {os.path.basename(rest[-1])}" if rest else first


def open_shard(
    paths: Sequence[str],
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    max_decompressed_bytes: int | None = None,
    max_record_bytes: int = DEFAULT_MAX_RECORD_BYTES,
    *,
    storage: Storage,
) -> OpenShard:
    """Open a shard for reading."""
    if max_record_bytes < 1:
        raise ValueError(f"max_record_bytes must be a positive integer, got {max_record_bytes}")
    # No record is longer than 2^63 bytes.
    record_limit = min(max_record_bytes, 1 << 63)
    name, files = describe_path(paths[0]), tuple(paths)
    declared = get_format(format) if format is not None else None
    with native_errors(name):
        source = storage.open(files)
        head = bytes(memoryview(source.read_stored(0, HEAD_BYTES)))
    detected = _detect_format(head, source.num_bytes, declared)
    is_plain = detected is not None and (declared is None or detected is declared)
    chosen: Compression | None
    if compression == "auto":
        chosen = None if is_plain else detect_compression(head)
    else:
        chosen = check_compression(compression)
        actual = detect_compression(head)
        if chosen is not None and head and actual != chosen:
            raise _compression_mismatch_error(name, chosen, actual if detect_format(head, None) is None else None)
    if chosen is not None:
        # A zlib header has only two bytes, so an uncompressed shard may begin with the same bytes by chance.
        may_be_plain = compression == "auto" and chosen == "zlib"
        limit = max_decompressed_bytes
        if limit is None:
            limit = _find_decompression_limit(files, storage)
        with native_errors(name):
            uncompressed = storage.open(files, chosen, limit)
        content_format = _detect_compressed_format(name, uncompressed, declared, may_be_plain=may_be_plain)
        if content_format is not None:
            return OpenShard(files, uncompressed.with_record_limit(record_limit), content_format, chosen, storage)
    plain_format = _choose_format(name, declared, detected, head)
    if compression != "auto" and not is_plain and (stream := detect_compression_by_trial(head)) is not None:
        raise _compression_mismatch_error(name, "no compression", stream)
    return OpenShard(files, source.with_record_limit(record_limit), plain_format, None, storage)


def open_known_shard(
    paths: Sequence[str],
    format: str,  # noqa: A002
    compression: str | None,
    max_decompressed_bytes: int | None = None,
    max_record_bytes: int = DEFAULT_MAX_RECORD_BYTES,
    *,
    storage: Storage,
) -> OpenShard:
    """Open a shard of known format and compression, without reading from it."""
    chosen, files = check_compression(compression), tuple(paths)
    limit = 0
    if chosen is not None:
        limit = max_decompressed_bytes or _find_decompression_limit(files, storage)
    source = storage.open(files, chosen, limit).with_record_limit(min(max_record_bytes, 1 << 63))
    return OpenShard(files, source, get_format(format), chosen, storage)


def _find_decompression_limit(paths: Sequence[str], storage: Storage) -> int:
    return max(_DEFAULT_MAX_BYTES, _DEFAULT_MAX_RATIO * sum(storage.stat(path).num_bytes for path in paths))


def _detect_compressed_format(
    name: str, source: _core.Source, declared: Format | None, *, may_be_plain: bool
) -> Format | None:
    """Detect the format inside a compressed shard; return None if the file is probably not compressed."""
    head, damage = _read_head_before_damage(source, name)
    if damage is not None:
        detected = _detect_format(head, None, declared)
        if may_be_plain and detected is None:
            return None
        # Ignore other damage here. An error is raised when the affected records are read.
        if damage.kind == "limit_exceeded" or (detected is None and declared is None):
            raise damage
    return _choose_format(name, declared, _detect_format(head, source.num_bytes, declared), head)


def _read_head_before_damage(source: _core.Source, name: str) -> tuple[bytes, RecordmillError | None]:
    """Decompress the first bytes of a shard, up to the first damage; return the bytes, and the error or None."""
    with native_errors(name):
        try:
            return bytes(memoryview(source.read(0, HEAD_BYTES))), None
        except _core.CoreFault as error:
            damage = convert_error(error.args, name)
        return bytes(memoryview(source.read(0, damage.offset))) if damage.offset else b"", damage


def _detect_format(head: bytes, num_bytes: int | None, declared: Format | None) -> Format | None:
    """Detect the format from uncompressed bytes. If the bytes fit the declared format, return the declared format."""
    if declared is not None and declared.looks_like(head, num_bytes):
        return declared
    return detect_format(head, num_bytes)


def _choose_format(name: str, declared: Format | None, detected: Format | None, head: bytes) -> Format:
    """Return the first known format in this order: declared, detected from the content, derived from the suffix.

    Raise FormatError if the content contradicts the declared format, or if no format is known.
    """
    if declared is not None:
        if detected is not None and detected is not declared:
            raise FormatError(
                "the shard does not have the declared format",
                kind="wrong_format",
                shard=name,
                expected=declared.name,
                found=detected.name,
                hint=f'omit format= to detect it, or use format="{detected.name}"',
            )
        if detected is None and len(head) >= _MIN_HEAD_BYTES and _is_other_file_type(head):
            raise _unknown_format_error(name, head, declared.name)
        return declared
    if detected is not None:
        return detected
    named = guess_format_from_name(os.path.basename(name))
    if named is not None and not (head and _is_other_file_type(head)):
        return named
    raise _unknown_format_error(name, head, " or ".join(FORMATS))


def _is_other_file_type(head: bytes) -> bool:
    """Return True if the first bytes of a file show that it is not a shard but, for example, an image."""
    return describe_content(head) != "of no known format" and any(head)


def _unknown_format_error(name: str, head: bytes, expected: str) -> FormatError:
    return FormatError(
        f"the file is {describe_content(head)}",
        kind="wrong_format",
        shard=name,
        expected=expected,
        found=head[:16].hex(" ") or "0 bytes",
        hint=NAME_SHARDS_HINT if head and _is_other_file_type(head) else "declare the format with format=...",
    )


def _compression_mismatch_error(name: str, declared: str, found: str | None) -> RecordmillError:
    return FormatError(
        "the shard does not have the declared compression",
        kind="wrong_compression",
        shard=name,
        expected=declared,
        found=found or "no compression",
        hint="omit compression= to detect it",
    )

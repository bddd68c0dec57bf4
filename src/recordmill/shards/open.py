"""Opens a shard: finds out its compression and format from content, with names as hints and arguments as orders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from recordmill import _core
from recordmill.errors import FormatError, RecordmillError
from recordmill.formats.base import Format
from recordmill.formats.detect import HEAD_BYTES, describe, from_name, recognize
from recordmill.formats.registry import get_format
from recordmill.shards.native_errors import convert_error, native_errors
from recordmill.storage.compression import Compression, check_compression, detect_compression, detect_stream
from recordmill.storage.local import LOCAL

# A stream may inflate to this many bytes, or to this many times its size if that is more.
FREE_BYTES = 4 << 30
MAX_RATIO = 250
# Hint where a file is something else than a shard.
NAME_THEM = "name the shards themselves"
# Fewer bytes than this do not contradict a declared format: they may be what is left of a cut shard.
_TELLING_BYTES = 16


@dataclass(frozen=True, slots=True)
class OpenShard:
    """An open shard and what it is.

    Parameters
    ----------
    paths : tuple of str
        One file; several where a shard goes on in the next file.
    source : _core.Source
    format : Format
    compression : {"gzip", "zlib"} or None
    """

    paths: tuple[str, ...]
    source: _core.Source
    format: Format
    compression: Compression | None

    @property
    def name(self) -> str:
        """Name of the shard in messages."""
        return self.paths[0] if len(self.paths) == 1 else f"{self.paths[0]} … {os.path.basename(self.paths[-1])}"


def open_shard(
    paths: Sequence[str],
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    max_decompressed_bytes: int | None = None,
) -> OpenShard:
    """Open a shard for reading."""
    name = paths[0]
    declared = get_format(format) if format is not None else None
    with native_errors(name):
        raw = LOCAL.open(paths, None, 0)
        stored = bytes(memoryview(raw.read_stored(0, HEAD_BYTES)))
    if compression != "auto":
        wanted = check_compression(compression)
    else:
        plain = declared.looks_like(stored, raw.num_bytes) if declared else recognize(stored, raw.num_bytes) is not None
        wanted = None if plain else detect_compression(stored)
    if wanted is None:
        return _plain(paths, raw, declared, stored, compression)
    return _compressed(paths, wanted, declared, stored, compression, max_decompressed_bytes)


def _plain(
    paths: Sequence[str], raw: _core.Source, declared: Format | None, head: bytes, compression: str | None
) -> OpenShard:
    found = _choose(paths[0], declared, head, raw.num_bytes)
    if compression is None or compression == "none":
        seen = detect_stream(head)
        if seen is not None and not found.looks_like(head, raw.num_bytes):
            raise _other_compression(paths[0], "no compression", seen)
    return OpenShard(tuple(paths), raw, found, None)


def _compressed(
    paths: Sequence[str],
    wanted: Compression,
    declared: Format | None,
    stored: bytes,
    asked: str | None,
    max_decompressed_bytes: int | None,
) -> OpenShard:
    name = paths[0]
    if stored and detect_compression(stored) != wanted:
        seen = detect_compression(stored) if recognize(stored, None) is None else None
        raise _other_compression(name, wanted, seen)
    limit = max_decompressed_bytes
    if limit is None:
        limit = max(FREE_BYTES, MAX_RATIO * sum(LOCAL.stat(path).num_bytes for path in paths))
    with native_errors(name):
        source = LOCAL.open(paths, wanted, limit)
    head, damage = _readable(source, name)
    if damage is not None:
        named = declared if declared is not None and declared.looks_like(head, None) else None
        known = recognize(head, None) or named
        if asked == "auto" and wanted == "zlib" and known is None:
            # Two bytes make a zlib stream by chance: what does not inflate may be something else.
            return _plain(paths, LOCAL.open(paths, None, 0), declared, stored, "auto")
        if damage.kind == "limit_exceeded" or (known is None and declared is None):
            raise damage
    return OpenShard(tuple(paths), source, _choose(name, declared, head, source.num_bytes), wanted)


def _readable(source: _core.Source, name: str) -> tuple[bytes, RecordmillError | None]:
    """First bytes of a shard, in front of damage if there is any, and the damage, which reading tells in its place."""
    try:
        return bytes(memoryview(source.read(0, HEAD_BYTES))), None
    except _core.CoreFault as error:
        damage = convert_error(error.args, name)
    sound = damage.offset or 0
    return bytes(memoryview(source.read(0, sound))) if sound else b"", damage


def _choose(name: str, declared: Format | None, head: bytes, num_bytes: int | None) -> Format:
    seen = recognize(head, num_bytes)
    if declared is not None:
        if seen is not None and seen is not declared and not declared.looks_like(head, num_bytes):
            raise FormatError(
                "the shard is of another format than declared",
                kind="wrong_format",
                shard=name,
                expected=declared.name,
                found=seen.name,
                hint=f'leave format= out, or say format="{seen.name}"',
            )
        if seen is None and len(head) >= _TELLING_BYTES and _is_foreign(head):
            raise _unknown(name, head, declared.name)
        return declared
    if seen is not None:
        return seen
    hinted = from_name(os.path.basename(name))
    if hinted is not None and not (head and _is_foreign(head)):
        return hinted
    raise _unknown(name, head, "tfrecord, ofrecord or recordio")


def _is_foreign(head: bytes) -> bool:
    return describe(head) != "of no known format" and any(head)


def _unknown(name: str, head: bytes, expected: str) -> FormatError:
    return FormatError(
        f"the file is {describe(head)}",
        kind="wrong_format",
        shard=name,
        expected=expected,
        found=head[:16].hex(" ") or "0 bytes",
        hint=NAME_THEM if head and _is_foreign(head) else "say what it is with format=...",
    )


def _other_compression(name: str, declared: str, seen: str | None) -> RecordmillError:
    return FormatError(
        "the shard is compressed otherwise than declared",
        kind="wrong_compression",
        shard=name,
        expected=declared,
        found=seen or "no compression",
        hint="leave compression= out: it is found from the content",
    )

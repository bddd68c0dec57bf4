"""Damaged gzip and zlib files, and valid ones with unusual features."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from recordmill.testing.damage.base import flip_bit

GZIP_HEADER_BYTES = 10
GZIP_TRAILER_BYTES = 8
ZLIB_TRAILER_BYTES = 4


@dataclass(frozen=True)
class CompressedFile:
    """A compressed file, with the content that a reader must return and the fault that the reader must report.

    Attributes
    ----------
    name : str
        Unique within `build_compressed_files`.
    container : str
        "gzip" or "zlib".
    data : bytes
        The file.
    content : bytes
        The uncompressed bytes. A reader returns all of them if `kind` is None or `offset` is not None, otherwise a
        part from the start.
    kind : str or None
        "bad_compression", or None if the stream is intact.
    offset : int or None
        Uncompressed offset of the fault, or None if it depends on how far ahead a reader inflates.
    """

    name: str
    container: str
    data: bytes = field(repr=False)
    content: bytes = field(repr=False)
    kind: str | None = None
    offset: int | None = None

    def __str__(self) -> str:
        """Return the name of the file, which pytest uses as the id of the test."""
        return self.name


def build_compressed_files(content: bytes) -> list[CompressedFile]:
    """Compress `content` into intact and damaged gzip and zlib files. `content` must have at least 64 bytes."""
    if len(content) < 64:
        raise ValueError("content must have 64 bytes or more")
    return [*_build_intact_files(content), *_build_damaged_gzip_files(content), *_build_damaged_zlib_files(content)]


def _build_intact_files(content: bytes) -> Iterator[CompressedFile]:
    half = len(content) // 2
    first, second, empty = (gzip.compress(piece, mtime=0) for piece in (content[:half], content[half:], b""))
    for level in (0, 1, 6, 9):
        yield CompressedFile(f"gzip_level_{level}", "gzip", gzip.compress(content, level, mtime=0), content)
        yield CompressedFile(f"zlib_level_{level}", "zlib", zlib.compress(content, level), content)
    yield CompressedFile("gzip_two_members", "gzip", first + second, content)
    yield CompressedFile("gzip_empty_member_between", "gzip", first + empty + second, content)
    yield CompressedFile("gzip_zero_padding", "gzip", gzip.compress(content, mtime=0) + bytes(512), content)
    yield CompressedFile("gzip_of_no_bytes", "gzip", empty, b"")
    yield CompressedFile("zlib_of_no_bytes", "zlib", zlib.compress(b""), b"")


def _build_damaged_gzip_files(content: bytes) -> Iterator[CompressedFile]:
    whole = gzip.compress(content, mtime=0)

    def build_file_with_damaged_end(name: str, data: bytes) -> CompressedFile:
        return CompressedFile(name, "gzip", data, content, "bad_compression", len(content))

    for left in range(1, GZIP_HEADER_BYTES):
        yield CompressedFile(f"gzip_cut_in_header_{left}", "gzip", whole[:left], b"", "bad_compression", 0)
    cut = (GZIP_HEADER_BYTES + len(whole) - GZIP_TRAILER_BYTES) // 2
    yield CompressedFile("gzip_cut_in_data", "gzip", whole[:cut], content, "bad_compression")
    for missing in (1, 4, 8):
        yield build_file_with_damaged_end(f"gzip_without_last_{missing}", whole[:-missing])
    yield build_file_with_damaged_end("gzip_wrong_crc", flip_bit(whole, 8 * (len(whole) - 8)))
    yield build_file_with_damaged_end("gzip_wrong_length", flip_bit(whole, 8 * (len(whole) - 4)))
    yield build_file_with_damaged_end("gzip_garbage_appended", whole + b"garbage")
    yield build_file_with_damaged_end("gzip_second_member_cut", whole + whole[:5])
    yield CompressedFile("gzip_wrong_magic", "gzip", flip_bit(whole, 0), b"", "bad_compression", 0)
    yield CompressedFile("gzip_wrong_method", "gzip", flip_bit(whole, 16), b"", "bad_compression", 0)
    yield CompressedFile("gzip_is_zlib", "gzip", zlib.compress(content), b"", "bad_compression", 0)


def _build_damaged_zlib_files(content: bytes) -> Iterator[CompressedFile]:
    whole = zlib.compress(content)

    def build_file_with_damaged_end(name: str, data: bytes) -> CompressedFile:
        return CompressedFile(name, "zlib", data, content, "bad_compression", len(content))

    yield CompressedFile("zlib_cut_in_header", "zlib", whole[:1], b"", "bad_compression", 0)
    yield CompressedFile("zlib_cut_in_data", "zlib", whole[: len(whole) // 2], content, "bad_compression")
    for missing in (1, ZLIB_TRAILER_BYTES):
        yield build_file_with_damaged_end(f"zlib_without_last_{missing}", whole[:-missing])
    yield build_file_with_damaged_end("zlib_wrong_checksum", flip_bit(whole, 8 * len(whole) - 1))
    yield build_file_with_damaged_end("zlib_garbage_appended", whole + b"garbage")
    yield CompressedFile("zlib_wrong_header", "zlib", flip_bit(whole, 8), b"", "bad_compression", 0)
    yield CompressedFile("zlib_is_gzip", "zlib", gzip.compress(content, mtime=0), b"", "bad_compression", 0)

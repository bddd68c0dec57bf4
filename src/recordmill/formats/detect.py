"""Detect the format of a shard from its content or its name; describe files that are not shards."""

from __future__ import annotations

from recordmill.formats.base import Format
from recordmill.formats.registry import FORMATS

# Number of bytes from the start of a shard that suffice to detect its format.
HEAD_BYTES = 64 << 10

# Kinds of files that are not shards: offset of the signature, signature, and description for error messages.
_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"version https://git-lfs", "a Git LFS pointer, not the file itself (git lfs pull fetches it)"),
    (257, b"ustar", "a tar archive"),
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"BZh", "bzip2-compressed"),
    (0, b"\xfd7zXZ\x00", "xz-compressed"),
    (0, b"\x28\xb5\x2f\xfd", "zstd-compressed"),
    (0, b"PAR1", "a Parquet file"),
    (0, b"ARROW1", "an Arrow file"),
    (0, b"\x89HDF\r\n", "an HDF5 file"),
    (0, b"\x89PNG\r\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"\x93NUMPY", "a NumPy array file"),
    (0, b"%PDF", "a PDF document"),
    (0, b"\x7fELF", "a program"),
)


def detect_format(head: bytes, num_bytes: int | None) -> Format | None:
    """Detect the format of a shard from its uncompressed content.

    Parameters
    ----------
    head : bytes
        The first bytes of the shard, up to `HEAD_BYTES`.
    num_bytes : int or None
        Length of the uncompressed shard in bytes, if known.

    Returns
    -------
    Format or None
        None if no format matches.
    """
    for format_ in FORMATS.values():
        if format_.looks_like(head, num_bytes):
            return format_
    return None


def guess_format_from_name(name: str) -> Format | None:
    """Guess the format of a shard from its file name. Used if the content matches no format.

    Parameters
    ----------
    name : str

    Returns
    -------
    Format or None
    """
    stem = name.lower()
    for compressed in (".gz", ".gzip", ".zlib", ".zz"):
        stem = stem.removesuffix(compressed)
    for format_ in FORMATS.values():
        if stem.endswith(format_.suffixes) or any(f"{suffix}-" in stem for suffix in format_.suffixes):
            return format_
    base = stem.rsplit("/", 1)[-1]
    return next((format_ for format_ in FORMATS.values() if base.startswith(format_.prefixes)), None)


def describe_content(head: bytes) -> str:
    """Describe the content of a file that is not a shard, for an error message.

    Parameters
    ----------
    head : bytes

    Returns
    -------
    str
        Completes the sentence "the file is ...".
    """
    if not head:
        return "empty"
    for offset, signature, words in _SIGNATURES:
        if head[offset : offset + len(signature)] == signature:
            return words
    start = head[:1024].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html", b"<?xml")):
        return "an HTML or XML page (perhaps an error page that was saved instead of a download)"
    if not any(head):
        return "zeros (perhaps a download that never finished)"
    return "text" if _is_text(head[:4096]) else "of no known format"


def _is_text(head: bytes) -> bool:
    return all(byte >= 32 or byte in b"\t\r\n\f" for byte in head) and b"\x7f" not in head

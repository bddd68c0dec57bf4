"""Opening a shard: format and compression are detected from the content."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

import recordmill as rm
from tests.shards.helpers import FORMATS, encode_message, write_shard

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d7a" * 16 + b"\nsize 12345\n"


def tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo("a.jpg")
        entry.size = 3
        archive.addfile(entry, io.BytesIO(b"abc"))
    return buffer.getvalue()


OTHER_FILES = {
    "html": (b"<!DOCTYPE html>\n<html><body>404 Not Found</body></html>\n", "HTML"),
    "xml": (b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "HTML or XML"),
    "lfs": (LFS, "Git LFS pointer"),
    "text": (b"just some description in a file\nand another line\n", "text"),
    "tar": (tar(), "tar archive"),
    "zip": (b"PK\x03\x04" + bytes(40), "zip archive"),
    "png": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(30), "PNG"),
    "jpeg": (b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(30), "JPEG"),
    "numpy": (b"\x93NUMPY\x01\x00v\x00{'descr'" + bytes(30), "NumPy"),
    "bzip2": (b"BZh91AY&SY" + bytes(30), "bzip2"),
}


@pytest.mark.parametrize("name", OTHER_FILES)
@pytest.mark.parametrize("suffix", ["", ".tfrecord", ".rec"])
def test_readers_name_file_types_that_are_not_shards(tmp_path: Path, name: str, suffix: str) -> None:
    data, description = OTHER_FILES[name]
    path = tmp_path / f"file{suffix}"
    path.write_bytes(data)
    for read in (rm.ShardReader, rm.open, rm.info):
        with pytest.raises(rm.FormatError) as caught:
            read(path)
        assert description in str(caught.value)
        assert (caught.value.kind, caught.value.shard) == ("wrong_format", str(path))
        assert caught.value.hint
    assert [fault.kind for fault in rm.verify(path).faults] == ["wrong_format"]


@pytest.mark.parametrize("name", OTHER_FILES)
@pytest.mark.parametrize("format_name", FORMATS)
def test_reader_names_file_type_despite_declared_format(tmp_path: Path, name: str, format_name: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(OTHER_FILES[name][0])
    with pytest.raises(rm.FormatError) as caught:
        list(rm.ShardReader(path, format=format_name))
    assert OTHER_FILES[name][1] in str(caught.value)


def test_reader_rejects_path_with_nul_byte() -> None:
    with pytest.raises(ValueError, match="NUL"):
        rm.ShardReader("a\0b.tfrecord")


def test_empty_file_has_format_of_its_name(tmp_path: Path) -> None:
    for name, format_name in {"a.tfrecord": "tfrecord", "a.rec": "recordio", "part-0": "ofrecord"}.items():
        (tmp_path / name).write_bytes(b"")
        reader = rm.ShardReader(tmp_path / name)
        assert (reader.format, len(reader), list(reader)) == (format_name, 0, [])
    (tmp_path / "thing").write_bytes(b"")
    with pytest.raises(rm.FormatError, match="empty") as caught:
        rm.ShardReader(tmp_path / "thing")
    assert caught.value.hint


@pytest.mark.parametrize("call", [rm.ShardReader, rm.open, rm.info, rm.verify], ids=lambda call: call.__name__)
def test_readers_reject_pipe(tmp_path: Path, call: Callable[[Path], object]) -> None:
    os.mkfifo(tmp_path / "train.tfrecord")
    with pytest.raises(OSError, match=r"a pipe or a device.*train\.tfrecord"):
        call(tmp_path / "train.tfrecord")


@pytest.mark.parametrize("format_name", FORMATS)
def test_reader_rejects_file_of_zeros(tmp_path: Path, format_name: str) -> None:
    path = tmp_path / "zeros"
    path.write_bytes(bytes(5000))
    with pytest.raises(rm.FormatError, match="zeros"):
        rm.ShardReader(path)
    with pytest.raises((rm.DamageError, rm.FormatError)):
        list(rm.ShardReader(path, format=format_name))


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("name", ["plain", "wrong.jpg"])
def test_reader_detects_format_from_content(tmp_path: Path, format_name: str, name: str) -> None:
    payloads = [encode_message(format_name, number) for number in range(3)]
    path = write_shard(tmp_path, format_name, payloads).rename(tmp_path / name)
    reader = rm.ShardReader(path)
    assert (reader.format, reader.compression, list(reader)) == (format_name, None, payloads)


@pytest.mark.parametrize("declared", FORMATS)
@pytest.mark.parametrize("format_name", FORMATS)
def test_reader_rejects_wrong_declared_format(tmp_path: Path, format_name: str, declared: str) -> None:
    path = write_shard(tmp_path, format_name, [encode_message(format_name, number) for number in range(3)])
    if declared == format_name:
        assert len(rm.ShardReader(path, format=declared)) == 3
        return
    with pytest.raises(rm.FormatError) as caught:
        list(rm.ShardReader(path, format=declared))
    assert (caught.value.kind, caught.value.expected, caught.value.found) == ("wrong_format", declared, format_name)
    assert format_name in (caught.value.hint or "")


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("true", ["", "gzip", "zlib"])
@pytest.mark.parametrize("declared", [None, "gzip", "zlib", "auto", "GZIP"])
def test_reader_checks_declared_compression(tmp_path: Path, format_name: str, true: str, declared: str | None) -> None:
    payloads = [encode_message(format_name, number) for number in range(3)]
    path = write_shard(tmp_path, format_name, payloads, compression=true)
    wanted = declared if declared is None else declared.lower()
    if wanted == "auto" or (wanted or "") == true:
        reader = rm.ShardReader(path, compression=declared)
        assert (reader.compression, reader.format, list(reader)) == (true or None, format_name, payloads)
        return
    with pytest.raises(rm.FormatError) as caught:
        list(rm.ShardReader(path, compression=declared))
    assert (caught.value.kind, caught.value.expected) == ("wrong_compression", wanted or "no compression")
    assert caught.value.found == (true or "no compression")
    assert caught.value.hint


@pytest.mark.parametrize("data", [gzip.compress(b""), zlib.compress(b"")], ids=["gzip", "zlib"])
def test_compressed_empty_file_has_no_records(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "empty.tfrecord"
    path.write_bytes(data)
    reader = rm.ShardReader(path)
    assert (len(reader), list(reader)) == (0, [])
    assert reader.compression == ("gzip" if data[0] == 0x1F else "zlib")
    with pytest.raises(rm.FormatError):
        list(rm.ShardReader(path, compression=None))


def test_reader_detects_plain_shard_with_zlib_header(tmp_path: Path) -> None:
    payload = b"\x0a\x96\x02" + b"\x0a\x93\x02" + b"\x0a\x8c\x02" + b"k" * 268 + b"\x12\x02\x0a\x00"
    for length in (0x0178, 0x9C78, 0xDA78, 0x5E78):
        body = (payload + bytes(length))[:length]
        path = write_shard(tmp_path, "tfrecord", [body])
        assert path.read_bytes()[0] == 0x78
        assert list(rm.ShardReader(path)) == [body]


def test_reader_accepts_declared_plain_shard_with_zlib_header(tmp_path: Path) -> None:
    payload = bytes(range(256)) + bytes(120)  # Not a message; its length, 376, starts with the zlib header 78 01.
    path = write_shard(tmp_path, "ofrecord", [payload, b"another"])
    assert path.read_bytes()[:2] == b"\x78\x01"
    assert list(rm.ShardReader(path, format="ofrecord", compression=None)) == [payload, b"another"]
    assert rm.verify(path, format="ofrecord", compression=None, payload=None).ok


def test_errors_for_unknown_names_list_known_names(tmp_path: Path) -> None:
    path = write_shard(tmp_path, "tfrecord", [b"a"])
    with pytest.raises(ValueError, match="tfrecord, ofrecord, recordio"):
        rm.ShardReader(path, format="tfrecords")
    with pytest.raises(ValueError, match="gzip, zlib"):
        rm.ShardReader(path, compression="bz2")
    with pytest.raises(ValueError, match="example"):
        rm.open(path, payload="examples")

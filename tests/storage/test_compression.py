"""Whole-file gzip and zlib: detection, compression, and positioned reads of compressed sources."""

from __future__ import annotations

import gzip
import zlib
from random import Random

import pytest
from hypothesis import given, strategies as st

from recordmill import _core
from recordmill.storage.compression import (
    Compressor,
    check_compression,
    detect_compression,
    detect_compression_by_trial,
)
from recordmill.testing.damage.compression import CompressedFile, build_compressed_files

CONTENT = b"".join(b"%d: some text that repeats, " % number for number in range(40))


def read(source: _core.Source, offset: int, length: int) -> bytes:
    return bytes(memoryview(source.read(offset, length)))


@pytest.mark.parametrize("damage", build_compressed_files(CONTENT), ids=str)
def test_source_reads_all_sound_bytes_of_damaged_stream(damage: CompressedFile) -> None:
    source = _core.Source.from_bytes(damage.data, compression=damage.container)
    if damage.kind is None:
        assert read(source, 0, 1 << 30) == damage.content
        return
    with pytest.raises(_core.CoreFault) as caught:
        source.read(0, 1 << 30)
    kind, _, offset = caught.value.args[:3]
    assert kind == damage.kind
    assert damage.offset is None or offset == damage.offset
    sound = read(source, 0, offset) if offset else b""
    assert damage.content.startswith(sound)
    assert len(sound) == offset


def test_read_of_more_bytes_than_memory_raises_memory_error() -> None:
    source = _core.Source.from_bytes(gzip.compress(CONTENT), compression="gzip")
    with pytest.raises(MemoryError):
        source.read(0, 1 << 62)


@given(st.data(), st.sampled_from(["gzip", "zlib"]), st.integers(-1, 9))
def test_source_reads_compressed_content_at_any_offset(data: st.DataObject, compression: str, level: int) -> None:
    content = data.draw(st.binary(max_size=3000)) * data.draw(st.integers(1, 60))
    stream = Compressor(compression, level)  # type: ignore[arg-type]
    middle = len(content) // 2
    stored = stream.compress(content[:middle]) + stream.compress(content[middle:]) + stream.finish()
    source = _core.Source.from_bytes(stored, compression=compression, spacing=1 << 14)
    for _ in range(4):
        offset, length = data.draw(st.integers(0, len(content))), data.draw(st.integers(0, 5000))
        assert read(source, offset, length) == content[offset : offset + length]
    assert source.num_stored_bytes == len(stored)


def test_restored_seek_points_allow_reads_at_any_offset() -> None:
    content = Random(3).randbytes(1 << 20) + bytes(1 << 20) + CONTENT * 500
    stored = gzip.compress(content)
    first = _core.Source.from_bytes(stored, compression="gzip", spacing=1 << 17)
    first.read(len(content), 1)
    seek_points = first.save_seek_points()
    assert seek_points is not None
    second = _core.Source.from_bytes(stored, compression="gzip", spacing=1 << 17)
    second.restore_seek_points(seek_points)
    assert second.num_bytes == len(content)
    for offset in (len(content) - 9, 1_500_000, 0, 1_048_570):
        assert read(second, offset, 200) == content[offset : offset + 200]


def test_source_stops_decompression_at_max_bytes() -> None:
    stored = gzip.compress(bytes(10 << 20))
    source = _core.Source.from_bytes(stored, compression="gzip", max_bytes=10 << 20)
    assert len(read(source, 0, 1 << 30)) == 10 << 20
    source = _core.Source.from_bytes(stored, compression="gzip", max_bytes=(10 << 20) - 1)
    with pytest.raises(_core.CoreFault) as caught:
        source.read(0, 1 << 30)
    assert caught.value.args[0] == "limit_exceeded"


@pytest.mark.parametrize("level", range(-1, 10))
def test_compressor_output_is_readable_at_every_level_and_gzip_header_is_constant(level: int) -> None:
    stream = Compressor("gzip", level)
    data = stream.compress(CONTENT) + stream.finish()
    assert gzip.decompress(data) == CONTENT
    assert data[:8].hex() == "1f8b080000000000"  # no time stamp: equal content gives equal files
    stream = Compressor("zlib", level)
    assert zlib.decompress(stream.compress(CONTENT) + stream.finish()) == CONTENT


@pytest.mark.parametrize("level", [-2, 10])
def test_compressor_rejects_unknown_level(level: int) -> None:
    with pytest.raises(ValueError, match="level must be between -1 and 9"):
        Compressor("gzip", level)


def test_detect_compression_requires_complete_header() -> None:
    assert detect_compression(gzip.compress(b"")) == "gzip"
    for level in range(10):
        assert detect_compression(zlib.compress(b"", level)) == "zlib"
    for head in (b"", b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x07", b"x", b"x\x9d", b"\x88", b"\x78\xbb", b"\x0a\x23\xd7\xce"):
        assert detect_compression(head) is None


def test_detect_stream_rejects_bytes_that_only_look_like_a_zlib_header() -> None:
    lookalike = b"\x78\x9c" + b"\xff" * 30
    assert detect_compression(lookalike) == "zlib"
    assert detect_compression_by_trial(lookalike) is None
    assert detect_compression_by_trial(zlib.compress(CONTENT)[:100]) == "zlib"
    assert detect_compression_by_trial(gzip.compress(CONTENT)[:100]) == "gzip"


def test_check_compression_accepts_names_in_any_case_and_rejects_others() -> None:
    for name, expected in {None: None, "": None, "none": None, "GZIP": "gzip", "gzip": "gzip", "ZLIB": "zlib"}.items():
        assert check_compression(name) == expected
    for name in ("bz2", "snappy", "deflate"):
        with pytest.raises(ValueError, match="must be one of gzip, zlib or None"):
            check_compression(name)

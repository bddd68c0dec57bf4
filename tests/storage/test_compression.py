"""Whole-file gzip and zlib: recognized, written, and inflated at any place as the standard library does."""

from __future__ import annotations

import gzip
import zlib
from random import Random

import pytest
from hypothesis import given, strategies as st

from recordmill import _core
from recordmill.storage.compression import Compressor, check, recognize
from recordmill.testing.damage.compression import stream_damages

CONTENT = b"".join(b"%d: some text that repeats, " % number for number in range(40))


def inflated(data: bytes, compression: str, **options: int) -> bytes:
    return bytes(memoryview(_core.Source.from_bytes(data, compression=compression, **options).read(0, 1 << 30)))


@pytest.mark.parametrize("row", stream_damages(CONTENT), ids=str)
def test_stream_when_read_then_gives_all_that_is_sound_and_the_fault(row: object) -> None:
    source = _core.Source.from_bytes(row.data, compression=row.container)  # type: ignore[attr-defined]
    if row.kind is None:  # type: ignore[attr-defined]
        assert bytes(memoryview(source.read(0, 1 << 30))) == row.content  # type: ignore[attr-defined]
        return
    with pytest.raises(_core.CoreFault) as caught:
        source.read(0, 1 << 30)
    kind, _, offset = caught.value.args[:3]
    assert kind == row.kind  # type: ignore[attr-defined]
    assert row.offset is None or offset == row.offset  # type: ignore[attr-defined]
    sound = bytes(memoryview(source.read(0, offset))) if offset else b""
    assert row.content.startswith(sound)  # type: ignore[attr-defined]
    assert len(sound) == offset


@given(st.data(), st.sampled_from(["gzip", "zlib"]), st.integers(-1, 9))
def test_source_when_read_anywhere_then_gives_the_bytes_of_the_content(
    data: st.DataObject, compression: str, level: int
) -> None:
    content = data.draw(st.binary(max_size=3000)) * data.draw(st.integers(1, 60))
    stream = Compressor(compression, level)  # type: ignore[arg-type]
    stored = (
        stream.compress(content[: len(content) // 2]) + stream.compress(content[len(content) // 2 :]) + stream.finish()
    )
    source = _core.Source.from_bytes(stored, compression=compression, spacing=1 << 14)
    for _ in range(4):
        offset, length = data.draw(st.integers(0, len(content))), data.draw(st.integers(0, 5000))
        assert bytes(memoryview(source.read(offset, length))) == content[offset : offset + length]
    assert source.num_stored_bytes == len(stored)


def test_seek_points_when_saved_and_restored_then_reads_far_behind_are_right() -> None:
    content = Random(3).randbytes(1 << 20) + bytes(1 << 20) + CONTENT * 500
    stored = gzip.compress(content)
    first = _core.Source.from_bytes(stored, compression="gzip", spacing=1 << 17)
    first.read(len(content), 1)
    saved = first.save_seek_points()
    assert saved is not None
    second = _core.Source.from_bytes(stored, compression="gzip", spacing=1 << 17)
    second.restore_seek_points(saved)
    assert second.num_bytes == len(content)
    for offset in (len(content) - 9, 1_500_000, 0, 1_048_570):
        assert bytes(memoryview(second.read(offset, 200))) == content[offset : offset + 200]


def test_bomb_when_inflated_then_stops_at_the_limit() -> None:
    stored = gzip.compress(bytes(10 << 20))
    assert len(inflated(stored, "gzip", max_bytes=10 << 20)) == 10 << 20
    with pytest.raises(_core.CoreFault) as caught:
        inflated(stored, "gzip", max_bytes=(10 << 20) - 1)
    assert caught.value.args[0] == "limit_exceeded"


@pytest.mark.parametrize("level", range(-1, 10))
def test_compressor_when_any_level_is_chosen_then_header_is_the_same_everywhere(level: int) -> None:
    stream = Compressor("gzip", level)
    data = stream.compress(CONTENT) + stream.finish()
    assert gzip.decompress(data) == CONTENT
    assert data[:8].hex() == "1f8b080000000000"
    stream = Compressor("zlib", level)
    assert zlib.decompress(stream.compress(CONTENT) + stream.finish()) == CONTENT


@pytest.mark.parametrize("level", [-2, 10])
def test_compressor_when_the_level_does_not_exist_then_is_refused(level: int) -> None:
    with pytest.raises(ValueError, match="level"):
        Compressor("gzip", level)


def test_compression_when_recognized_then_needs_a_whole_header() -> None:
    assert recognize(gzip.compress(b"")) == "gzip"
    for level in range(10):
        assert recognize(zlib.compress(b"", level)) == "zlib"
    for head in (
        b"",
        b"\x1f",
        b"\x1f\x8b",
        b"\x1f\x8b\x07",
        b"x",
        b"x\x9d",
        b"\x88\x1c"[:1],
        b"\x78\xbb",
        b"\x0a\x23\xd7\xce",
    ):
        assert recognize(head) is None


def test_compression_when_named_then_any_case_will_do() -> None:
    assert [check(name) for name in (None, "", "none", "GZIP", "gzip", "ZLIB")] == [
        None,
        None,
        None,
        "gzip",
        "gzip",
        "zlib",
    ]
    for name in ("bz2", "snappy", "deflate"):
        with pytest.raises(ValueError, match="gzip, zlib"):
            check(name)

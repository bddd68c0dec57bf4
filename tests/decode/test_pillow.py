"""Checks of the Pillow decoder: number of scans, gamma of 16-bit color PNG."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from recordmill.decode.pillow import count_scans
from tests.images import encode_jpeg


def repeated(times: int) -> bytes:
    """Return a progressive JPEG that repeats its last scan."""
    memory = io.BytesIO()
    Image.fromarray(np.random.default_rng(3).integers(0, 256, (24, 20), np.uint8)).save(
        memory, "JPEG", progressive=True
    )
    data = memory.getvalue()
    return data[:-2] + data[data.rindex(b"\xff\xda") : -2] * times + data[-2:]


def test_count_scans_skips_segments_and_stops_at_end_marker() -> None:
    assert count_scans(encode_jpeg(0), 9) == count_scans(encode_jpeg(0, exif=b"Exif\0\0\xff\xda\xff\xda"), 9) == 1
    assert count_scans(encode_jpeg(0) + b"\xff\xda" * 20, 9) == 1
    assert count_scans(repeated(5), 100) == count_scans(repeated(0), 100) + 5
    assert count_scans(repeated(50), 9) == 10
    assert [count_scans(part, 9) for part in (b"", b"\xff", b"\xff\xd8\xff", b"\xff\xd8\xff\xda")] == [0, 0, 0, 1]


@pytest.mark.parametrize("decoder", ["auto", "pillow"])
def test_image_with_thousands_of_scans_raises_limit_error(decoder) -> None:
    spec = {"x": rm.Image(decoder=decoder)}
    assert rm.decode_batch([repeated(3)], spec)["x"].shape == (1, 3, 24, 20)
    with pytest.raises(rm.DecodeError) as caught:
        rm.decode_batch([repeated(2000)], spec)
    assert isinstance(caught.value.cause, rm.LimitError) and caught.value.cause.kind == "limit_exceeded"
    for call in (rm.decode_jpeg, rm.decode_image):
        with pytest.raises(rm.LimitError, match="too many scans"):
            call(repeated(2000))


@pytest.mark.parametrize(
    "chunk, expected", [(b"gAMA" + (45455).to_bytes(4, "big"), None), (b"gAMA\0\1\x86\xa0", 72), (b"", 72)]
)
def test_gray_of_16_bit_color_png_with_gamma_is_rejected(chunk: bytes, expected: int | None) -> None:
    def part(body: bytes) -> bytes:
        return (len(body) - 4).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")

    header = b"IHDR" + struct.pack(">IIBBBBB", 1, 1, 16, 2, 0, 0, 0)
    pixels = b"IDAT" + zlib.compress(b"\0" + struct.pack(">HHH", 60000, 1000, 1000))
    parts = [header, *([chunk] if chunk else []), pixels, b"IEND"]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(map(part, parts))
    for like in ("opencv", "tensorflow", "mxnet"):
        if expected is None:
            with pytest.raises(rm.ImageError, match=r"in linear light is not supported[\s\S]*gamma 0\.45455"):
                rm.decode_image(data, like=like, channels="gray", depth="8")
        else:
            assert rm.decode_image(data, like=like, channels="gray", depth="8").tolist() == [[expected]]

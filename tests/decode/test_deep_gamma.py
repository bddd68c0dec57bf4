"""Color PNG of 16 bits whose gray libpng computes in linear light."""

from __future__ import annotations

import struct
import zlib

import pytest

import recordmill as rm


@pytest.mark.parametrize(
    "chunk, expected", [(b"gAMA" + (45455).to_bytes(4, "big"), None), (b"gAMA\0\1\x86\xa0", 72), (b"", 72)]
)
def test_gray_of_a_deep_color_png_when_its_gamma_counts_then_is_refused(chunk: bytes, expected: int | None) -> None:
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

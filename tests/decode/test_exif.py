"""Unusual and damaged EXIF data: both decoders read the orientation that Pillow reads."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image, ImageOps

import recordmill as rm
from recordmill.decode.pixels import apply_orientation
from tests.images import encode_jpeg

SHORT, LONG, SIGNED_SHORT, SIGNED_LONG = 3, 4, 8, 9


def entry(order: str, tag: int, kind: int, count: int, value: bytes) -> bytes:
    return struct.pack(order + "HHI", tag, kind, count) + value.ljust(4, b"\0")


def directory(order: str, *entries: bytes, count: int | None = None, rest: bytes = bytes(4)) -> bytes:
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "IH", 8, count or len(entries))
    return head + b"".join(entries) + rest


def notes() -> Iterator[tuple[str, bytes, int]]:
    """Yield name, EXIF bytes and orientation."""
    for order in "<>":
        six = struct.pack(order + "H", 6)
        short = entry(order, 0x112, SHORT, 1, six)
        other = entry(order, 0x10F, SHORT, 1, six)
        yield "plain", b"Exif\0\0" + directory(order, other, short), 6
        yield "no end", b"Exif\0\0" + directory(order, short, rest=b""), 6
        yield "entry cut", b"Exif\0\0" + directory(order, short, rest=b"")[:-2], 1
        yield "count too large", b"Exif\0\0" + directory(order, short, count=9), 6
        yield "another head", b"Exif\0x" + directory(order, short), 1
        yield "two numbers", b"Exif\0\0" + directory(order, entry(order, 0x112, SHORT, 2, six * 2)), 6
        yield "no number", b"Exif\0\0" + directory(order, entry(order, 0x112, SHORT, 0, six)), 1
        yield "signed", b"Exif\0\0" + directory(order, entry(order, 0x112, SIGNED_SHORT, 1, six)), 6
        for kind in (LONG, SIGNED_LONG):
            long = entry(order, 0x112, kind, 1, struct.pack(order + "I", 6))
            yield "long", b"Exif\0\0" + directory(order, long), 6
        elsewhere = entry(order, 0x112, SHORT, 3, struct.pack(order + "I", 26))
        yield "elsewhere", b"Exif\0\0" + directory(order, elsewhere) + six * 3, 6
        yield "beyond", b"Exif\0\0" + directory(order, elsewhere) + six, 1
        yield "bytes", b"Exif\0\0" + directory(order, entry(order, 0x112, 1, 1, b"\6")), 1


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name, body, orientation", list(notes()))
def test_orientation_of_unusual_exif_equals_pillow_in_both_decoders(name: str, body: bytes, orientation: int) -> None:
    data = encode_jpeg(3, exif=body)
    expected = apply_orientation(rm.decode_jpeg(data), orientation)
    for decoder in ("native", "pillow"):
        spec = rm.Image(orientation="apply", layout="hwc", decoder=decoder)
        np.testing.assert_array_equal(rm.decode_batch([data], {"image": spec})["image"][0], expected, err_msg=name)
    with Image.open(io.BytesIO(data)) as image:
        try:
            upright = ImageOps.exif_transpose(image)
        except struct.error:
            return  # Pillow raises where the directory ends too early
        np.testing.assert_array_equal(np.asarray(upright), expected, err_msg=name)

"""CMYK JPEG: the formula of every library for every encoding, native and equal to Pillow's levels."""

from __future__ import annotations

import io
import struct
import sys

import numpy as np
import pytest
from PIL import Image as PillowImage

import recordmill as rm

LIKE = ("pillow", "opencv", "tensorflow", "mxnet")


def inks(height: int, width: int, **options: object) -> bytes:
    """A JPEG in CMYK, with Adobe's segment of transform 0."""
    y, x = np.mgrid[:height, :width]
    waves = np.stack([np.sin(x / (3 + c) + y / (9 - c)) * 110 + 128 for c in range(4)], axis=2)
    memory = io.BytesIO()
    PillowImage.fromarray(waves.clip(0, 255).astype(np.uint8), "CMYK").save(memory, "JPEG", **options)
    return memory.getvalue()


def transformed(data: bytes, flag: int) -> bytes:
    """The same levels, called luma, color differences and black where the flag is not 0."""
    at = data.index(b"Adobe") + 11
    return data[:at] + bytes([flag]) + data[at + 1 :]


def without_segment(data: bytes) -> bytes:
    start = data.index(b"Adobe") - 4
    (length,) = struct.unpack(">H", data[start + 2 : start + 4])
    return data[:start] + data[start + 2 + length :]


KINDS = {
    "plain": inks(37, 50),
    "halved": inks(37, 50, subsampling=2),
    "halved across": inks(33, 47, subsampling=1),
    "progressive": inks(37, 50, progressive=True),
    "with luma": transformed(inks(37, 50, subsampling=2), 2),
    "with luma, of another flag": transformed(inks(37, 50), 1),
    "without Adobe's segment": without_segment(inks(37, 50)),
}


def colors(levels: np.ndarray, like: str, *, adobe: bool) -> np.ndarray:
    """Levels of the file to red, green and blue by the formula of a library."""
    values = levels.astype(int)
    some, black = values[:, :, :3], values[:, :, 3:]
    if like == "tensorflow":
        return some * black // 255 if adobe else (255 - some) * (255 - black) // 255
    if like == "pillow":
        product = (255 - some) * black + 128
        return black - ((product >> 8) + product >> 8)
    return black - ((255 - some) * black >> 8)


@pytest.mark.parametrize("like", LIKE)
@pytest.mark.parametrize("name", KINDS)
def test_cmyk_native_equals_formula_of_library(name: str, like: str) -> None:
    data = KINDS[name]
    levels = 255 - np.asarray(PillowImage.open(io.BytesIO(data)))
    expected = colors(levels, like, adobe=b"Adobe" in data)
    for decoder in ("native", "pillow"):
        spec = rm.Image(like=like, channels="rgb", dct="accurate", layout="hwc", decoder=decoder)
        found = rm.decode_batch([data], {"image": spec})["image"][0]
        np.testing.assert_array_equal(found, expected, err_msg=decoder)
    blue_first = rm.decode_image(data, like=like, channels="bgr", dct="accurate", window=(5, 7, 30, 20))
    np.testing.assert_array_equal(blue_first, expected[7:27, 5:35, ::-1])


@pytest.mark.parametrize("scale", [2, 4, 8])
def test_cmyk_scaled_equals_pillow_draft(scale: int) -> None:
    data = inks(64, 80)
    with PillowImage.open(io.BytesIO(data)) as image:
        image.draft(None, (80 // scale, 64 // scale))
        expected = np.asarray(image.convert("RGB"))
    np.testing.assert_array_equal(rm.decode_jpeg(data, scale=scale), expected)


def test_cmyk_stored_keeps_levels_except_for_tensorflow() -> None:
    data = KINDS["plain"]
    np.testing.assert_array_equal(
        rm.decode_jpeg(data, channels="stored"), np.asarray(PillowImage.open(io.BytesIO(data)))
    )
    stored = rm.decode_image(data, like="tensorflow", channels="stored")
    np.testing.assert_array_equal(stored, rm.decode_image(data, like="tensorflow", channels="rgb"))
    np.testing.assert_array_equal(stored, rm.decode_jpeg(data, channels="stored", mode="fast", cmyk="tensorflow"))


def test_cmyk_decodes_without_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    for like in LIKE:
        spec = rm.Image(like=like, resize=(20, 30), channels="rgb")
        assert rm.decode_batch([*KINDS.values()], {"image": spec})["image"].shape == (len(KINDS), 3, 20, 30)


def test_cmyk_corrupt_data_gives_error_or_pixels() -> None:
    data, random = KINDS["halved"], np.random.default_rng(2)
    for _ in range(300):
        broken = bytearray(data)
        for at in random.integers(2, len(data), 3):
            broken[at] ^= 1 << random.integers(8)
        try:
            found = rm.decode_image(bytes(broken), like="tensorflow", channels="rgb")
        except rm.RecordmillError:
            continue
        assert found.shape[2] == 3


def test_decode_jpeg_rejects_unknown_cmyk_formula() -> None:
    with pytest.raises(ValueError, match="cmyk"):
        rm.decode_jpeg(KINDS["plain"], cmyk="adobe")  # type: ignore[arg-type]

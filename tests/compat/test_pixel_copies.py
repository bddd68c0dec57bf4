"""Copies of pixels as items are NumPy's copies."""

from __future__ import annotations

import numpy as np
import pytest

from recordmill.compat.pixel_copies import joined, laid_out, put, reordered

DTYPES = ["u1", "u2", "f2", "f4", "f8", "?", "O"]
CHANNELS = [1, 2, 3, 4, 5, 13, 17]


def picture(channels: int, dtype: str, height: int = 23, width: int = 31) -> np.ndarray:
    """Values that differ from one another, NaN among the floats."""
    found = np.arange(height * width * channels).reshape(height, width, channels).astype(dtype)
    if found.dtype.kind == "f":
        found[3, 4] = np.nan
    return found


def same(found, expected) -> None:
    """Hold arrays against one another, floats by their bits."""
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tolist() == expected.tolist() if found.dtype == object else found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", CHANNELS)
def test_laid_out_when_pixels_are_turned_then_equals_numpys_copy(channels, dtype) -> None:
    pixels = picture(channels, dtype, 41, 43)
    views = (
        pixels,
        pixels[:, ::-1],
        pixels[::-1],
        pixels.swapaxes(0, 1),
        pixels[..., ::-1],
        pixels[::2, 1::3],
        pixels.T,
    )
    for view in (*views, pixels[:0], pixels[:2, :2][:, ::-1], np.broadcast_to(pixels[:1], pixels.shape)):
        found = laid_out(view)
        assert found.flags.c_contiguous
        same(found, np.ascontiguousarray(view))


@pytest.mark.parametrize("dtype", DTYPES)
def test_joined_when_arrays_have_other_channels_then_equals_concatenate(dtype) -> None:
    parts = [picture(channels, dtype) for channels in CHANNELS]
    for some in (parts, parts[2:3] * 2, [parts[2], parts[2][:, ::-1], parts[0]], [part[:2, :2] for part in parts]):
        same(joined(some), np.concatenate(some, -1))
    rows = [part.reshape(-1) for part in parts]
    same(joined(rows), np.concatenate(rows))


def test_put_when_places_are_apart_then_nothing_else_changes() -> None:
    wide = np.zeros((40, 50, 8), np.float32)
    put(wide[::2, :, 1:4], picture(3, "f4", 20, 50))
    expected = np.zeros_like(wide)
    expected[::2, :, 1:4] = picture(3, "f4", 20, 50)
    same(wide, expected)


@pytest.mark.parametrize("order", [(2, 1, 0), (2, 1, 0, 3), (0, 0, 0, 1), ()])
def test_reordered_when_channels_are_named_then_are_taken_in_that_order(order) -> None:
    pixels = picture(4, "u1")
    same(reordered(pixels, order), np.ascontiguousarray(pixels[..., list(order)].astype("u1")))

"""Unusual images: CMYK, transparent gray, four channels, one channel."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import recordmill.compat.mxnet as mx

LEVELS = np.random.default_rng(5).integers(0, 256, (20, 30, 4)).astype(np.uint8)
HEADER = mx.recordio.IRHeader(0, 1.0, 2, 0)


def encoded(image: Any, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


CMYK = encoded(Image.frombytes("CMYK", (30, 20), LEVELS.tobytes()), "JPEG")
TRANSPARENT_GRAY = encoded(Image.fromarray(LEVELS[:, :, 0]), "PNG", transparency=int(LEVELS[0, 0, 0]))
TRANSPARENT_COLOR = encoded(Image.fromarray(LEVELS[:, :, :3]), "PNG", transparency=tuple(LEVELS[0, 0, :3].tolist()))


@pytest.mark.deep
@pytest.mark.parametrize(
    "data", [CMYK, TRANSPARENT_GRAY, TRANSPARENT_COLOR], ids=["CMYK", "transparent gray", "transparent color"]
)
@pytest.mark.parametrize("iscolor", [-1, 0, 1])
def test_unpack_img_of_unusual_files_equals_opencv(data: bytes, iscolor: int) -> None:
    import cv2

    _, found = mx.recordio.unpack_img(mx.recordio.pack(HEADER, data), iscolor)
    expected = cv2.imdecode(np.frombuffer(data, np.uint8), iscolor)
    assert found.dtype == expected.dtype and found.shape == expected.shape and (found == expected).all()


@pytest.mark.parametrize("fill", [b"", b"\xff\xff"], ids=["plain", "filled"])
@pytest.mark.parametrize("kind", ["L", "RGB", "CMYK"])
def test_unpack_img_skips_fill_bytes(kind: str, fill: bytes) -> None:
    image = {"L": LEVELS[:, :, 0], "RGB": LEVELS[:, :, :3]}.get(kind, LEVELS)
    data = CMYK if kind == "CMYK" else encoded(Image.fromarray(image), "JPEG")
    offset = data.index(b"\xff\xdb")
    _, found = mx.recordio.unpack_img(mx.recordio.pack(HEADER, data[:offset] + fill + data[offset:]))
    assert np.array_equal(found, mx.recordio.unpack_img(mx.recordio.pack(HEADER, data), 1 if image.ndim == 3 else 0)[1])
    for length in (3, 5, 20, len(data) // 2):
        assert mx.recordio.unpack_img(mx.recordio.pack(HEADER, data[:length]))[1] is None


@pytest.mark.deep
def test_imdecode_of_cmyk_to_gray_equals_opencv() -> None:
    import cv2

    expected = cv2.imdecode(np.frombuffer(CMYK, np.uint8), 0)
    assert (mx.image.imdecode(CMYK, flag=0).asnumpy()[:, :, 0] == expected).all()
    with pytest.raises(mx.MXNetError):
        mx.image.imdecode(CMYK[:200], flag=0)


@pytest.mark.parametrize("options", [{}, {"rand_crop": True}])
def test_padding_of_fourth_channel_is_zero(tmp_path: Path, options: Any) -> None:
    record = mx.recordio.MXRecordIO(str(tmp_path / "x.rec"), "w")
    record.write(mx.recordio.pack(HEADER, encoded(Image.fromarray(LEVELS), "PNG")))
    record.close()
    batches = mx.io.ImageRecordIter(
        path_imgrec=str(tmp_path / "x.rec"), data_shape=(4, 24, 34), batch_size=1, pad=2, fill_value=7, **options
    )
    pixels = next(batches).data[0].asnumpy()[0]
    assert (pixels[:3, :2] == 7).all() and (pixels[3, :2] == 0).all() and (pixels[3, :, -2:] == 0).all()
    assert (pixels[:, 2:-2, 2:-2] == LEVELS.transpose(2, 0, 1)).all()


def test_color_augmenters_of_one_channel_work_or_raise() -> None:
    random.seed(3)
    alpha = 1 + random.uniform(-0.4, 0.4)
    random.seed(3)
    gray = mx.nd.array(LEVELS[:, :, :1].astype(np.float32))
    found = mx.image.ContrastJitterAug(0.4)(gray.copy()).asnumpy()
    expected = LEVELS[:, :, :1] * alpha + (1 - alpha) * LEVELS[:, :, 0].mean()
    assert np.abs(found - expected).max() < 1e-3
    for augmenter in (mx.image.HueJitterAug(0.1), mx.image.RandomGrayAug(1.0)):
        with pytest.raises(mx.MXNetError, match="expected 3 channels"):
            augmenter(gray)

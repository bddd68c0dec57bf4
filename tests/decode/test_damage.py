"""Damaged images are errors; irregular but complete ones are decoded with Pillow."""

from __future__ import annotations

import pickle
import struct
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from tests.images import encode_image, encode_jpeg, encode_palette_mask, encode_png, make_pixels

SOUND = encode_jpeg(0, 80, 64, restart_marker_rows=1)
FRAME = SOUND.index(b"\xff\xc0\x00\x11")
SCAN = SOUND.index(b"\xff\xda") + 14


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def with_chunk(data: bytes, name: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Change the body of a chunk, or drop the chunk if the new body is empty; the checksum is valid."""
    start = data.index(name) - 4
    stop = start + 12 + int.from_bytes(data[start : start + 4], "big")
    body = change(data[start + 8 : stop - 4])
    return data[:start] + (chunk(name, body) if body else b"") + data[stop:]


def taller(body: bytes) -> bytes:
    return body[:4] + (int.from_bytes(body[4:8], "big") + 3).to_bytes(4, "big") + body[8:]


DAMAGED = {
    "jpeg: taller than its data": (
        SOUND[: FRAME + 5] + (200).to_bytes(2, "big") + SOUND[FRAME + 7 :],
        "truncated",
    ),
    "jpeg: lower than its data": (SOUND[: FRAME + 5] + (32).to_bytes(2, "big") + SOUND[FRAME + 7 :], "bad_restart"),
    "jpeg: narrower than its data": (SOUND[: FRAME + 7] + (32).to_bytes(2, "big") + SOUND[FRAME + 9 :], "bad_code"),
    "jpeg: rows lost in front of the end": (SOUND[:-300] + b"\xff\xd9", "truncated"),
    "jpeg: no end": (SOUND[:-2], "truncated"),
    "jpeg: bytes lost": (SOUND[: SCAN + 80] + SOUND[SCAN + 120 :], "bad_code"),
    "jpeg: restart markers out of order": (SOUND.replace(b"\xff\xd1", b"\xff\xd6"), "bad_restart"),
    "jpeg: restart marker lost": (SOUND.replace(b"\xff\xd1", b""), "bad_code"),
    "jpeg: a table is missing": (SOUND.replace(b"\xff\xdb", b"\xff\xfe"), "bad_table"),
    "png: taller than its data": (with_chunk(encode_png(1), b"IHDR", taller), "truncated"),
    "png: no end": (encode_png(1)[:-12], "truncated"),
    "png: no palette": (with_chunk(encode_palette_mask()[0], b"PLTE", lambda body: b""), "bad_table"),
    "png: palette of ten bytes": (with_chunk(encode_palette_mask()[0], b"PLTE", lambda body: body[:10]), "bad_table"),
    "png: palette too short": (with_chunk(encode_palette_mask()[0], b"PLTE", lambda body: body[:9]), "bad_table"),
    "png: checksum of the pixels": (encode_png(1)[:-16] + bytes(4) + encode_png(1)[-12:], "bad_checksum"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_image_is_error_in_every_function(case: str) -> None:
    data, kind = DAMAGED[case]
    one = rm.decode_jpeg if case.startswith("jpeg") else rm.decode_png
    for call in (one, rm.decode_image, lambda data: rm.decode_image(data, like="opencv", orientation="apply")):
        with pytest.raises(rm.ImageError) as single:
            call(data)
        assert single.value.kind == kind and pickle.loads(pickle.dumps(single.value)).offset == single.value.offset
    for decoder in ("auto", "native"):
        with pytest.raises(rm.DecodeError, match="pillow") as batch:
            rm.decode_batch([encode_png(0), data], {"x": rm.Image(resize=(8, 8), decoder=decoder)})
        assert batch.value.kind == kind and batch.value.position == 1


def test_skipping_damaged_image_keeps_order_of_others() -> None:
    cmyk = encode_jpeg(3, mode="CMYK")
    files = [encode_jpeg(0), *(data for data, _ in DAMAGED.values()), cmyk, encode_png(2)]
    seen: list[rm.DecodeError] = []
    for threads in (1, 3):
        found = rm.decode_batch(files, {"x": rm.Image(resize=(8, 8))}, on_error=seen.append, threads=threads)["x"]
        alone = rm.decode_batch([encode_jpeg(0), cmyk, encode_png(2)], {"x": rm.Image(resize=(8, 8))})["x"]
        np.testing.assert_array_equal(found, alone)
    assert [error.position for error in seen] == 2 * list(range(1, len(DAMAGED) + 1))


def test_pillow_decoder_accepts_damaged_images() -> None:
    data, _ = DAMAGED["jpeg: taller than its data"]
    found = rm.decode_batch([data], {"x": rm.Image(decoder="pillow", layout="hwc")})["x"][0]
    assert found.shape == (200, 80, 3)
    np.testing.assert_array_equal(found[:56], rm.decode_jpeg(SOUND)[:56])


def test_damaged_mask_is_error() -> None:
    gray = with_chunk(encode_image(Image.fromarray(make_pixels(1)[:, :, 0])), b"IHDR", taller)
    for mask in (gray, encode_palette_mask()[0][:-12]):
        with pytest.raises(rm.DecodeError) as caught:
            rm.decode_batch([mask], {"mask": rm.Mask(of=None)})
        assert caught.value.kind == "truncated" and caught.value.feature == "mask"
        with pytest.raises(rm.ImageError, match="truncated"):
            rm.decode_png(mask, palette="indices")


@pytest.mark.parametrize(
    "irregular",
    [
        SOUND.replace(b"\xff\xdb", b"ab\xff\xdb"),
        SOUND[:-2] + b"\0\0" + SOUND[-2:],
        encode_png(1)[:-12] + chunk(b"ABCD", b"unknown") + encode_png(1)[-12:],
    ],
)
def test_irregular_complete_image_is_decoded_with_pillow(irregular: bytes) -> None:
    with pytest.raises(rm.DecodeError):
        rm.decode_batch([irregular], {"x": rm.Image(decoder="native")})
    auto, pillow = (
        rm.decode_batch([irregular], {"x": rm.Image(decoder=decoder, layout="hwc")})["x"][0]
        for decoder in ("auto", "pillow")
    )
    np.testing.assert_array_equal(auto, pillow)
    np.testing.assert_array_equal(rm.decode_image(irregular), pillow)


def test_eps_starts_no_program(monkeypatch) -> None:
    started: list[object] = []
    monkeypatch.setattr("subprocess.Popen", lambda *call, **options: started.append(call))
    monkeypatch.setattr("PIL.EpsImagePlugin.has_ghostscript", lambda: True)
    monkeypatch.setattr("PIL.EpsImagePlugin.gs_binary", "gs")
    data = encode_image(Image.fromarray(make_pixels(1)), "EPS")
    for decoder in ("auto", "pillow"):
        with pytest.raises(rm.DecodeError, match="EPS is not supported") as caught:
            rm.decode_batch([data], {"x": rm.Image(decoder=decoder)})
        assert caught.value.kind == "unsupported"
    with pytest.raises(rm.ImageError, match="EPS is not supported"):
        rm.decode_image(data)
    assert started == []

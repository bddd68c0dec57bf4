"""Masks keep their values exactly, follow their images, and are rejected if they hold no classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image, features

import recordmill as rm
from tests.images import (
    encode_gray16_png,
    encode_image,
    encode_jpeg,
    encode_oriented_jpeg,
    encode_palette_mask,
    encode_png,
)


def twin(seed: int, width: int = 40, height: int = 30) -> tuple[bytes, bytes]:
    """Encode a gray image and a mask that hold the same values."""
    values = np.random.default_rng(seed).integers(0, 200, (height, width)).astype(np.uint8)
    return encode_image(Image.fromarray(values)), encode_image(Image.fromarray(values))


GEOMETRIES = st.sampled_from(
    [
        {"crop": rm.RandomResizedCrop((9, 13)), "flip": rm.Flip(0.5, 0.5)},
        {"crop": rm.RandomCrop((12, 9), padding=5, fill=7), "flip": True},
        {"crop": rm.RandomCrop((35, 50), mode="reflect", small="pad")},
        {"crop": rm.CenterCrop((50, 20), small="pad", fill=7)},
        {"crop": rm.CenterCrop(60, small="enlarge"), "flip": True},
        {"resize": rm.Resize((50, 31))},
        {"resize": rm.Resize(shorter=17), "crop": rm.RandomCrop(11)},
        {"crop": rm.RandomCrop(16), "affine": rm.RandomAffine(40, (0.2, 0.2), (0.5, 2), 10, fill=7)},
    ]
)


@given(GEOMETRIES, st.sampled_from(["pillow", "opencv", "tensorflow"]), st.integers(0, 999))
@settings(max_examples=40)
def test_mask_follows_its_image_pixel_by_pixel(geometry, like: str, seed: int) -> None:
    image, mask = (list(column) for column in zip(*(twin(number) for number in range(3)), strict=True))
    specs = {
        "image": rm.Image(**geometry, like=like, channels="gray", kernel="nearest"),
        "mask": rm.Mask(fill=7),
    }
    batch = rm.decode_batch({"image": image, "mask": mask}, specs, rng=seed, threads=2)
    np.testing.assert_array_equal(batch["mask"], batch["image"][:, 0])
    assert batch["mask"].dtype == np.uint8


def test_resized_palette_mask_holds_only_its_classes() -> None:
    mask, indices = encode_palette_mask(0, 40, 30)
    specs = {"image": rm.Image(crop=rm.RandomResizedCrop(64), flip=True), "mask": rm.Mask(fill=255)}
    for seed in range(5):
        batch = rm.decode_batch({"image": [encode_jpeg(0, 40, 30)], "mask": [mask]}, specs, rng=seed)
        assert set(np.unique(batch["mask"])) <= set(np.unique(indices)) and batch["mask"].shape == (1, 64, 64)


def test_mask_without_image_is_returned_as_stored() -> None:
    data, indices = encode_palette_mask()
    batch = rm.decode_batch([data], {"mask": rm.Mask(of=None)})
    np.testing.assert_array_equal(batch["mask"][0], indices)
    listed = rm.decode_batch([data, encode_palette_mask(1, 5, 4)[0]], {"mask": rm.Mask(of=None, stack=False)})["mask"]
    assert [one.shape for one in listed] == [(14, 20), (4, 5)]
    with pytest.raises(rm.DecodeError, match="same size"):
        rm.decode_batch([data, encode_palette_mask(1, 5, 4)[0]], {"mask": rm.Mask(of=None)})


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_gray_mask_of_few_bits_keeps_stored_values(bits: int) -> None:
    import struct
    import zlib

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    values = np.arange(16, dtype=np.uint8).reshape(2, 8) % (1 << min(bits, 4))
    packed = np.packbits((values[:, :, None] >> np.arange(bits)[::-1]) & 1, axis=None).reshape(2, -1)
    rows = b"".join(b"\0" + row.tobytes() for row in packed)
    head = struct.pack(">IIBBBBB", 8, 2, bits, 0, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    np.testing.assert_array_equal(rm.decode_batch([data], {"mask": rm.Mask(of=None)})["mask"][0], values)
    brightest = {1: 255, 2: 85, 4: 17, 8: 1}[bits]
    np.testing.assert_array_equal(rm.decode_png(data), values * np.uint8(brightest))


def test_16_bit_mask_requires_a_wide_dtype() -> None:
    data, values = encode_gray16_png()
    with pytest.raises(rm.DecodeError, match="uint16"):
        rm.decode_batch([data], {"mask": rm.Mask(of=None)})
    for dtype in ("uint16", "int32", "int64"):
        found = rm.decode_batch([data], {"mask": rm.Mask(of=None, dtype=dtype)})["mask"]
        np.testing.assert_array_equal(found[0], values)
        assert found.dtype == dtype


@pytest.mark.parametrize(
    "data",
    [encode_jpeg(0), encode_jpeg(0, mode="L"), encode_png(0), encode_png(0, mode="RGBA"), encode_png(0, mode="LA")],
)
def test_color_or_lossy_mask_raises(data: bytes) -> None:
    with pytest.raises(rm.DecodeError) as caught:
        rm.decode_batch([data], {"mask": rm.Mask(of=None)})
    assert caught.value.kind == "bad_mask" and caught.value.feature == "mask"


def test_mask_of_another_size_raises_or_is_fitted() -> None:
    columns = {
        "image": [encode_png(0, 40, 30), encode_png(1, 40, 30)],
        "mask": [encode_palette_mask(0, 40, 30)[0], encode_palette_mask(1, 20, 15)[0]],
    }
    with pytest.raises(rm.DecodeError) as caught:
        rm.decode_batch(columns, {"image": rm.Image(), "mask": rm.Mask()})
    error = caught.value
    assert (error.kind, error.position, error.expected, error.found) == ("size_mismatch", 1, "40 x 30", "20 x 15")
    batch = rm.decode_batch(columns, {"image": rm.Image(), "mask": rm.Mask(fit=True)})
    expected = np.repeat(np.repeat(encode_palette_mask(1, 20, 15)[1], 2, axis=0), 2, axis=1)
    np.testing.assert_array_equal(batch["mask"][1], expected)
    skipped = rm.decode_batch(columns, {"image": rm.Image(), "mask": rm.Mask()}, on_error="skip")
    assert len(skipped["image"]) == len(skipped["mask"]) == 1


def test_mask_follows_reduced_image() -> None:
    mask, indices = encode_palette_mask(0, 40, 30)
    specs = {"image": rm.Image(reduce=2), "mask": rm.Mask()}
    batch = rm.decode_batch({"image": [encode_jpeg(0, 40, 30)], "mask": [mask]}, specs)
    assert batch["image"].shape == (1, 3, 15, 20)
    np.testing.assert_array_equal(batch["mask"][0], rm.resize(indices, (15, 20), kernel="nearest"))


def test_mask_size_is_compared_with_upright_image() -> None:
    upright, _ = encode_palette_mask(0, 30, 40)
    columns = {"image": [encode_oriented_jpeg(6, 0, 40, 30)], "mask": [upright]}
    specs = {"image": rm.Image(orientation="apply"), "mask": rm.Mask()}
    assert rm.decode_batch(columns, specs)["mask"].shape == (1, 40, 30)
    with pytest.raises(rm.DecodeError, match="its image differ in size"):
        rm.decode_batch(columns, {"image": rm.Image(), "mask": rm.Mask()})


def test_mask_requires_fill_if_geometry_adds_pixels() -> None:
    for geometry in (
        {"crop": rm.RandomCrop(8, padding=1)},
        {"crop": rm.CenterCrop(8, small="pad")},
        {"affine": rm.RandomAffine(5)},
    ):
        with pytest.raises(ValueError, match="fill="):
            rm.decode_batch({}, {"image": rm.Image(**geometry), "mask": rm.Mask()}, rng=0)


def test_mask_of_unknown_image_raises() -> None:
    with pytest.raises(ValueError, match="of=None"):
        rm.decode_batch([encode_png(0)], {"mask": rm.Mask()})
    with pytest.raises(ValueError, match="refers to image 'photo'"):
        rm.decode_batch([encode_png(0)], {"image": rm.Image(), "mask": rm.Mask(of="photo")})


def test_mask_above_max_pixels_raises() -> None:
    with pytest.raises(rm.DecodeError) as caught:
        rm.decode_batch([encode_palette_mask()[0]], {"mask": rm.Mask(of=None)}, max_pixels=279)
    assert isinstance(caught.value.cause, rm.LimitError)


def test_skipped_mask_keeps_the_other_samples_aligned() -> None:
    masks = [encode_palette_mask(number) for number in range(3)]
    columns = {"image": [encode_png(0), encode_png(1), encode_png(2)], "mask": [masks[0][0], b"junk", masks[2][0]]}
    specs = {"image": rm.Image(crop=rm.CenterCrop(6)), "mask": rm.Mask(dtype="int64")}
    array = np.zeros((3, 6, 6), np.int64)
    batch = rm.decode_batch(columns, specs, on_error="skip", out={"mask": array})
    np.testing.assert_array_equal(batch["mask"], [masks[row][1][4:10, 7:13] for row in (0, 2)])
    assert np.shares_memory(batch["mask"], array)


def test_mask_is_written_to_out_array() -> None:
    array = np.zeros((1, 14, 20), np.int64)
    data, indices = encode_palette_mask()
    assert rm.decode_batch([data], {"m": rm.Mask(of=None, dtype="int64")}, out={"m": array})["m"] is array
    np.testing.assert_array_equal(array[0], indices)


@pytest.mark.parametrize("encoding, options", [("JPEG", {}), ("AVIF", {}), ("TIFF", {"compression": "jpeg"})])
def test_mask_in_lossy_encoding_raises(encoding: str, options: dict) -> None:
    if not features.check({"TIFF": "libtiff", "AVIF": "avif"}.get(encoding, "jpg")):
        pytest.skip(f"this Pillow has no {encoding}")
    lossy = encode_image(Image.fromarray(encode_palette_mask()[1]), encoding, **options)
    with pytest.raises(rm.DecodeError, match="lossy") as caught:
        rm.decode_batch([lossy], {"mask": rm.Mask(of=None)})
    assert caught.value.kind == "bad_mask"


def test_jpeg_mask_raises_without_opening_the_file(monkeypatch) -> None:
    monkeypatch.setattr("PIL.Image.open", lambda *call, **options: pytest.fail("opened"))
    for data in (encode_jpeg(0, mode="L"), b"\xff\xd8" + b"\xff" * 5000):
        with pytest.raises(rm.DecodeError, match="JPEG"):
            rm.decode_batch([data], {"mask": rm.Mask(of=None)})

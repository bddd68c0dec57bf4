"""The native decoder compared with Pillow and the NumPy reference: same specs, same numbers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

import recordmill as rm
from recordmill.decode import pillow_batch
from recordmill.testing import image_oracle
from tests.images import encode_gray16_png, encode_image, encode_jpeg, encode_palette_mask, encode_png

GEOMETRIES = st.sampled_from(
    [
        {},
        {"resize": rm.Resize((9, 11))},
        {"resize": rm.Resize(shorter=17), "crop": rm.CenterCrop(12)},
        {"crop": rm.RandomCrop((10, 16), padding=3, fill=7, small="pad"), "flip": rm.Flip(0.5, 0.5)},
        {"crop": rm.RandomCrop(12, padding=5, mode="reflect", small="enlarge")},
        {"crop": rm.RandomResizedCrop((9, 13)), "flip": True},
        {
            "crop": rm.RandomCrop(12, small="pad"),
            "affine": rm.RandomAffine(40, (0.2, 0.2), (0.5, 2), 10, kernel="bilinear", fill=3),
        },
        {"resize": rm.Resize((14, 20)), "affine": rm.RandomAffine(90, fill=200)},
        {"resize": rm.Resize((34, 30)), "affine": rm.RandomAffine(90, kernel="bilinear", fill=200)},
    ]
)
VALUES = st.sampled_from(
    [
        {"dtype": "uint16", "layout": "hwc"},
        {"dtype": "uint16"},
        {"dtype": "float32"},
        {"dtype": "float16", "mean": 0.3},
        {"mean": 0.5, "std": 0.25},
        {"dtype": "float32", "white": 255.0, "layout": "hwc"},
    ]
)
LIKE = st.sampled_from(["pillow", "opencv", "tensorflow", "mxnet"])


@contextmanager
def reference_steps() -> Iterator[None]:
    """Let ``decoder="pillow"`` run the reference implementation of the steps instead of the native one."""
    calls = []

    def apply_plan(*arguments):
        calls.append(arguments)
        return image_oracle.apply_plan(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pillow_batch, "apply_plan", apply_plan)
        yield
    assert calls, "the reference implementation was not called"


def deep_tiff(seed: int) -> bytes:
    return encode_image(Image.fromarray(encode_gray16_png(seed)[1]), "TIFF")


@given(GEOMETRIES, VALUES, LIKE, st.sampled_from(["rgb", "gray"]), st.integers(0, 50))
def test_native_images_equal_the_reference(geometry, values, like: str, channels: str, seed: int) -> None:
    files = [
        encode_gray16_png(seed)[0],
        encode_png(seed, mode="L"),
        encode_gray16_png(seed + 1, 31, 9)[0],
        encode_png(seed, mode="1"),
    ]
    files += [] if like == "tensorflow" else [encode_jpeg(seed, mode="L")]

    def decoded(decoder: str) -> list[np.ndarray]:
        spec = rm.Image(like=like, channels=channels, decoder=decoder, stack=False, **geometry, **values)
        return rm.decode_batch(files, {"x": spec}, rng=seed)["x"]

    with reference_steps():
        expected = decoded("pillow")
    for native, pillow, reference in zip(decoded("native"), decoded("pillow"), expected, strict=True):
        assert native.dtype == pillow.dtype == reference.dtype
        np.testing.assert_array_equal(native, reference)
        np.testing.assert_array_equal(pillow, reference)


@given(GEOMETRIES, LIKE, st.sampled_from(["uint8", "uint16", "int32", "int64"]), st.booleans(), st.integers(0, 50))
def test_native_masks_equal_the_reference(geometry, like: str, dtype: str, fit: bool, seed: int) -> None:
    size = (33, 8) if fit else (20, 14)
    masks = [encode_palette_mask(seed, *size)[0], encode_png(seed, *size, mode="1"), encode_png(seed, *size, mode="L")]
    masks += [encode_gray16_png(seed, *size)[0]] if dtype != "uint8" else []

    def decoded(decoder: str) -> list[np.ndarray]:
        columns = {"image": [encode_png(seed)] * len(masks), "mask": masks}
        image = rm.Image(like=like, decoder=decoder, stack=False, **geometry)
        specs = {"image": image, "mask": rm.Mask(fill=200, fit=fit, dtype=dtype, stack=False)}
        return rm.decode_batch(columns, specs, rng=seed)["mask"]

    with reference_steps():
        expected = decoded("pillow")
    for native, pillow, reference in zip(decoded("native"), decoded("pillow"), expected, strict=True):
        assert native.dtype == pillow.dtype == reference.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(native, reference)
        np.testing.assert_array_equal(pillow, reference)


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_native_masks_of_few_bits_keep_stored_values(bits: int) -> None:
    values = np.random.default_rng(bits).integers(0, 1 << bits, (6, 11)).astype(np.uint8)
    picture = Image.fromarray(values)
    out = io.BytesIO()
    picture.save(out, "PNG", bits=bits) if bits > 1 else Image.fromarray(values.astype(bool)).save(out, "PNG")
    specs = {"image": rm.Image(decoder="native"), "mask": rm.Mask()}
    found = rm.decode_batch({"image": [encode_png(0, 11, 6)], "mask": [out.getvalue()]}, specs)["mask"][0]
    np.testing.assert_array_equal(found, values)


def test_pillow_fallback_agrees_with_native_16_bit_png() -> None:
    files = [encode_gray16_png(3)[0], deep_tiff(3)]
    first, second = rm.decode_batch(files, {"x": rm.Image(dtype="uint16", resize=rm.Resize((5, 9)))})["x"]
    np.testing.assert_array_equal(first, second)


def test_color_steps_reject_16_bit_images() -> None:
    spec = rm.Image(color=[rm.RandomGrayscale(1)], dtype="float32")
    with pytest.raises(rm.DecodeError, match="do not support 16-bit images"):
        rm.decode_batch([encode_gray16_png()[0]], {"x": spec}, rng=1)


@pytest.mark.parametrize("like", ["pillow", "opencv", "tensorflow"])
@given(seed=st.integers(0, 30))
def test_decode_batch_resizes_as_the_resize_function(like: str, seed: int) -> None:
    from recordmill.decode.presets import KERNELS

    for word in KERNELS[like]:
        files, dtype = (
            [encode_gray16_png(seed)[0]],
            "float32" if like == "tensorflow" and word != "nearest" else "uint16",
        )
        spec = rm.Image(
            like=like, kernel=word, resize=rm.Resize((7, 25)), channels="gray", dtype=dtype, white=65535.0, layout="hwc"
        )
        batch = rm.decode_batch(files, {"x": spec})["x"][0]
        np.testing.assert_array_equal(
            batch[:, :, 0], rm.resize(rm.decode_png(files[0]), (7, 25), kernel=word, like=like)
        )


@pytest.mark.parametrize("decoder", ["native", "pillow"])
@pytest.mark.parametrize("color", [[], [rm.ColorJitter(0.0)]], ids=["plain", "jitter"])
@pytest.mark.parametrize("kind", ["pad", "affine"])
def test_fill_is_red_green_blue_for_bgr_output(decoder: str, color: list, kind: str) -> None:
    gray = encode_image(Image.new("RGB", (4, 4), (9, 9, 9)), "PNG")
    moves = {"crop": rm.CenterCrop(6, small="pad", fill=(1, 2, 3))}
    if kind == "affine":
        moves = {"affine": rm.RandomAffine(translate=(1, 1), fill=(1, 2, 3))}
    specs = {"x": rm.Image(channels="bgr", layout="hwc", decoder=decoder, color=color, **moves)}
    levels = {tuple(level) for level in rm.decode_batch([gray], specs, rng=2)["x"].reshape(-1, 3).tolist()}
    assert levels == {(9, 9, 9), (3, 2, 1)}


@pytest.mark.parametrize("like", ["pillow", "opencv", "tensorflow"])
def test_native_bgr_kernels_equal_the_reference(like: str) -> None:
    from recordmill.decode.presets import KERNELS

    noise = np.random.default_rng(0).integers(0, 256, (20, 20, 17, 3)).astype(np.uint8)
    files = [encode_image(Image.fromarray(levels)) for levels in noise]
    turn = rm.RandomAffine(9, kernel="bilinear", fill=(1, 2, 3))
    for word in KERNELS[like]:
        for moves in ({}, {"affine": turn}):
            options = {"like": like, "kernel": word, "channels": "bgr", **moves}
            spec = rm.Image(resize=(10, 5), decoder="native", **options)
            native = rm.decode_batch(files, {"x": spec}, rng=1)["x"]
            with reference_steps():
                reference = rm.decode_batch(files, {"x": replace(spec, decoder="pillow")}, rng=1)["x"]
            np.testing.assert_array_equal(native, reference)


@given(LIKE, st.integers(0, 50))
def test_native_scale_first_equals_the_reference(like: str, seed: int) -> None:
    spec = rm.Image(
        like=like,
        kernel="tensorflow:bilinear",
        resize=(9, 13),
        scale_first=True,
        mean=0.4,
        std=0.2,
        decoder="native",
        stack=False,
    )
    files = [encode_png(seed), encode_gray16_png(seed)[0]]
    native = rm.decode_batch(files, {"x": spec})["x"]
    pillow = rm.decode_batch(files, {"x": replace(spec, decoder="pillow")})["x"]
    with reference_steps():
        expected = rm.decode_batch(files, {"x": replace(spec, decoder="pillow")})["x"]
    for one, other, reference in zip(native, pillow, expected, strict=True):
        np.testing.assert_array_equal(one, reference)
        np.testing.assert_array_equal(other, reference)


def test_mask_fill_above_255_is_kept_for_images_of_8_bits() -> None:
    mask = encode_image(Image.fromarray(np.full((2, 2), 7, np.uint8)), "TIFF")
    specs = {"image": rm.Image(crop=rm.CenterCrop(4, small="pad")), "mask": rm.Mask(fill=300, dtype="uint16")}
    found = rm.decode_batch({"image": [encode_png(0, 2, 2)], "mask": [mask]}, specs)["mask"][0]
    assert found.tolist() == [[300] * 4, [300, 7, 7, 300], [300, 7, 7, 300], [300] * 4]

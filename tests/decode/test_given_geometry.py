"""Windows and flips from features: equal to single-image steps, followed by masks and boxes, or rejected."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill as rm
from recordmill.errors import DecodeError, FeatureError
from recordmill.types import Ragged
from tests.images import encode_jpeg, encode_oriented_jpeg, encode_palette_mask, encode_png

FILES = [
    encode_jpeg(1, 40, 30),
    encode_oriented_jpeg(6, 2, 33, 47),
    encode_png(3, 15, 52),
    encode_jpeg(4, 64, 40, mode="L"),
]
KERNELS = ["opencv:area_or_bilinear", "opencv:area", "opencv:bilinear", "pillow:bilinear", "tensorflow:bilinear"]


@st.composite
def windows(draw: st.DrawFn, orientation: str) -> np.ndarray:
    found = []
    for file in FILES:
        height, width = rm.image_sizes([file], orientation=orientation)[0].tolist()
        x, y = draw(st.integers(0, width - 1)), draw(st.integers(0, height - 1))
        found.append((x, y, draw(st.integers(1, width - x)), draw(st.integers(1, height - y))))
    return np.array(found)


@given(st.data(), st.sampled_from(["ignore", "apply"]), st.sampled_from(KERNELS), st.integers(1, 40))
def test_given_crop_equals_single_image_steps(data, orientation, kernel, side) -> None:
    given_windows, mirror = data.draw(windows(orientation)), data.draw(st.lists(st.booleans(), min_size=4, max_size=4))
    spec = rm.Image(
        crop=rm.GivenCrop("window", (side, 12)),
        flip=rm.GivenFlip("mirror"),
        orientation=orientation,
        kernel=kernel,
        mean=0.4,
    )
    columns = {"image": FILES, "window": given_windows, "mirror": mirror}
    batch = rm.decode_batch(columns, {"image": spec}, threads=2)
    assert batch["window"] is given_windows and batch["mirror"] is mirror
    for row, file in enumerate(FILES):
        whole = rm.decode_image(file, channels="rgb", orientation=orientation)
        step = rm.resize(rm.crop(whole, tuple(given_windows[row].tolist())), (side, 12), kernel=kernel)
        step = rm.flip(step) if mirror[row] else step
        if step.dtype == np.uint8:
            expected = rm.normalize(step, 0.4, layout="chw")
            np.testing.assert_array_equal(batch["image"][row], expected)
        else:
            np.testing.assert_allclose(batch["image"][row], step.transpose(2, 0, 1) / 255 - 0.4, atol=1e-5)


def test_given_crop_without_size_keeps_window_sizes() -> None:
    given_windows = np.array([[1, 2, 10, 20], [0, 0, 33, 47], [3, 40, 12, 5], [60, 0, 4, 40]])
    spec = rm.Image(crop=rm.GivenCrop("window"), layout="hwc", stack=False)
    for column in (given_windows, given_windows.tolist(), Ragged(given_windows.ravel(), np.arange(5) * 4)):
        found = rm.decode_batch({"image": FILES, "window": column}, {"image": spec})["image"]
        for row, (x, y, width, height) in enumerate(given_windows.tolist()):
            whole = rm.decode_image(FILES[row], channels="rgb")
            np.testing.assert_array_equal(found[row], whole[y : y + height, x : x + width])


@given(
    st.lists(st.tuples(st.integers(-9, 30), st.integers(-9, 30)), min_size=4, max_size=4), st.sampled_from([None, 24])
)
def test_given_crop_with_fill_pads_windows_beyond_the_image(corners, shorter) -> None:
    given_windows = np.array([(x, y, 20, 16) for x, y in corners])
    spec = rm.Image(crop=rm.GivenCrop("window", fill=(1, 2, 3)), resize=shorter, layout="hwc")
    found = rm.decode_batch({"image": FILES, "window": given_windows}, {"image": spec})["image"]
    for row, file in enumerate(FILES):
        whole = rm.decode_image(file, channels="rgb")
        if shorter:
            size = np.array(whole.shape[:2]) * shorter // min(whole.shape[:2])
            whole = rm.resize(whole, size.tolist())
        np.testing.assert_array_equal(found[row], rm.crop(whole, tuple(given_windows[row].tolist()), fill=(1, 2, 3)))


def test_given_crop_rejects_distant_windows_before_allocating() -> None:
    specs = {"image": rm.Image(crop=rm.GivenCrop("window", fill=0))}
    for far in [(-60_000, -60_000, 4, 4), (2**40, 0, 4, 4), (0, 0, 60_000, 60_000)]:
        with pytest.raises(DecodeError) as caught:
            rm.decode_batch({"image": FILES[:1], "window": [far]}, specs)
        assert caught.value.kind in ("limit_exceeded", "bad_window")


def test_given_crop_applies_to_the_resized_image() -> None:
    specs = {"image": rm.Image(crop=rm.GivenCrop("window"), resize=(10, 12))}
    inside = rm.decode_batch({"image": FILES[:1], "window": [[2, 1, 10, 9]]}, specs)["image"]
    whole = rm.resize(rm.decode_image(FILES[0], channels="rgb"), (10, 12))
    np.testing.assert_array_equal(inside[0].transpose(1, 2, 0), whole[1:, 2:])
    with pytest.raises(DecodeError, match="window does not lie"):
        rm.decode_batch({"image": FILES[:1], "window": [[2, 1, 11, 9]]}, specs)


@pytest.mark.parametrize("wrong", [(-1, 0, 4, 4), (0, -1, 4, 4), (0, 0, 0, 4), (0, 0, 4, 41), (2**62, 0, 2**62, 4)])
def test_given_crop_names_sample_of_window_outside_the_image(wrong: tuple[int, ...]) -> None:
    given_windows = np.array([[0, 0, 4, 4], [0, 0, 4, 4], [0, 0, 4, 4], wrong])
    columns, specs = {"image": FILES, "window": given_windows}, {"image": rm.Image(crop=rm.GivenCrop("window", 3))}
    with pytest.raises(DecodeError, match="window does not lie") as caught:
        rm.decode_batch(columns, specs)
    assert (caught.value.position, caught.value.kind, caught.value.found) == (3, "bad_window", str(wrong))
    kept = rm.decode_batch(columns, specs, on_error="skip")
    assert kept["image"].shape == (3, 3, 3, 3) and kept["window"].tolist() == given_windows[:3].tolist()


@pytest.mark.parametrize(
    "column",
    [np.zeros((4, 3), int), np.zeros((4, 4)), [[0, 0, 1, 1]] * 3 + [[0, 0, 1]], Ragged(np.zeros(16), np.arange(5) * 4)],
)
def test_given_crop_requires_four_integers_per_sample(column) -> None:
    with pytest.raises(FeatureError, match="'window' must hold 4 integers per sample"):
        rm.decode_batch({"image": FILES, "window": column}, {"image": rm.Image(crop=rm.GivenCrop("window", 3))})


def test_missing_given_feature_is_named() -> None:
    with pytest.raises(FeatureError, match="mirror"):
        rm.decode_batch({"image": FILES}, {"image": rm.Image(flip=rm.GivenFlip("mirror"), resize=(3, 4))})
    with pytest.raises(FeatureError, match="one feature"):
        rm.decode_batch(FILES, {"image": rm.Image(flip=rm.GivenFlip("mirror"), resize=(3, 4))})


def test_masks_and_boxes_follow_given_geometry() -> None:
    mask, indices = encode_palette_mask()
    height, width = indices.shape
    columns = {
        "image": [encode_jpeg(1, width, height)],
        "mask": [mask],
        "box": [np.array([[3.0, 2.0, 7.0, 5.0]])],
        "window": [[2, 1, 8, 6]],
        "mirror": [1],
    }
    image = rm.Image(crop=rm.GivenCrop("window", (12, 16)), flip=rm.GivenFlip("mirror"))
    found = rm.decode_batch(columns, {"image": image, "mask": rm.Mask(), "box": rm.Boxes()})
    part = np.ascontiguousarray(indices[1:7, 2:10])
    np.testing.assert_array_equal(found["mask"][0], rm.flip(rm.resize(part, (12, 16), kernel="nearest")))
    assert found["box"][0].tolist() == [[6.0, 2.0, 14.0, 8.0]]


def test_area_or_bilinear_kernel_depends_on_resize_direction() -> None:
    pixels = rm.decode_image(FILES[0], channels="rgb")
    height, width = pixels.shape[:2]
    for size, kernel in [
        ((height - 3, width - 7), "area"),
        ((height, width - 7), "area"),
        ((height // 2, width // 2), "area"),
        ((height + 1, width - 7), "bilinear"),
        ((height + 9, width + 5), "bilinear"),
    ]:
        chosen = rm.resize(pixels, size, kernel="opencv:area_or_bilinear")
        np.testing.assert_array_equal(chosen, rm.resize(pixels, size, kernel=f"opencv:{kernel}"))

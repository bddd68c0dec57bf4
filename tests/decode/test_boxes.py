"""Boxes and points are mapped with the pixels, clipped, dropped, or rejected."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

import recordmill as rm
from tests.images import encode_image, encode_jpeg, encode_oriented_jpeg, encode_png


def painted(box: tuple[int, int, int, int], width: int = 60, height: int = 48) -> bytes:
    pixels = np.zeros((height, width), np.uint8)
    pixels[box[1] : box[3], box[0] : box[2]] = 255
    return encode_image(Image.fromarray(pixels))


@given(
    st.integers(0, 40),
    st.integers(0, 30),
    st.integers(4, 20),
    st.integers(4, 18),
    st.integers(0, 999),
    st.sampled_from(
        [
            {"crop": rm.RandomResizedCrop((96, 120), scale=(0.5, 1)), "flip": rm.Flip(0.5, 0.5)},
            {"crop": rm.RandomCrop(40, padding=5), "flip": True},
            {"resize": rm.Resize((100, 130)), "flip": rm.Flip(1, 1)},
            {"crop": rm.CenterCrop(70, small="pad")},
        ]
    ),
)
@settings(max_examples=60)
def test_mapped_box_surrounds_the_painted_pixels(x, y, width, height, seed, geometry) -> None:
    box = (x, y, min(60, x + width), min(48, y + height))
    specs = {"image": rm.Image(**geometry, channels="gray", kernel="nearest"), "box": rm.Boxes()}
    batch = rm.decode_batch({"image": [painted(box)], "box": [np.array(box)]}, specs, rng=seed)
    bright = batch["image"][0, 0] > 127
    found = batch["box"][0]
    if not len(found):
        assert not bright.any()
        return
    rows, columns = np.flatnonzero(bright.any(axis=1)), np.flatnonzero(bright.any(axis=0))
    if len(rows):
        seen = [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]
        np.testing.assert_allclose(found[0], seen, atol=1.01)
    assert found.dtype == np.float32 and found.shape == (1, 4)


def test_rotated_box_is_the_bounding_box_of_its_corners() -> None:
    specs = {"image": rm.Image(affine=rm.RandomAffine((90, 90))), "box": rm.Boxes()}
    batch = rm.decode_batch({"image": [encode_png(0, 20, 20)], "box": [np.array([2.0, 3, 8, 5])]}, specs, rng=0)
    np.testing.assert_allclose(batch["box"][0], [[15, 2, 17, 8]], atol=1e-4)


@pytest.mark.parametrize("visible, kept", [(0.0, [0, 1, 2]), (0.25, [0, 1, 2]), (0.26, [0, 2]), (0.51, [0])])
def test_boxes_below_min_visible_are_dropped_with_their_along_values(visible: float, kept: list[int]) -> None:
    # The center crop covers 5 to 15: all of box 0, a quarter of box 1, half of box 2. Box 3 has no area, 4 is outside.
    boxes = np.array([[6, 6, 9, 9], [13, 13, 17, 17], [3, 7, 7, 9], [8, 8, 8, 12], [16, 0, 20, 20]], np.float32)
    columns = {
        "image": [encode_png(0, 20, 20), encode_png(1, 20, 20)],
        "box": rm.Ragged(np.concatenate([boxes.ravel(), boxes[0]]), np.array([0, 20, 24])),
        "label": rm.Ragged(np.array([0, 1, 2, 3, 4, 9]), np.array([0, 5, 6])),
    }
    specs = {
        "image": rm.Image(crop=rm.CenterCrop(10)),
        "box": rm.Boxes(min_visible=visible, along=["label"]),
    }
    batch = rm.decode_batch(columns, specs)
    assert batch["label"].to_list() == [kept, [9]] and batch["label"].data.dtype == np.int64
    clipped = np.array([[1, 1, 4, 4], [8, 8, 10, 10], [0, 2, 2, 4]], np.float32)
    np.testing.assert_array_equal(batch["box"][0], clipped[kept])
    assert batch["box"][1].tolist() == [[1, 1, 4, 4]]


@pytest.mark.parametrize("form, stored", [("xyxy", [2, 3, 12, 9]), ("yxyx", [3, 2, 9, 12]), ("xywh", [2, 3, 10, 6])])
def test_boxes_are_equal_in_every_form(form: str, stored: list[int]) -> None:
    specs = {"image": rm.Image(), "box": rm.Boxes(form=form)}
    found = rm.decode_batch({"image": [encode_png(0, 20, 12)], "box": [np.array(stored)]}, specs)["box"][0]
    assert found.tolist() == [[2, 3, 12, 9]]
    parts = np.array(stored) / (np.array([20, 12, 20, 12]) if form != "yxyx" else np.array([12, 20, 12, 20]))
    relative = {"image": rm.Image(), "box": rm.Boxes(form=form, relative=True)}
    found = rm.decode_batch({"image": [encode_png(0, 20, 12)], "box": [parts]}, relative)["box"][0]
    np.testing.assert_allclose(found, [[2, 3, 12, 9]], rtol=1e-6)


def test_boxes_are_read_from_four_features() -> None:
    columns = {
        "image": [encode_png(0), encode_png(1)],
        "ymin": [np.array([0.1, 0.2]), np.array([])],
        "xmin": [np.array([0.3, 0.4]), np.array([])],
        "ymax": [np.array([0.5, 0.6]), np.array([])],
        "xmax": [np.array([0.7, 0.8]), np.array([])],
    }
    spec = rm.Boxes(form="yxyx", relative=True, feature=["ymin", "xmin", "ymax", "xmax"])
    batch = rm.decode_batch(columns, {"image": rm.Image(), "boxes": spec})
    np.testing.assert_allclose(batch["boxes"][0], [[6, 1.4, 14, 7], [8, 2.8, 16, 8.4]], rtol=1e-6)
    assert list(batch) == ["image", "boxes"] and batch["boxes"][1].shape == (0, 4)
    columns["xmax"][0] = np.array([0.7])
    with pytest.raises(rm.DecodeError, match="same number of values"):
        rm.decode_batch(columns, {"image": rm.Image(), "boxes": spec})


def test_boxes_and_points_follow_reduced_and_upright_images() -> None:
    columns = {"image": [encode_jpeg(0, 40, 30)], "box": [np.array([4, 6, 20, 30])], "point": [np.array([10, 20])]}
    specs = {"image": rm.Image(reduce=2), "box": rm.Boxes(), "point": rm.Keypoints()}
    batch = rm.decode_batch(columns, specs)
    assert batch["box"][0].tolist() == [[2, 3, 10, 15]] and batch["point"][0].tolist() == [[5, 10, 1]]
    columns["image"] = [encode_oriented_jpeg(6, 0, 40, 30)]
    upright = {**specs, "image": rm.Image(orientation="apply", resize=rm.Resize((80, 60)))}
    batch = rm.decode_batch(columns, upright)
    assert batch["box"][0].tolist() == [[8, 12, 40, 60]] and batch["point"][0].tolist() == [[20, 40, 1]]


def test_flipped_points_are_edges_or_pixel_centers() -> None:
    columns = {"image": [encode_png(0, 20, 14)], "point": [np.array([0, 0, 19, 13, 20, 14, -1, 3])]}
    flipped = {"image": rm.Image(flip=rm.Flip(1, 0)), "point": rm.Keypoints()}
    assert rm.decode_batch(columns, flipped)["point"][0].tolist() == [[20, 0, 0], [1, 13, 1], [0, 14, 0], [21, 3, 0]]
    centers = {"image": rm.Image(flip=rm.Flip(1, 0)), "point": rm.Keypoints(centers=True)}
    assert rm.decode_batch(columns, centers)["point"][0].tolist() == [[19, 0, 1], [0, 13, 1], [-1, 14, 0], [20, 3, 0]]


def test_relative_points_are_fractions_of_the_image() -> None:
    columns = {"image": [encode_png(0, 20, 14)], "point": [np.array([0.5, 0.5])]}
    specs = {"image": rm.Image(crop=rm.CenterCrop(10)), "point": rm.Keypoints(relative=True)}
    assert rm.decode_batch(columns, specs)["point"][0].tolist() == [[5, 5, 1]]


@pytest.mark.parametrize(
    "value, message",
    [
        (np.array([1, 2, 3]), "rows of 4"),
        (np.array(["a"] * 4), "rows of 4"),
        (np.array([1, 2, np.nan, 4]), "finite"),
    ],
)
def test_invalid_boxes_fail_their_sample(value, message: str) -> None:
    columns = {"image": [encode_png(0), encode_png(1)], "box": [np.array([1, 2, 3, 4]), value]}
    specs = {"image": rm.Image(), "box": rm.Boxes()}
    with pytest.raises(rm.DecodeError, match=message) as caught:
        rm.decode_batch(columns, specs)
    assert (caught.value.position, caught.value.feature) == (1, "box")
    assert len(rm.decode_batch(columns, specs, on_error="skip")["box"]) == 1


def test_invalid_points_fail_their_sample() -> None:
    columns = {"image": [encode_png(0), encode_png(1)], "point": [np.array([1, 2, 3]), np.array([1, 2])]}
    specs = {"image": rm.Image(), "point": rm.Keypoints()}
    with pytest.raises(rm.DecodeError, match="rows of 2"):
        rm.decode_batch(columns, specs)
    assert rm.decode_batch(columns, specs, on_error="skip")["point"].to_list() == [[[1.0, 2.0, 1.0]]]


def test_along_feature_of_another_length_raises() -> None:
    columns = {"image": [encode_png(0)], "box": [np.array([1, 2, 3, 4])], "label": [np.array([1, 2])]}
    with pytest.raises(rm.DecodeError, match="one number per box"):
        rm.decode_batch(columns, {"image": rm.Image(), "box": rm.Boxes(along=["label"])})

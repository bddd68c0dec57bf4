"""Image modules: decoding, random crops, resizing and normalization, compared with recorded results of OneFlow."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill as rm
import recordmill.compat.oneflow as flow
from recordmill.compat.oneflow.image_decoders import CropWindowSampler
from recordmill.compat.oneflow.records import Location
from recordmill.compat.oneflow.tensors import TensorBuffer
from recordmill.errors import ImageError, RecordmillError
from tests.compat.oneflow.parts import PICTURES, RECORDED, batch_of, message

FOUND = np.load(RECORDED / "pictures.npz")
STORED = np.load(PICTURES)
MEAN, STD = [123.68, 116.779, 103.939], [58.393, 57.12, 57.375]
NORMALIZED: dict[str, dict[str, Any]] = {
    "plain": {},
    "normal": {"mean": MEAN, "std": STD},
    "one number": {"mean": [3.5], "std": [255.0]},
    "cut": {"crop_h": 6, "crop_w": 4, "mean": MEAN, "std": STD},
    "cut at": {"crop_h": 6, "crop_w": 4, "crop_pos_y": 0.9, "crop_pos_x": 0.2},
    "rgb": {"color_space": "RGB", "mean": MEAN, "std": STD},
}


def cases(beginning: str) -> list[str]:
    """Return the names of recorded arrays."""
    return [name for name in FOUND.files if name.startswith(f"{beginning}/")]


def stored(name: str) -> bytes:
    return bytes(STORED[name].tobytes())


def records(folder: Path, *names: str) -> Any:
    return batch_of(folder, *(message(images=stored(name)) for name in names))


def rgb(folder: Path, *names: str) -> Any:
    return flow.nn.OFRecordImageDecoder("images", color_space="RGB")(records(folder, *names))


@pytest.mark.parametrize("case", [*cases("decode"), *cases("decoder")])
def test_image_decoder_pixels_equal_those_of_oneflow(case: str, tmp_path: Path) -> None:
    _, name, color_space = case.split("/")
    found = flow.nn.OFRecordImageDecoder("images", color_space)(records(tmp_path, name)).numpy()[0]
    assert found.dtype == np.uint8 and np.array_equal(found, FOUND[case])


@pytest.mark.parametrize("case", cases("resize"))
def test_resized_pixels_equal_those_of_oneflow(case: str, tmp_path: Path) -> None:
    _, kernel, size = case.split("/")
    width, height = map(int, size.split("x"))
    resize = flow.nn.image.Resize(target_size=(width, height), interpolation_type=kernel)
    done, scale, new_size = resize(rgb(tmp_path, "jpeg_0"))
    assert np.array_equal(done.numpy()[0], FOUND[case]) and done.shape == (1, height, width, 3) and new_size is None
    assert np.array_equal(scale.numpy()[0], FOUND[f"scale/{size}"]) and scale.dtype == flow.float32


@pytest.mark.parametrize("case", cases("keep"))
def test_sizes_with_kept_aspect_ratio_equal_those_of_oneflow(case: str, tmp_path: Path) -> None:
    _, target, side, least, largest = case.split("/")
    limits = {"min_size": int(least) or None, "max_size": int(largest) or None}
    resize = flow.nn.image.Resize(int(target), keep_aspect_ratio=True, resize_side=side, **limits)
    done, scale, new_size = resize(rgb(tmp_path, "jpeg_0"))
    found = [*done.numpy()[0].shape, *scale.numpy()[0].tolist(), *new_size.numpy()[0]]
    assert np.array_equal(np.array(found), FOUND[case])


@pytest.mark.parametrize("case", cases("normal"))
def test_normalized_values_equal_those_of_oneflow(case: str, tmp_path: Path) -> None:
    _, name, mirrored = case.split("/")
    fixed, _, _ = flow.nn.image.Resize(target_size=(13, 9))(rgb(tmp_path, "jpeg_1"))
    mirror = None if mirrored == "none" else np.array([int(mirrored)], np.int8)
    found = flow.nn.CropMirrorNormalize(**NORMALIZED[name])(fixed, mirror)
    assert found.dtype == flow.float and np.array_equal(found.numpy()[0], FOUND[case])


def test_crop_of_images_of_several_sizes_returns_one_array(tmp_path: Path) -> None:
    buffers = rgb(tmp_path, "jpeg_0", "jpeg_turned_6", "png_RGB")
    cut = flow.nn.CropMirrorNormalize(crop_h=5, crop_w=4)(buffers, [0, 1, 0])
    assert cut.shape == (3, 3, 5, 4)
    with pytest.raises(ValueError, match="crop_h and crop_w"):
        flow.nn.CropMirrorNormalize()(buffers)
    with pytest.raises(ImageError, match="smaller than the crop") as caught:
        flow.nn.CropMirrorNormalize(crop_h=5, crop_w=400)(buffers)
    assert caught.value.record == 0 and caught.value.shard == str(tmp_path / "part-0")


@pytest.mark.parametrize(
    "name", ["jpeg_0", "jpeg_2", "jpeg_grey", "jpeg_cmyk", "jpeg_turned_6", "png_RGB", "png_P", "bmp"]
)
@pytest.mark.parametrize("color_space", ["RGB", "BGR", "GRAY"])
def test_random_crop_is_a_part_of_the_image(name: str, color_space: str, tmp_path: Path) -> None:
    batch = records(tmp_path, *[name] * 6)
    whole = flow.nn.OFRecordImageDecoder("images", color_space)(batch).numpy()[0]
    crop = flow.nn.OFRecordImageDecoderRandomCrop("images", color_space, random_seed=3, random_area=(0.2, 0.6))
    for part in crop(batch).numpy():
        height, width = part.shape[:2]
        rows, columns = range(whole.shape[0] - height + 1), range(whole.shape[1] - width + 1)
        assert any(np.array_equal(whole[y : y + height, x : x + width], part) for y in rows for x in columns)


def test_random_crops_repeat_for_a_seed_and_differ_between_batches(tmp_path: Path) -> None:
    batch = records(tmp_path, *["jpeg_0"] * 8)

    def shapes(seed: int | None) -> list[list[tuple[int, ...]]]:
        crop = flow.nn.OFRecordImageDecoderRandomCrop("images", random_seed=seed)
        return [[part.shape for part in crop(batch).numpy()] for _ in range(2)]

    first = shapes(7)
    assert first == shapes(7) != shapes(8) and first[0] != first[1]
    assert shapes(None) != shapes(None)


@given(st.integers(1, 400), st.integers(1, 400), st.integers(0, 2**32), st.floats(0.01, 1), st.floats(0.1, 10))
def test_window_is_inside_the_image_and_has_an_allowed_area(
    height: int, width: int, seed: int, area: float, ratio: float
) -> None:
    rule = CropWindowSampler(10, (area * 0.9, area), (ratio * 0.9, ratio))
    ((x, y, wide, high),) = rule.draw_windows(np.array([[height, width]]), rm.Draws(seed))
    assert min(x, y) >= 0 and min(wide, high) >= 1 and x + wide <= width and y + high <= height
    assert (wide - 0.51) * (high - 0.51) <= area * height * width or min(wide, high) == 1


def test_window_is_the_largest_allowed_one_if_no_attempt_fits() -> None:
    rule = CropWindowSampler(10, (0.95, 1.0), (0.99, 1.01))
    ((_, _, wide, high),) = rule.draw_windows(np.array([[75, 113]]), rm.Draws(0))
    assert (wide, high) == (75, 75)


@pytest.mark.parametrize("data", [b"", b"no picture", b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n"])
@pytest.mark.parametrize("make", [flow.nn.OFRecordImageDecoder, flow.nn.OFRecordImageDecoderRandomCrop])
def test_decoder_error_names_record_of_undecodable_image(make: Any, data: bytes, tmp_path: Path) -> None:
    batch = batch_of(tmp_path, message(images=stored("png_RGB")), message(images=data))
    with pytest.raises(RecordmillError) as caught:
        make("images", color_space="RGB")(batch).numpy()
    error: Any = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(error, ValueError) and error.shard == str(tmp_path / "part-0")
    assert (error.record, error.offset) == (1, len(message(images=stored("png_RGB"))) + 8)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: flow.nn.OFRecordImageDecoder("x", color_space="rgb"), "color_space"),
        (lambda: flow.nn.OFRecordImageDecoderRandomCrop("x", num_attempts=0), "num_attempts"),
        (lambda: flow.nn.image.Resize(target_size=3), "target_size must be two ints"),
        (lambda: flow.nn.image.Resize(target_size=(3, 4), keep_aspect_ratio=True), "target_size must be an int"),
        (lambda: flow.nn.image.Resize(3, keep_aspect_ratio=True, resize_side="upper"), "resize_side"),
        (lambda: flow.nn.image.Resize(3, keep_aspect_ratio=True, min_size=4), "min_size"),
        (lambda: flow.nn.image.Resize(9, keep_aspect_ratio=True, max_size=4), "max_size"),
        (lambda: flow.nn.image.Resize((3, 4), interpolation_type="lanczos"), "interpolation_type"),
        (lambda: flow.nn.image.Resize((3, 4), interp_type="Lanczos"), "interp_type"),
        (lambda: flow.nn.image.Resize((3, 4), dtype=flow.float), "dtype"),
        (lambda: flow.nn.CropMirrorNormalize(output_layout="NHWC"), "output_layout"),
        (lambda: flow.nn.CropMirrorNormalize(output_dtype=flow.double), "output_dtype"),
        (lambda: flow.nn.image.Resize((0, 4)), "target_size must be at least 1 x 1"),
        (lambda: flow.nn.image.Resize((3, 4), channels=2), "channels must be 1 or 3"),
        (lambda: flow.nn.CropMirrorNormalize("HSV"), "color_space must be one of"),
        (lambda: flow.nn.CropMirrorNormalize(crop_h=-1), "crop_h and crop_w must not be negative"),
        (lambda: flow.nn.CropMirrorNormalize(crop_pos_x=2), "crop_pos_x"),
        (lambda: flow.nn.CoinFlip(probability=2), "probability"),
        (lambda: flow.nn.CoinFlip(placement=2), "placement"),
    ],
)
def test_image_module_error_names_unsupported_option(make: Any, text: str) -> None:
    with pytest.raises((ValueError, NotImplementedError), match=text):
        make()


def test_resize_error_names_record_with_another_number_of_channels(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="number of channels") as caught:
        flow.nn.image.Resize((3, 4), channels=1)(rgb(tmp_path, "jpeg_0"))
    assert caught.value.record == 0


def test_coin_flips_repeat_for_a_seed_and_have_the_given_probability() -> None:
    coins, again = (flow.nn.CoinFlip(batch_size=4096, random_seed=5, probability=0.25) for _ in range(2))
    first, second = coins(), coins()
    assert first.dtype == flow.int8 and first.tolist() == again().tolist() != second.tolist()
    assert 0.2 < first.numpy().mean() < 0.3


@pytest.mark.parametrize("option", ["random_area", "random_aspect_ratio"])
@pytest.mark.parametrize("value", [0.5, (0.1, 0.2, 0.3), "ab", (0, 1), (2, 1)])
def test_random_crop_error_names_option_that_is_not_a_range(option: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{option} must be two numbers"):
        flow.nn.OFRecordImageDecoderRandomCrop("images", **{option: value})


@pytest.mark.parametrize(
    "size, area, ratio, expected",
    [
        ((75, 101), 1.0, (0.99, 1.01), (75, 75)),
        ((100, 300), 1.0, (0.9, 1.1), (100, 110)),
        ((40, 90), 1.0, (0.99, 1.02), (40, 40)),
        ((75, 113), 0.85, (2.9, 3.0), (38, 113)),
        ((90, 40), 1.0, (0.95, 0.965), (42, 40)),
        ((50, 50), 0.4, (0.07, 0.08), (50, 4)),
        ((60, 80), 0.25, (1.33, 1.34), (30, 40)),
    ],
)
def test_largest_window_equals_that_of_oneflow(size: Any, area: float, ratio: Any, expected: Any) -> None:
    rule = CropWindowSampler(1, (area, area), ratio)
    assert tuple(rule.compute_largest_sizes(np.array([size[::-1]]))[0][::-1]) == expected
    window = rule.draw_windows(np.array([size]), rm.Draws(1))
    assert ((window[0, :2] >= 0) & (window[0, :2] + window[0, 2:] <= size[::-1])).all()


@pytest.mark.parametrize(
    "options, size, expected",
    [
        ({"target_size": 20}, (41, 40), (20, 20)),
        ({"target_size": 20}, (43, 40), (22, 20)),
        ({"target_size": 20}, (45, 40), (22, 20)),
        ({"target_size": 20, "resize_side": "longer", "min_size": 18}, (50, 40), (22, 18)),
        ({"target_size": 20, "resize_side": "longer", "min_size": 19}, (90, 60), (28, 19)),
        ({"resize_shorter": 20}, (43, 40), (22, 20)),
    ],
)
def test_resize_rounds_half_sizes_to_even(options: dict[str, Any], size: Any, expected: Any) -> None:
    image = TensorBuffer([np.zeros((*size[::-1], 3), np.uint8)], [Location("part-0", 0, 0)])
    _, _, new = flow.nn.image.Resize(**{"keep_aspect_ratio": True, **options})(image)
    assert tuple(new.numpy()[0]) == expected


def test_resize_accepts_options_of_older_programs(tmp_path: Path) -> None:
    images = rgb(tmp_path, "jpeg_0")
    old = flow.nn.image.Resize(resize_x=13, resize_y=9, color_space="rgb", interp_type="Linear")(images)[0]
    assert np.array_equal(old.numpy()[0], FOUND["resize/bilinear/13x9"])

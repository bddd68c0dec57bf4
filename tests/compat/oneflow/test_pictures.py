"""Pictures: decoded, cut, resized and normalised as OneFlow does; what is no picture is an error with its record."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill as rm
import recordmill.compat.oneflow as flow
from recordmill.compat.oneflow.image_decoders import WindowRule
from recordmill.errors import ImageError, RecordmillError
from tests.compat.oneflow.parts import PICTURES, RECORDED, batch_of, message

FOUND = np.load(RECORDED / "pictures.npz")
STORED = np.load(PICTURES)
MEAN, STD = [123.68, 116.779, 103.939], [58.393, 57.12, 57.375]
NORMALISED: dict[str, dict[str, Any]] = {
    "plain": {},
    "normal": {"mean": MEAN, "std": STD},
    "one number": {"mean": [3.5], "std": [255.0]},
    "cut": {"crop_h": 6, "crop_w": 4, "mean": MEAN, "std": STD},
    "cut at": {"crop_h": 6, "crop_w": 4, "crop_pos_y": 0.9, "crop_pos_x": 0.2},
    "rgb": {"color_space": "RGB", "mean": MEAN, "std": STD},
}


def cases(beginning: str) -> list[str]:
    """Names of recorded arrays."""
    return [name for name in FOUND.files if name.startswith(f"{beginning}/")]


def stored(name: str) -> bytes:
    return bytes(STORED[name].tobytes())


def records(folder: Path, *names: str) -> Any:
    return batch_of(folder, *(message(images=stored(name)) for name in names))


def rgb(folder: Path, *names: str) -> Any:
    return flow.nn.OFRecordImageDecoder("images", color_space="RGB")(records(folder, *names))


@pytest.mark.parametrize("case", cases("decode"))
def test_image_decode_when_compared_then_is_oneflows_bit_for_bit(case: str, tmp_path: Path) -> None:
    _, name, colours = case.split("/")
    encoded = flow.nn.OFRecordBytesDecoder("images")(records(tmp_path, name))
    found = flow.nn.image.decode(dtype=flow.uint8, color_space=colours)(encoded).numpy()[0]
    assert found.dtype == np.uint8 and np.array_equal(found, FOUND[case])


@pytest.mark.parametrize("case", cases("decoder"))
def test_image_decoder_when_compared_then_is_oneflows_bit_for_bit(case: str, tmp_path: Path) -> None:
    assert np.array_equal(rgb(tmp_path, case.split("/")[1]).numpy()[0], FOUND[case])


@pytest.mark.parametrize("name", ["png_RGB", "png_L", "png_P", "bmp", "jpeg_1", "jpeg_grey"])
def test_image_decoder_when_told_other_colours_then_orders_channels(name: str, tmp_path: Path) -> None:
    batch = records(tmp_path, name)
    colours, reverse, grey = (
        flow.nn.OFRecordImageDecoder("images", **option)(batch).numpy()[0]
        for option in ({"color_space": "RGB"}, {}, {"color_space": "GRAY"})
    )
    assert np.array_equal(colours[:, :, ::-1], reverse)
    assert np.array_equal(grey, FOUND[f"decode/{name}/GRAY"]) and grey.shape == (*colours.shape[:2], 1)


@pytest.mark.parametrize("case", cases("resize"))
def test_resize_when_compared_then_is_oneflows_bit_for_bit(case: str, tmp_path: Path) -> None:
    _, kernel, size = case.split("/")
    width, height = map(int, size.split("x"))
    resize = flow.nn.image.Resize(target_size=(width, height), interpolation_type=kernel)
    done, scale, new_size = resize(rgb(tmp_path, "jpeg_0"))
    assert np.array_equal(done.numpy()[0], FOUND[case]) and done.shape == (1, height, width, 3) and new_size is None
    assert np.array_equal(scale.numpy()[0], FOUND[f"scale/{size}"]) and scale.dtype == flow.float32


@pytest.mark.parametrize("case", cases("keep"))
def test_resize_of_one_side_when_compared_then_sizes_are_oneflows(case: str, tmp_path: Path) -> None:
    _, target, side, least, largest = case.split("/")
    limits = {"min_size": int(least) or None, "max_size": int(largest) or None}
    resize = flow.nn.image.Resize(int(target), keep_aspect_ratio=True, resize_side=side, **limits)
    done, scale, new_size = resize(rgb(tmp_path, "jpeg_0"))
    found = [*done.numpy()[0].shape, *scale.numpy()[0].tolist(), *new_size.numpy()[0]]
    assert np.array_equal(np.array(found), FOUND[case])


@pytest.mark.parametrize("case", cases("normal"))
def test_normalised_picture_when_compared_then_is_oneflows_bit_for_bit(case: str, tmp_path: Path) -> None:
    _, name, mirrored = case.split("/")
    fixed, _, _ = flow.nn.image.Resize(target_size=(13, 9))(rgb(tmp_path, "jpeg_1"))
    mirror = None if mirrored == "none" else np.array([int(mirrored)], np.int8)
    found = flow.nn.CropMirrorNormalize(**NORMALISED[name])(fixed, mirror)
    assert found.dtype == flow.float and np.array_equal(found.numpy()[0], FOUND[case])


def test_pictures_of_several_sizes_when_cut_then_are_one_array(tmp_path: Path) -> None:
    buffers = rgb(tmp_path, "jpeg_0", "jpeg_turned_6", "png_RGB")
    cut = flow.nn.CropMirrorNormalize(crop_h=5, crop_w=4)(buffers, [0, 1, 0])
    assert cut.shape == (3, 3, 5, 4)
    with pytest.raises(ValueError, match="crop_h and crop_w"):
        flow.nn.CropMirrorNormalize()(buffers)
    with pytest.raises(ImageError, match="smaller than the window") as caught:
        flow.nn.CropMirrorNormalize(crop_h=5, crop_w=400)(buffers)
    assert caught.value.record == 0 and caught.value.shard == str(tmp_path / "part-0")


@pytest.mark.parametrize(
    "name", ["jpeg_0", "jpeg_2", "jpeg_grey", "jpeg_cmyk", "jpeg_turned_6", "png_RGB", "png_P", "bmp"]
)
@pytest.mark.parametrize("colours", ["RGB", "BGR", "GRAY"])
def test_random_crop_when_decoded_then_is_a_part_of_the_picture(name: str, colours: str, tmp_path: Path) -> None:
    batch = records(tmp_path, *[name] * 6)
    whole = flow.nn.OFRecordImageDecoder("images", colours)(batch).numpy()[0]
    crop = flow.nn.OFRecordImageDecoderRandomCrop("images", colours, random_seed=3, random_area=(0.2, 0.6))
    for part in crop(batch).numpy():
        height, width = part.shape[:2]
        rows, columns = range(whole.shape[0] - height + 1), range(whole.shape[1] - width + 1)
        assert any(np.array_equal(whole[y : y + height, x : x + width], part) for y in rows for x in columns)


def test_random_crops_of_a_seed_when_drawn_again_then_repeat_and_change_from_batch_to_batch(tmp_path: Path) -> None:
    batch = records(tmp_path, *["jpeg_0"] * 8)

    def shapes(seed: int | None) -> list[list[tuple[int, ...]]]:
        crop = flow.nn.OFRecordImageDecoderRandomCrop("images", random_seed=seed)
        return [[part.shape for part in crop(batch).numpy()] for _ in range(2)]

    first = shapes(7)
    assert first == shapes(7) != shapes(8) and first[0] != first[1]
    assert shapes(None) != shapes(None)


@given(st.integers(1, 400), st.integers(1, 400), st.integers(0, 2**32), st.floats(0.01, 1), st.floats(0.1, 10))
def test_window_when_drawn_then_lies_in_the_picture_and_keeps_to_its_rule(
    height: int, width: int, seed: int, area: float, ratio: float
) -> None:
    rule = WindowRule(10, (area * 0.9, area), (ratio * 0.9, ratio))
    ((x, y, wide, high),) = rule.windows(np.array([[height, width]]), rm.Draws(seed))
    assert min(x, y) >= 0 and min(wide, high) >= 1 and x + wide <= width and y + high <= height
    assert (wide - 0.51) * (high - 0.51) <= area * height * width or min(wide, high) == 1


def test_window_when_nothing_fits_then_is_the_largest_that_is_allowed() -> None:
    rule = WindowRule(10, (0.95, 1.0), (0.99, 1.01))
    ((_, _, wide, high),) = rule.windows(np.array([[75, 113]]), rm.Draws(0))
    assert (wide, high) == (75, 75)


@pytest.mark.parametrize("data", [b"", b"no picture", b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n"])
@pytest.mark.parametrize("make", [flow.nn.OFRecordImageDecoder, flow.nn.OFRecordImageDecoderRandomCrop])
def test_bytes_that_are_no_picture_when_decoded_then_are_an_error_with_the_record(
    make: Any, data: bytes, tmp_path: Path
) -> None:
    batch = batch_of(tmp_path, message(images=stored("png_RGB")), message(images=data))
    with pytest.raises(RecordmillError) as caught:
        make("images", color_space="RGB")(batch)
    error: Any = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(error, ValueError) and error.shard == str(tmp_path / "part-0")
    assert (error.record, error.offset) == (1, len(message(images=stored("png_RGB"))) + 8)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: flow.nn.OFRecordImageDecoder("x", color_space="rgb"), "color_space"),
        (lambda: flow.nn.OFRecordImageDecoderRandomCrop("x", num_attempts=0), "num_attempts"),
        (lambda: flow.nn.OFRecordImageDecoderRandomCrop("x", random_area=(0, 1)), "random_area"),
        (lambda: flow.nn.OFRecordImageDecoderRandomCrop("x", random_aspect_ratio=(2, 1)), "random_aspect_ratio"),
        (lambda: flow.nn.image.decode(dtype=flow.float), "dtype"),
        (lambda: flow.nn.image.Resize(target_size=3), "target_size must be a form like"),
        (lambda: flow.nn.image.Resize(target_size=(3, 4), keep_aspect_ratio=True), "target_size must be an int"),
        (lambda: flow.nn.image.Resize(3, keep_aspect_ratio=True, resize_side="upper"), "resize_side"),
        (lambda: flow.nn.image.Resize(3, keep_aspect_ratio=True, min_size=4), "min_size"),
        (lambda: flow.nn.image.Resize(9, keep_aspect_ratio=True, max_size=4), "max_size"),
        (lambda: flow.nn.image.Resize((3, 4), interpolation_type="lanczos"), "interpolation_type"),
        (lambda: flow.nn.image.Resize((3, 4), interp_type="Lanczos"), "interp_type"),
        (lambda: flow.nn.image.Resize((3, 4), dtype=flow.float), "dtype"),
        (lambda: flow.nn.CropMirrorNormalize(output_layout="NHWC"), "output_layout"),
        (lambda: flow.nn.CropMirrorNormalize(output_dtype=flow.double), "output_dtype"),
        (lambda: flow.nn.CropMirrorNormalize(crop_pos_x=2), "crop_pos_x"),
        (lambda: flow.nn.CoinFlip(probability=2), "probability"),
        (lambda: flow.nn.CoinFlip(placement=2), "placement"),
    ],
)
def test_option_when_not_supported_then_is_refused_by_name(make: Any, text: str) -> None:
    with pytest.raises((ValueError, NotImplementedError), match=text):
        make()


def test_resize_when_told_another_number_of_channels_then_names_the_record(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="number of channels") as caught:
        flow.nn.image.Resize((3, 4), channels=1)(rgb(tmp_path, "jpeg_0"))
    assert caught.value.record == 0


def test_coins_when_thrown_then_repeat_for_a_seed_and_come_as_often_as_told() -> None:
    coins, again = (flow.nn.CoinFlip(batch_size=4096, random_seed=5, probability=0.25) for _ in range(2))
    first, second = coins(), coins()
    assert first.dtype == flow.int8 and first.tolist() == again().tolist() != second.tolist()
    assert 0.2 < first.numpy().mean() < 0.3

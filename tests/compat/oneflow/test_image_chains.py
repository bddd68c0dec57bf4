"""Chains of image modules: one native call equals separate steps; results that are decoded on first use."""

from __future__ import annotations

import pickle
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill.compat.oneflow as flow
from recordmill.compat.oneflow import transforms
from recordmill.compat.oneflow.image_decoders import ImageBuffer
from recordmill.compat.oneflow.records import Location, RecordBatch
from recordmill.compat.oneflow.tensors import TensorBuffer
from recordmill.errors import RecordmillError
from recordmill.types import Ragged
from tests.compat.oneflow.parts import PICTURES, message

STORED = np.load(PICTURES)
NAMES = ["jpeg_0", "jpeg_1", "jpeg_2", "jpeg_grey", "jpeg_cmyk", "jpeg_turned_6", "png_RGB", "png_P", "png_L", "bmp"]
KERNELS = ["auto", "bilinear", "nearest_neighbor", "bicubic", "area"]
MEANS: list[dict[str, Any]] = [
    {},
    {"mean": [3.5], "std": [255.0]},
    {"mean": [120.0, 90.5, 1.0], "std": [3.0, 2.0, 1.5]},
]


def batch_of(*images: bytes) -> RecordBatch:
    payloads = Ragged.from_rows([message(images=image) for image in images])
    return RecordBatch(payloads, [Location("part-7", 3 + row, 100 * row) for row in range(len(images))])


def stored(name: str) -> bytes:
    return bytes(STORED[name].tobytes())


def crop_whole_images(images: ImageBuffer, color_space: str, records: RecordBatch) -> TensorBuffer:
    """Return the windows of the images as parts of the decoded whole images."""
    whole = flow.nn.OFRecordImageDecoder("images", color_space)(records).numpy()
    windows = images.encoded.windows.tolist()
    parts = [one[y : y + height, x : x + width] for one, (x, y, width, height) in zip(whole, windows, strict=True)]
    return TensorBuffer(parts, records.locations)


@st.composite
def chains(draw: st.DrawFn) -> Any:
    """Return a function that runs a chain of modules, in one call or in separate steps."""
    color_space, cropped = draw(st.sampled_from(["RGB", "BGR", "GRAY"])), draw(st.booleans())
    seed, area = draw(st.integers(0, 99)), draw(st.sampled_from([(0.08, 1.0), (0.01, 0.05)]))
    size, kernel = (draw(st.integers(1, 40)), draw(st.integers(1, 40))), draw(st.sampled_from(KERNELS))
    means = draw(st.sampled_from(MEANS[:2] if color_space == "GRAY" else MEANS))
    crop = draw(st.sampled_from([{}, {"crop_h": 1, "crop_w": 1}]))
    last, mirrored = draw(st.sampled_from(["decode", "resize", "normalize"])), draw(st.booleans())

    def run(records: RecordBatch, separately: bool) -> Any:
        decoder: Any = flow.nn.OFRecordImageDecoder("images", color_space)
        if cropped:
            decoder = flow.nn.OFRecordImageDecoderRandomCrop("images", color_space, random_seed=seed, random_area=area)
        images = decoder(records)
        if separately:
            images = crop_whole_images(images, color_space, records)
        if last == "decode":
            return images.numpy()
        channels = 1 if color_space == "GRAY" else 3
        resized, scale, _ = flow.nn.image.Resize(size, channels=channels, interpolation_type=kernel)(images)
        if separately:
            resized = np.array(resized)
        if last == "resize":
            return [np.asarray(resized), scale.numpy()]
        coins = flow.nn.CoinFlip(len(records), random_seed=seed)() if mirrored else None
        normalize = flow.nn.CropMirrorNormalize(color_space, **means, **crop)
        return [normalize(resized, coins).numpy(), scale.numpy()]

    return run


@given(chains(), st.lists(st.sampled_from(NAMES), min_size=1, max_size=5))
def test_chain_in_one_call_equals_separate_steps_exactly(run: Any, names: list[str]) -> None:
    records = batch_of(*map(stored, names))
    found, expected = run(records, separately=False), run(records, separately=True)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape and np.array_equal(one, other)


def load_imagenet(records: RecordBatch) -> Any:
    crop = flow.nn.OFRecordImageDecoderRandomCrop("images", color_space="RGB", random_seed=5)
    return flow.nn.CropMirrorNormalize("RGB")(flow.nn.image.Resize((9, 7))(crop(records))[0])


def test_chain_runs_no_separate_step_before_normalization() -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("a step ran separately")

    records = batch_of(*map(stored, NAMES))
    with patch.object(ImageBuffer, "numpy", fail), patch.object(transforms, "map_range", fail):
        assert load_imagenet(records).shape == (len(NAMES), 3, 7, 9)


@pytest.mark.parametrize("name", ["jpeg_0", "png_RGB", "bmp"])
@pytest.mark.parametrize("keep", [0.1, 0.5, 0.8])
def test_chain_error_names_record_of_truncated_image(name: str, keep: float) -> None:
    whole = stored(name)
    with pytest.raises(RecordmillError) as caught:
        load_imagenet(batch_of(stored("jpeg_1"), whole[: int(len(whole) * keep)]))
    assert (caught.value.shard, caught.value.record, caught.value.offset) == ("part-7", 4, 100)


def test_resized_images_behave_like_an_array() -> None:
    decode = flow.nn.OFRecordImageDecoder("images", "RGB")
    resized = flow.nn.image.Resize((5, 4))(decode(batch_of(stored("jpeg_0"), stored("png_RGB"))))[0]
    assert (resized.shape, resized.dtype, resized.ndim, len(resized)) == ((2, 4, 5, 3), flow.uint8, 4, 2)
    assert not resized.is_decoded
    values = resized.numpy()
    assert resized.is_decoded and np.array_equal(np.asarray(resized), values)
    assert np.array_equal(np.asarray(resized, np.float32), values.astype(np.float32))
    assert np.array_equal(resized / 2 + resized, values / 2 + values) and np.array_equal(resized[1], values[1])
    assert resized.tolist() == values.tolist() and resized.mean() == values.mean() and repr(resized)
    assert np.array_equal(np.transpose(resized, (0, 3, 1, 2)), values.transpose(0, 3, 1, 2))
    assert np.array_equal(pickle.loads(pickle.dumps(resized)), values)
    with pytest.raises(AttributeError):
        resized.no_such_name  # noqa: B018


def test_normalization_uses_values_that_the_program_changed() -> None:
    resized = flow.nn.image.Resize((5, 4))(flow.nn.OFRecordImageDecoder("images")(batch_of(stored("jpeg_0"))))[0]
    resized[0, :, :2] = 9
    resized += 1
    assert (flow.nn.CropMirrorNormalize()(resized).numpy()[0, :, :, :2] == 10).all()


def test_image_buffer_returns_one_image_as_a_batch() -> None:
    buffer = flow.nn.OFRecordImageDecoder("images", "GRAY")(batch_of(stored("jpeg_0"), stored("png_RGB")))
    assert buffer.shape == (2,) and len(buffer) == 2
    assert np.array_equal(buffer[1].numpy()[0], buffer.numpy()[1]) and buffer[1].locations[0].record == 4


def test_later_batches_do_not_overwrite_earlier_ones() -> None:
    normalize, resize = flow.nn.CropMirrorNormalize(), flow.nn.image.Resize((320, 320))
    decode = flow.nn.OFRecordImageDecoder("images")
    kept = [normalize(resize(decode(batch_of(stored(name))))[0]).numpy() for name in NAMES]
    copies = [normalize(resize(decode(batch_of(stored(name))))[0]).numpy().copy() for name in NAMES]
    assert all(map(np.array_equal, kept, copies))

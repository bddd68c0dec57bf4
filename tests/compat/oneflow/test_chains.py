"""Chains of picture modules: what one call makes equals the steps one by one, and fails as they do."""

from __future__ import annotations

import pickle
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill.compat.oneflow as flow
from recordmill.compat.oneflow import image_decoders, normalize, resize
from recordmill.compat.oneflow.lazy_images import Encoded, LazyBuffer
from recordmill.compat.oneflow.tensors import Place, Records
from recordmill.errors import RecordmillError
from recordmill.types import Ragged
from tests.compat.oneflow.parts import PICTURES, message

STORED = np.load(PICTURES)
NAMES = ["jpeg_0", "jpeg_1", "jpeg_2", "jpeg_grey", "jpeg_turned_6", "png_RGB", "png_P", "png_L", "bmp"]
KERNELS = ["auto", "bilinear", "nearest_neighbor", "bicubic", "area"]
MEANS: list[dict[str, Any]] = [
    {},
    {"mean": [3.5], "std": [255.0]},
    {"mean": [120.0, 90.5, 1.0], "std": [3.0, 2.0, 1.5]},
]


def batch_of(*pictures: bytes) -> Records:
    payloads = Ragged.from_rows([message(images=picture) for picture in pictures])
    return Records(payloads, [Place("part-7", 3 + row, 100 * row) for row in range(len(pictures))])


def stored(name: str) -> bytes:
    return bytes(STORED[name].tobytes())


def step_by_step() -> Any:
    """Let no call do more than one step."""
    return patch.object(Encoded, "decode", lambda *_, **__: None)


@st.composite
def chains(draw: st.DrawFn) -> Any:
    """Make a chain, and a function that runs it anew on a batch."""
    colours, cropped = draw(st.sampled_from(["RGB", "BGR", "GRAY"])), draw(st.booleans())
    seed, area = draw(st.integers(0, 99)), draw(st.sampled_from([(0.08, 1.0), (0.01, 0.05)]))
    size, kernel = (draw(st.integers(1, 40)), draw(st.integers(1, 40))), draw(st.sampled_from(KERNELS))
    means = draw(st.sampled_from(MEANS[:2] if colours == "GRAY" else MEANS))
    cut = draw(st.sampled_from([{}, {"crop_h": 1, "crop_w": 1}]))
    last, mirrored = draw(st.sampled_from(["decode", "resize", "normalise"])), draw(st.booleans())

    def run(records: Records) -> Any:
        decoder: Any = flow.nn.OFRecordImageDecoder("images", colours)
        if cropped:
            decoder = flow.nn.OFRecordImageDecoderRandomCrop("images", colours, random_seed=seed, random_area=area)
        pictures = decoder(records)
        if last == "decode":
            return pictures.numpy()
        channels = 1 if colours == "GRAY" else 3
        pictures, scale, _ = flow.nn.image.Resize(size, channels=channels, interpolation_type=kernel)(pictures)
        if last == "resize":
            return [pictures.numpy(), scale.numpy()]
        coins = flow.nn.CoinFlip(len(records), random_seed=seed)() if mirrored else None
        return [flow.nn.CropMirrorNormalize(colours, **means, **cut)(pictures, coins).numpy(), scale.numpy()]

    return run


@given(chains(), st.lists(st.sampled_from(NAMES), min_size=1, max_size=5))
def test_chain_when_run_at_once_then_equals_the_steps_bit_for_bit(run: Any, names: list[str]) -> None:
    records = batch_of(*map(stored, names))
    found = run(records)
    with step_by_step():
        expected = run(records)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape and np.array_equal(one, other)


def imagenet(records: Records) -> Any:
    crop = flow.nn.OFRecordImageDecoderRandomCrop("images", color_space="RGB", random_seed=5)
    return flow.nn.CropMirrorNormalize("RGB")(flow.nn.image.Resize((9, 7))(crop(records))[0])


def test_chain_when_values_are_asked_for_at_its_end_then_does_no_step_by_itself() -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a step was done by itself")

    steps = [(image_decoders, "decode_windows"), (resize, "map_range"), (normalize, "map_range")]
    records = batch_of(*map(stored, NAMES))
    with patch.object(*steps[0], refuse), patch.object(*steps[1], refuse), patch.object(*steps[2], refuse):
        assert imagenet(records).shape == (len(NAMES), 3, 7, 9)


@pytest.mark.parametrize("name", ["jpeg_0", "png_RGB"])
@pytest.mark.parametrize("keep", [0.5, 0.8])
def test_picture_when_cut_short_then_both_ways_end_alike(name: str, keep: float) -> None:
    whole = stored(name)
    records = batch_of(stored("jpeg_1"), whole[: int(len(whole) * keep)])

    def outcome() -> Any:
        try:
            return imagenet(records).numpy().tobytes()
        except RecordmillError as error:
            return type(error), error.message, error.shard, error.record, error.offset

    at_once = outcome()
    with step_by_step():
        assert outcome() == at_once
    assert isinstance(at_once, bytes) or at_once[2:] == ("part-7", 4, 100)


def test_resized_pictures_when_used_as_an_array_then_are_one() -> None:
    decode = flow.nn.OFRecordImageDecoder("images", "RGB")
    buffer = decode(batch_of(stored("jpeg_0"), stored("png_RGB")))
    resized = flow.nn.image.Resize((5, 4))(buffer)[0]
    assert isinstance(buffer, LazyBuffer) and isinstance(resized, flow.Tensor)
    assert (resized.shape, resized.dtype, resized.ndim, len(resized)) == ((2, 4, 5, 3), flow.uint8, 4, 2)
    assert not resized.is_decoded and not buffer.is_decoded
    values = resized.numpy()
    assert resized.is_decoded and np.array_equal(np.asarray(resized), values)
    assert np.array_equal(np.asarray(resized, np.float32), values.astype(np.float32))
    assert np.array_equal(resized / 2 + resized, values / 2 + values) and np.array_equal(resized[1], values[1])
    assert resized.tolist() == values.tolist() and resized.mean() == values.mean()
    assert np.array_equal(np.transpose(resized, (0, 3, 1, 2)), values.transpose(0, 3, 1, 2))
    assert np.array_equal(pickle.loads(pickle.dumps(resized)), values)
    with pytest.raises(AttributeError):
        resized.no_such_name  # noqa: B018


def test_resized_pictures_when_changed_then_the_next_module_sees_it() -> None:
    resized = flow.nn.image.Resize((5, 4))(flow.nn.OFRecordImageDecoder("images")(batch_of(stored("jpeg_0"))))[0]
    resized[0, :, :2] = 9
    resized += 1
    assert (flow.nn.CropMirrorNormalize()(resized).numpy()[0, :, :, :2] == 10).all()


def test_buffer_when_it_is_looked_at_then_tells_shapes_and_pictures() -> None:
    buffer = flow.nn.OFRecordImageDecoder("images", "GRAY")(batch_of(stored("jpeg_0"), stored("png_RGB")))
    told = repr(buffer)
    assert buffer.shape == (2,) and len(buffer) == 2 and not buffer.is_decoded
    assert told == f"TensorBuffer({', '.join(str(one.shape) for one in buffer.numpy())})"
    assert np.array_equal(buffer[1].numpy()[0], buffer.numpy()[1]) and buffer[1].places[0].record == 4


def test_batches_when_kept_then_are_not_written_over() -> None:
    normalise, resize = flow.nn.CropMirrorNormalize(), flow.nn.image.Resize((320, 320))
    decode = flow.nn.OFRecordImageDecoder("images")
    kept = [normalise(resize(decode(batch_of(stored(name))))[0]).numpy() for name in NAMES]
    again = [normalise(resize(decode(batch_of(stored(name))))[0]).numpy().copy() for name in NAMES]
    assert all(map(np.array_equal, kept, again))

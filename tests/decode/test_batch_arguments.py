"""Inputs, outputs, errors and invalid arguments of decode_batch."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import recordmill as rm
from tests.images import encode_gray16_png, encode_jpeg, encode_png

MIXED = [encode_png(number, 30 + number, 24) for number in range(6)]
RANDOM = {"image": rm.Image(crop=rm.RandomResizedCrop((12, 16)), flip=True, mean=rm.IMAGENET_MEAN, std=rm.IMAGENET_STD)}


@pytest.mark.parametrize(
    "options, shape, dtype",
    [
        ({}, (3, 14, 20), "uint8"),
        ({"layout": "hwc"}, (14, 20, 3), "uint8"),
        ({"channels": "gray"}, (1, 14, 20), "uint8"),
        ({"channels": "gray", "layout": "hwc", "dtype": "float32"}, (14, 20, 1), "float32"),
        ({"mean": 0.5}, (3, 14, 20), "float32"),
        ({"std": 0.5, "dtype": "float16"}, (3, 14, 20), "float16"),
        ({"dtype": "uint16"}, (3, 14, 20), "uint16"),
        ({"resize": rm.Resize((5, 6))}, (3, 5, 6), "uint8"),
        ({"channels": "stored"}, (3, 14, 20), "uint8"),
    ],
)
def test_image_output_has_documented_shape_and_dtype(options, shape, dtype) -> None:
    batch = rm.decode_batch([encode_png(0), encode_png(1)], {"image": rm.Image(**options)})["image"]
    assert batch.shape == (2, *shape) and batch.dtype == dtype and batch.flags.c_contiguous
    empty = rm.decode_batch([], {"image": rm.Image(**options)}, positions=[])["image"]
    assert len(empty) == 0 and empty.dtype == dtype and empty.ndim == 4


def test_images_of_8_and_16_bits_share_one_brightness_scale() -> None:
    deep, values = encode_gray16_png(1)
    spec = rm.Image(channels="gray", dtype="float32")
    batch = rm.decode_batch([deep, encode_png(0, mode="L")], {"image": spec})["image"]
    np.testing.assert_array_equal(batch[0, 0], values.astype(np.float32) * (np.float32(1 / 65535)))
    levels = rm.decode_batch([deep, encode_png(0, mode="L")], {"image": rm.Image(channels="gray", dtype="uint16")})[
        "image"
    ]
    np.testing.assert_array_equal(levels[0, 0], values)
    np.testing.assert_array_equal(levels[1, 0], rm.decode_png(encode_png(0, mode="L")).astype(int) * 257)
    with pytest.raises(rm.DecodeError, match="low bits"):
        rm.decode_batch([deep], {"image": rm.Image()})
    with pytest.raises(rm.DecodeError, match="do not support 16-bit images"):
        rm.decode_batch([deep], {"image": rm.Image(color=[rm.RandomGrayscale()], dtype="float32")}, rng=0)


def test_tensorflow_resize_keeps_fractions_in_float_output() -> None:
    spec = rm.Image(resize=rm.Resize((5, 7)), like="tensorflow", layout="hwc", dtype="float32", white=255.0)
    found = rm.decode_batch([encode_png(2)], {"image": spec})["image"][0]
    np.testing.assert_array_equal(found, rm.resize(rm.decode_png(encode_png(2)), (5, 7), like="tensorflow"))
    assert (found % 1 != 0).any()
    whole = rm.decode_batch(
        [encode_png(2)], {"image": rm.Image(resize=rm.Resize((5, 7)), like="tensorflow", layout="hwc")}
    )
    np.testing.assert_array_equal(whole["image"][0], np.rint(found))


def test_decode_batch_accepts_every_form_of_columns(tmp_path: Path) -> None:
    files, labels = [encode_png(number) for number in range(5)], list(range(5))
    with rm.ShardWriter(tmp_path / "part") as writer:
        for file, label in zip(files, labels, strict=True):
            writer.write({"image": file, "label": label})
    dataset, specs = rm.open(tmp_path), {"image": rm.Image()}
    expected = rm.decode_batch(files, specs)["image"]
    forms = [
        dataset.to_numpy(),
        dataset.fetch(range(5)),
        dataset.batch(5)[0],
        dataset.batch(5, ragged="list")[0],
        {"image": np.array(files, object), "label": np.array(labels)},
        {"image": [np.frombuffer(file, np.uint8) for file in files], "label": labels},
    ]
    for form in forms:
        batch = rm.decode_batch(form, specs)
        assert list(batch) == ["image", "label"] and list(batch["label"]) == labels
        np.testing.assert_array_equal(batch["image"], expected)
    np.testing.assert_array_equal(rm.decode_batch(rm.Ragged.from_rows(files), specs)["image"], expected)


def test_feature_option_renames_column_and_drops_its_bytes() -> None:
    batch = rm.decode_batch({"jpg": [encode_png(0)], "cls": np.array([1])}, {"image": rm.Image(feature="jpg")})
    assert list(batch) == ["cls", "image"]
    ordered = {"mask": rm.Mask(of="image"), "image": rm.Image(feature="jpg")}
    files = {"jpg": [encode_png(0)], "mask": [encode_png(0, mode="L")], "cls": [1]}
    assert list(rm.decode_batch(files, ordered)) == ["mask", "cls", "image"]
    both = rm.decode_batch(
        {"jpg": [encode_png(0)]}, {"jpg": rm.Image(), "small": rm.Image(feature="jpg", resize=rm.Resize(4))}
    )
    assert both["jpg"].shape == (1, 3, 14, 20) and both["small"].shape == (1, 3, 4, 4)


def test_out_array_is_filled_and_returned() -> None:
    array = np.full((6, 3, 12, 16), -9, np.float32)
    batch = rm.decode_batch(MIXED, RANDOM, rng=1, out={"image": array})
    assert batch["image"] is array
    np.testing.assert_array_equal(array, rm.decode_batch(MIXED, RANDOM, rng=1)["image"])


@pytest.mark.parametrize(
    "array, message",
    [
        (np.empty((6, 3, 12, 15), np.float32), "shape"),
        (np.empty((6, 3, 12, 16), np.float64), "float64"),
        ([1], "list"),
        (np.broadcast_to(np.float32(0), (6, 3, 12, 16)), "writable"),
    ],
)
def test_out_array_of_wrong_form_raises(array, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.decode_batch(MIXED, RANDOM, rng=1, out={"image": array})


def test_out_for_an_output_that_is_not_one_array_raises() -> None:
    for specs, name in ((RANDOM, "label"), ({"image": rm.Image(stack=False)}, "image")):
        with pytest.raises(ValueError, match="is not a spec that returns one array"):
            rm.decode_batch(MIXED, specs, rng=1, out={name: np.empty(1)})


DAMAGED = [encode_png(0), b"junk", encode_png(1), encode_jpeg(2)[:200], encode_png(3)]


@pytest.mark.parametrize("threads", [1, 4])
def test_decode_error_names_first_failed_sample_feature_and_cause(threads: int) -> None:
    with pytest.raises(rm.DecodeError) as caught:
        rm.decode_batch({"picture": DAMAGED}, {"picture": rm.Image()}, threads=threads)
    error = caught.value
    assert (error.position, error.feature) == (1, "picture")
    assert isinstance(error.cause, rm.ImageError) and error.__cause__ is error.cause and error.kind == "bad_image"
    assert "sample 1 of the batch, feature 'picture'" in str(error)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) and (copy.position, copy.feature, str(copy.cause)) == (
        1,
        "picture",
        str(error.cause),
    )


@pytest.mark.parametrize("threads", [1, 4])
def test_skipped_sample_is_dropped_from_every_column(threads: int) -> None:
    columns = {
        "image": DAMAGED,
        "label": np.arange(5),
        "name": rm.Ragged.from_rows([b"a", b"bb", b"", b"dddd", b"e"]),
        "tags": rm.Ragged(rm.Ragged.from_rows([b"x", b"y", b"z", b"zz"]), np.array([0, 1, 1, 2, 2, 4])),
    }
    seen: list[rm.DecodeError] = []
    specs = {"image": rm.Image(crop=rm.RandomCrop(6))}
    batch = rm.decode_batch(columns, specs, rng=2, on_error=seen.append, threads=threads)
    assert [(error.position, error.feature) for error in seen] == [(1, "image"), (3, "image")]
    assert batch["label"].tolist() == [0, 2, 4] and batch["name"].to_list() == [b"a", b"", b"e"]
    assert batch["tags"].to_list() == [[b"x"], [b"y"], [b"z", b"zz"]]
    good = rm.decode_batch([DAMAGED[row] for row in (0, 2, 4)], specs, rng=2, positions=[0, 2, 4])["image"]
    np.testing.assert_array_equal(batch["image"], good)
    np.testing.assert_array_equal(rm.decode_batch(columns, specs, rng=2, on_error="skip")["image"], good)
    array = np.empty((5, 3, 6, 6), np.uint8)
    kept = rm.decode_batch(columns, specs, rng=2, on_error="skip", out={"image": array})["image"]
    np.testing.assert_array_equal(kept, good)
    assert np.shares_memory(kept, array)


def test_batch_is_empty_if_every_sample_is_skipped() -> None:
    batch = rm.decode_batch(
        {"image": [b"", b"x"], "n": [1, 2]}, {"image": rm.Image(resize=rm.Resize(4))}, on_error="skip"
    )
    assert batch["image"].shape == (0, 3, 4, 4) and batch["n"] == []


def test_crop_larger_than_image_raises_unless_padding_is_enabled() -> None:
    files = [encode_png(0, 20, 14), encode_png(1, 40, 30)]
    for crop in (rm.CenterCrop(24), rm.RandomCrop(24)):
        with pytest.raises(rm.DecodeError) as caught:
            rm.decode_batch(files, {"image": rm.Image(crop=crop)}, rng=0)
        assert (caught.value.kind, caught.value.found, caught.value.position) == ("small_image", "20 x 14", 0)
    padded = rm.decode_batch(files, {"image": rm.Image(crop=rm.CenterCrop(24, small="pad", fill=7), layout="hwc")})
    np.testing.assert_array_equal(padded["image"][0][5:19, 2:22], rm.decode_png(files[0]))
    assert (padded["image"][0][:5] == 7).all() and (padded["image"][0][:, 22:] == 7).all()


def test_images_of_different_sizes_raise_or_become_a_list() -> None:
    files = [encode_png(0), encode_png(1, 30, 14), encode_png(2)]
    with pytest.raises(rm.DecodeError, match="stack=False") as caught:
        rm.decode_batch(files, {"image": rm.Image()}, on_error="skip")
    assert (caught.value.position, caught.value.kind) == (1, "size_mismatch")
    listed = rm.decode_batch(files, {"image": rm.Image(stack=False)})["image"]
    assert [one.shape for one in listed] == [(3, 14, 20), (3, 14, 30), (3, 14, 20)]


def test_images_of_different_channels_raise_or_become_a_list() -> None:
    files = [encode_png(0), encode_png(1, mode="L"), encode_png(2, mode="RGBA"), encode_png(3, mode="LA")]
    with pytest.raises(rm.DecodeError, match="same number of channels"):
        rm.decode_batch(files, {"image": rm.Image(channels="stored")})
    listed = rm.decode_batch(files, {"image": rm.Image(channels="stored", stack=False)})["image"]
    assert [len(one) for one in listed] == [3, 1, 4, 2]
    with pytest.raises(rm.DecodeError, match="mean must have 1 value, or 1 per channel"):
        rm.decode_batch(files, {"image": rm.Image(channels="stored", stack=False, mean=(0.1, 0.2, 0.3))})
    crop = rm.CenterCrop(30, small="pad", fill=(1, 2, 3))
    with pytest.raises(rm.DecodeError, match="fill must have 1 value, or 1 per channel"):
        rm.decode_batch(files, {"image": rm.Image(channels="stored", stack=False, crop=crop)})


def test_max_pixels_limits_stored_and_resized_images() -> None:
    with pytest.raises(rm.DecodeError) as caught:
        rm.decode_batch([encode_png(0)], {"image": rm.Image()}, max_pixels=279)
    assert isinstance(caught.value.cause, rm.LimitError) and caught.value.kind == "limit_exceeded"
    with pytest.raises(rm.DecodeError, match="resizing would make"):
        rm.decode_batch([encode_png(0, 65, 1)], {"image": rm.Image(resize=rm.Resize(shorter=9000))})


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: rm.decode_batch(MIXED, RANDOM), ValueError, "rng=seed"),
        (
            lambda: rm.decode_batch([encode_png(0)], {"image": rm.Image(color=[rm.RandomGrayscale()])}),
            ValueError,
            "rng=seed",
        ),
        (lambda: rm.decode_batch(MIXED, RANDOM, rng="seed"), TypeError, "rng must be an integer seed"),
        (lambda: rm.decode_batch(MIXED, RANDOM, rng=rm.Draws(1), epoch=2), ValueError, "already has an epoch"),
        (lambda: rm.decode_batch(MIXED, RANDOM, rng=1, positions=[1, 2]), ValueError, "positions must be 6 integers"),
        (
            lambda: rm.decode_batch(MIXED, RANDOM, rng=1, positions=np.ones(6)),
            ValueError,
            "positions must be 6 integers, got float64",
        ),
        (lambda: rm.decode_batch(MIXED, RANDOM, rng=1, threads=-1), ValueError, "threads"),
        (lambda: rm.decode_batch(MIXED, RANDOM, rng=1, on_error="ignore"), ValueError, "on_error"),
        (lambda: rm.decode_batch(MIXED, RANDOM, rng=1, max_pixels=0), ValueError, "max_pixels"),
        (lambda: rm.decode_batch(MIXED, {}), TypeError, "mapping"),
        (lambda: rm.decode_batch(MIXED, rm.Image()), TypeError, "mapping"),
        (lambda: rm.decode_batch(MIXED, {"image": "rgb"}), TypeError, "'image' must be an Image"),
        (lambda: rm.decode_batch(MIXED, {"a": rm.Image(), "b": rm.Image()}), rm.FeatureError, "one feature"),
        (lambda: rm.decode_batch({"a": MIXED}, {"b": rm.Image()}), rm.FeatureError, "(?s)no feature 'b'.*feature="),
        (lambda: rm.decode_batch({"a": MIXED, "b": [1]}, {"a": rm.Image()}), rm.FeatureError, "same length"),
        (lambda: rm.decode_batch({"a": np.arange(3)}, {"a": rm.Image()}), rm.FeatureError, "must hold byte strings"),
        (lambda: rm.decode_batch({"a": [np.zeros((2, 2))]}, {"a": rm.Image()}), rm.FeatureError, "float64 of shape"),
        (lambda: rm.decode_batch({"a": MIXED, "b": MIXED}, {"b": rm.Image(feature="a")}), ValueError, "another name"),
        (lambda: rm.decode_batch({"a": np.array([b"x"])}, {"a": rm.Image()}), rm.FeatureError, "trailing zero bytes"),
        (lambda: rm.decode_batch({"a": [[b"x", b"y"]]}, {"a": rm.Image()}), rm.FeatureError, "2 byte strings"),
        (lambda: rm.decode_batch([{"a": b""}, {"b": b""}], {"a": rm.Image()}), rm.FeatureError, "example 1"),
        (lambda: rm.decode_batch([b""], {"a": rm.Image(decoder="native")}), rm.DecodeError, "decoded natively"),
    ],
)
def test_decode_batch_rejects_invalid_arguments(call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_batch_without_any_valid_image_raises_or_is_empty() -> None:
    spec = rm.Image(crop=rm.RandomResizedCrop(8), flip=True, affine=rm.RandomAffine(9), color=[rm.ColorJitter(0.4)])
    with pytest.raises(rm.DecodeError) as caught:
        rm.decode_batch([b"no picture"], {"x": spec}, rng=1)
    assert (caught.value.position, caught.value.feature) == (0, "x")
    assert rm.decode_batch([b"no picture"], {"x": spec}, rng=1, on_error="skip")["x"].shape == (0, 3, 8, 8)
    assert rm.decode_batch([], {"x": spec}, rng=1)["x"].shape == (0, 3, 8, 8)

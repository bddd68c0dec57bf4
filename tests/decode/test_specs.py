"""Specs: immutable, comparable, picklable values that check their fields."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import recordmill as rm

SPECS = [
    rm.Image(),
    rm.Image(
        crop=rm.RandomResizedCrop(224, scale=(0.5, 1)),
        flip=True,
        color=[rm.ColorJitter(0.4, hue=0.1), rm.RandomGrayscale(), rm.PCANoise(0.2), rm.RandomErasing(fill=(1, 2, 3))],
        mean=rm.IMAGENET_MEAN,
        std=rm.IMAGENET_STD,
        dtype="float16",
    ),
    rm.Image(resize=rm.Resize(shorter=256), crop=rm.CenterCrop((10, 20), small="pad"), like="mxnet", white=255.0),
    rm.Image(crop=rm.RandomCrop(8, padding=(1, 2, 3, 4), mode="reflect"), affine=rm.RandomAffine(10, (0.1, 0.2))),
    rm.Mask(fill=255),
    rm.Raw(">i2", ("height", "width", 3)),
    rm.Raw("uint8", (28, 28), cast="float32", scale=1 / 255),
    rm.Text("latin-1"),
    rm.Boxes(form="yxyx", along=["label"], feature=["a", "b", "c", "d"]),
    rm.Keypoints(centers=True),
    rm.Resize((3, 4)),
    rm.Flip(0.25, 0.5),
    rm.Image(crop=rm.GivenCrop("window", 7), flip=rm.GivenFlip("mirror")),
    rm.GivenCrop("window"),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: type(spec).__name__)
def test_spec_equals_its_repr_pickle_and_copy(spec) -> None:
    assert pickle.loads(pickle.dumps(spec)) == spec
    built = eval(repr(spec), {name: getattr(rm, name) for name in rm.__all__})
    assert built == spec and hash(built) == hash(spec)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: type(spec).__name__)
def test_spec_is_immutable(spec) -> None:
    name = type(spec).__dataclass_fields__.__iter__().__next__()
    with pytest.raises(FrozenInstanceError):
        setattr(spec, name, None)


def test_specs_with_different_fields_are_unequal() -> None:
    assert rm.Image() != rm.Image(like="opencv") and rm.Resize(3) != rm.Resize(shorter=3)
    assert rm.Image(flip=True) == rm.Image(flip=0.5) == rm.Image(flip=rm.Flip())
    assert rm.Image(flip=False) == rm.Image() and rm.Resize(3) == rm.Resize((3, 3))


def test_image_converts_arrays_to_tuples() -> None:
    spec = rm.Image(mean=np.array([0.5, 0.25, 0.125]), std=1)
    assert spec.mean == (0.5, 0.25, 0.125) and spec.std == (1.0,)


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: rm.Image(like="keras"), ValueError, "like must be one of"),
        (lambda: rm.Image(channels="rgba"), ValueError, "channels must be one of"),
        (lambda: rm.Image(layout="nchw"), ValueError, "layout must be one of"),
        (lambda: rm.Image(dtype="int8"), ValueError, "dtype must be one of"),
        (lambda: rm.Image(dct="slow"), ValueError, "dct must be one of"),
        (lambda: rm.Image(decoder="turbo"), ValueError, "decoder must be one of"),
        (lambda: rm.Image(reduce=3), ValueError, "reduce must be 1, 2, 4, 8 or"),
        (lambda: rm.Image(crop=224), TypeError, "crop must be a CenterCrop or RandomCrop"),
        (lambda: rm.Image(resize="224"), TypeError, "resize must be a Resize"),
        (lambda: rm.Image(crop=rm.RandomResizedCrop(4), resize=rm.Resize(4)), ValueError, "already resizes the image"),
        (lambda: rm.Image(crop=rm.GivenCrop("window", 4), resize=4), ValueError, "cannot be combined with GivenCrop"),
        (lambda: rm.GivenCrop("window", 4, fill=0), ValueError, "cannot be combined with size"),
        (lambda: rm.GivenCrop("window", fill=256), ValueError, "fill"),
        (lambda: rm.GivenCrop(3), TypeError, "feature must be the name"),
        (lambda: rm.GivenCrop("window", 0), ValueError, "size must be from 1 to 65535"),
        (lambda: rm.GivenFlip(True), TypeError, "feature must be the name"),
        (lambda: rm.Image(color=[rm.Flip()]), TypeError, "color must be a"),
        (lambda: rm.Image(color=[rm.RandomGrayscale()], channels="stored"), ValueError, "stored"),
        (lambda: rm.Image(color=[rm.RandomGrayscale()], dtype="uint16"), ValueError, "8-bit"),
        (lambda: rm.Image(mean=0.5, dtype="uint8"), ValueError, "float dtype"),
        (lambda: rm.Image(mean=(0.5, 0.5)), ValueError, "1 value, or 1 per channel"),
        (lambda: rm.Image(mean=(0.5, 0.5, 0.5), channels="gray"), ValueError, "1 value, or 1 per channel"),
        (lambda: rm.Image(std=(0.5, 0.0, 0.5)), ValueError, "std must be above 0"),
        (lambda: rm.Image(mean=float("nan")), ValueError, "mean must be a"),
        (lambda: rm.Image(mean=(0.1,) * 5), ValueError, "1 to 4 values"),
        (lambda: rm.CenterCrop(3, fill=(1,) * 5), ValueError, "1 to 4 levels"),
        (lambda: rm.Image(mean="imagenet"), TypeError, "mean must be a"),
        (lambda: rm.Image(flip=1.5), ValueError, "horizontal"),
        (lambda: rm.Image(white=0), ValueError, "white"),
        (rm.Resize, ValueError, "exactly one of size= and shorter="),
        (lambda: rm.Resize(3, shorter=3), ValueError, "exactly one of size= and shorter="),
        (lambda: rm.Resize(0), ValueError, "size must be from 1 to 65535"),
        (lambda: rm.Resize((3, 3, 3)), ValueError, "integer or"),
        (lambda: rm.Resize(3.5), TypeError, "must be an integer"),
        (lambda: rm.CenterCrop(3, small="shrink"), ValueError, "small must be one of"),
        (lambda: rm.CenterCrop(3, fill=256), ValueError, "fill must be from 0 to 255"),
        (lambda: rm.RandomCrop(3, padding=-1), ValueError, "padding"),
        (lambda: rm.RandomCrop(3, padding=(1, 2)), ValueError, "left, top, right, bottom"),
        (lambda: rm.RandomCrop(3, mode="wrap"), ValueError, "mode must be one of"),
        (lambda: rm.RandomResizedCrop(3, scale=(0, 1)), ValueError, "scale"),
        (lambda: rm.RandomResizedCrop(3, scale=(0.5, 1.5)), ValueError, "scale"),
        (lambda: rm.RandomResizedCrop(3, ratio=(2, 1)), ValueError, "ratio"),
        (lambda: rm.RandomResizedCrop(3, ratio=1), TypeError, "lowest, highest"),
        (lambda: rm.Flip(-0.1), ValueError, "horizontal"),
        (lambda: rm.RandomAffine(400), ValueError, "degrees"),
        (lambda: rm.RandomAffine(translate=(0.1,)), ValueError, "translate"),
        (lambda: rm.RandomAffine(scale=(0, 1)), ValueError, "scale"),
        (lambda: rm.RandomAffine(kernel="cubic"), ValueError, "kernel"),
        (lambda: rm.ColorJitter(hue=0.6), ValueError, "hue"),
        (lambda: rm.ColorJitter(brightness=-1), ValueError, "brightness"),
        (lambda: rm.RandomErasing(scale=(0.5, 0.1)), ValueError, "scale"),
        (lambda: rm.PCANoise(-1), ValueError, "std"),
        (lambda: rm.Mask(dtype="float32"), ValueError, "dtype must be one of"),
        (lambda: rm.Mask(fill=256), ValueError, "fill"),
        (lambda: rm.Raw("object"), TypeError, "must be numeric"),
        (lambda: rm.Raw("uint8", "height"), TypeError, "sequence"),
        (lambda: rm.Raw("uint8", (-1,)), ValueError, "shape"),
        (lambda: rm.Raw("uint8", scale=0.5), ValueError, "scale requires cast"),
        (lambda: rm.Raw("uint8", cast="int32"), ValueError, "cast must be one of"),
        (lambda: rm.Raw("complex64", cast="float32"), TypeError, "complex"),
        (lambda: rm.Raw("uint8", cast="float32", scale=float("nan")), ValueError, "scale"),
        (lambda: rm.Text("utf-99"), ValueError, "name of a Python codec"),
        (lambda: rm.Text(errors="ignore"), ValueError, "errors must be one of"),
        (lambda: rm.Boxes(form="cxcywh"), ValueError, "form must be one of"),
        (lambda: rm.Boxes(along="label"), TypeError, "along"),
        (lambda: rm.Boxes(feature=("a", "b")), ValueError, "one name or 4 names"),
        (lambda: rm.Keypoints(relative=True, centers=True), ValueError, "relative cannot be combined with centers"),
    ],
)
def test_spec_error_names_invalid_option(make, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_image_shorthands_equal_full_options() -> None:
    assert rm.Image(channels="grey") == rm.Image(channels="gray")  # type: ignore[arg-type]
    assert rm.Image(channels=1, scale=1 / 255) == rm.Image(channels="gray", dtype="float32")
    assert rm.Image(scale=1.0) == rm.Image(white=255.0, dtype="float32")
    assert rm.Image(resize=256, crop=rm.CenterCrop(224)) == rm.Image(
        resize=rm.Resize(shorter=256), crop=rm.CenterCrop(224)
    )
    assert rm.Image(resize=(20, 30)) == rm.Image(resize=rm.Resize((20, 30)))
    for options in ({"scale": 0.5, "white": 2.0}, {"scale": 0.5, "dtype": "uint8"}):
        with pytest.raises(ValueError, match="scale requires"):
            rm.Image(**options)


@pytest.mark.parametrize("channels", ["gray", "rgb", "bgr", None])
def test_image_rejects_fill_of_wrong_length(channels) -> None:
    fill = (1, 2, 3) if channels == "gray" else (1, 2)
    for options in (
        {"crop": rm.CenterCrop(8, fill=fill)},
        {"crop": rm.RandomCrop(8, fill=fill)},
        {"affine": rm.RandomAffine(10, fill=fill)},
        {"color": [rm.RandomErasing(fill=fill)]},
    ):
        with pytest.raises(ValueError, match="fill must have 1 level, or 1 per channel"):
            rm.Image(channels=channels, **options)

"""What one native call is asked for: the parameters of ImageRecordIter as an image spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import recordmill as rm
from recordmill.compat.mxnet.io.asked import aspect_ratios
from recordmill.compat.mxnet.io.steps import fill_of
from recordmill.compat.mxnet.kernels import BY_SIZE, KERNELS

_JITTER = ("brightness", "contrast", "saturation")


def drawn_spec(values: Mapping[str, Any], method: int, numbers: Mapping[str, Any]) -> rm.Image:
    """Spec whose windows, mirrors and colours are drawn by the engine."""
    size = tuple(values["data_shape"][1:])
    crop: Any
    if values["random_resized_crop"]:
        areas = values["min_random_area"], values["max_random_area"]
        crop = rm.RandomResizedCrop(size, scale=areas, ratio=aspect_ratios(values))
    elif values["rand_crop"]:
        crop = rm.RandomCrop(size, padding=values["pad"], fill=fill_of(values), small="enlarge")
    else:
        crop = rm.CenterCrop(size, small="enlarge")
    flip: Any = rm.Flip(1.0) if values["mirror"] else values["rand_mirror"]
    jitter = {name: values[name] for name in _JITTER if values[name]}
    colours: list[Any] = [rm.ColourJitter(**jitter)] if jitter else []
    colours += [rm.PCANoise(values["pca_noise"])] if values["pca_noise"] else []
    return _spec(values, method, numbers, crop=crop, flip=flip, colour=colours)


def given_spec(values: Mapping[str, Any], numbers: Mapping[str, Any]) -> rm.Image:
    """Spec whose windows and mirrors are in the columns ``window`` and ``mirror``."""
    if values["random_resized_crop"]:
        crop = rm.GivenCrop("window", tuple(values["data_shape"][1:]))
    else:
        crop = rm.GivenCrop("window", fill=fill_of(values))
    return _spec(values, values["inter_method"], numbers, crop=crop, flip=rm.GivenFlip("mirror"))


def _spec(values: Mapping[str, Any], method: int, numbers: Mapping[str, Any], **steps: Any) -> rm.Image:
    channels = values["data_shape"][0]
    words: Any = {1: "grey", 3: "rgb", 4: "stored"}
    resize = None if values["resize"] == -1 or values["random_resized_crop"] else rm.Resize(shorter=values["resize"])
    return rm.Image(
        like="mxnet",
        channels=words[channels],
        orientation="ignore" if channels == 4 else "apply",
        resize=resize,
        kernel="opencv:auto" if method == BY_SIZE else KERNELS[max(method, 0)],
        **steps,
        **numbers,
    )

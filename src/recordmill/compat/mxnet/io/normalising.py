"""Levels to the numbers of the batch: mean, deviation and scale as MXNet rounds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.io.asked import has_light

_COLOURS = "rgba"


class Normalising:
    """What becomes of levels.

    float32 is ``(level - mean) * (scale / std)`` with both terms rounded to float32 first, uint8 the level itself, int8
    ``level - mean`` with the mean rounded and the result kept within the type.
    """

    def __init__(self, values: Mapping[str, Any], image: NDArray[np.float32] | None = None) -> None:
        colours = _COLOURS[: values["data_shape"][0]]
        self.dtype = np.dtype(values["dtype"] or "float32")
        self._means = [float(values[f"mean_{colour}"]) for colour in colours]
        self._stds = [float(values[f"std_{colour}"]) for colour in colours]
        self._scale = float(values["scale"])
        self._has_light = has_light(values)
        self._mean = np.array(self._means, np.float32)[:, None, None]
        self._std = np.array(self._stds, np.float32)
        self._image = image
        self.options = self._options()

    def _options(self) -> dict[str, Any]:
        if self.dtype != np.float32 or self._has_light or self._image is not None:
            return {"dtype": "uint8"}
        white = 255 * self._scale
        if not 1e-6 <= white <= 1e6:
            return {"dtype": "uint8"}
        means = [mean * white / 255 for mean in self._means]
        seen_means = np.array([mean * (255 / white) for mean in means], np.float32)
        seen_factor = np.float32(white / 255) / self._std
        if (seen_means != self._mean[:, 0, 0]).any() or (seen_factor != np.float32(self._scale) / self._std).any():
            return {"dtype": "uint8"}
        return {"dtype": "float32", "mean": means, "std": self._stds, "white": white}

    def begin(self, pixels: NDArray[np.uint8]) -> NDArray[Any]:
        """Make of one image what `options` ask for."""
        if self.options["dtype"] == "uint8":
            return pixels.transpose(2, 0, 1)
        return rm.normalize(pixels, **self.options, layout="chw")

    def finish(
        self, numbers: NDArray[Any], mirrors: NDArray[np.bool_], lights: NDArray[np.float32] | None = None
    ) -> NDArray[Any]:
        """Numbers of a batch."""
        if self.dtype == np.uint8 or numbers.dtype == np.float32:
            return numbers
        means = self._mean if self._image is None else self._mirrored(mirrors)
        if self.dtype == np.int8:
            halves_up = np.copysign(np.floor(np.abs(means) + np.float32(0.5)), means)
            differences: NDArray[Any] = numbers.astype(np.int16) - halves_up.astype(np.int16)
            kept: NDArray[np.int8] = np.clip(differences, -128, 127).astype(np.int8)
            return kept
        numbers = numbers.astype(np.float32)
        numbers -= means
        if lights is None:
            numbers *= (np.float32(self._scale) / self._std)[:, None, None]
        else:
            numbers *= (lights[:, :1] / self._std)[:, :, None, None]
            numbers += (lights[:, 1:] / self._std)[:, :, None, None]
        return numbers

    def _mirrored(self, mirrors: NDArray[np.bool_]) -> NDArray[np.float32]:
        image: Any = self._image
        means: NDArray[np.float32] = np.where(mirrors[:, None, None, None], image[:, :, ::-1], image)
        return means

"""Levels to the numbers of the batch: mean, deviation and scale as MXNet rounds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm

_COLOURS = "rgba"


class Normalising:
    """What becomes of levels.

    float32 is ``(level - mean) * (scale / std)`` with both terms rounded to float32 first, uint8 the level itself, int8
    ``level - mean`` with the mean rounded and the result kept within the type.

    Parameters
    ----------
    values : mapping of str to object
        The parameters of the iterator.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        colours = _COLOURS[: values["data_shape"][0]]
        self.dtype = np.dtype(values["dtype"] or "float32")
        self.means = [float(values[f"mean_{colour}"]) for colour in colours]
        self.stds = [float(values[f"std_{colour}"]) for colour in colours]
        self.scale = float(values["scale"])
        self.contrast, self.illumination = values["max_random_contrast"], values["max_random_illumination"]
        self._mean = np.array(self.means, np.float32)
        self._factor = np.float32(self.scale) / np.array(self.stds, np.float32)

    def options(self) -> dict[str, Any]:
        """Options of `rm.Image` that give these numbers; levels where no options give them to the bit."""
        if self.dtype != np.float32:
            return {"dtype": "uint8"}
        white = 255 * self.scale
        if not 1e-6 <= white <= 1e6:
            return {"dtype": "uint8"}
        means = [mean * white / 255 for mean in self.means]
        seen_means = np.array([mean * (255 / white) for mean in means], np.float32)
        seen_factor = np.float32(white / 255) / np.array(self.stds, np.float32)
        if (seen_means != self._mean).any() or (seen_factor != self._factor).any():
            return {"dtype": "uint8"}
        return {"dtype": "float32", "mean": means, "std": self.stds, "white": white}

    def finish(self, numbers: NDArray[Any], draws: rm.Draws, positions: NDArray[np.int64]) -> NDArray[Any]:
        """Numbers of a batch.

        Parameters
        ----------
        numbers : ndarray of uint8 or float32, shape (n, channels, height, width)
            Levels, or what `options` made of them.
        draws : Draws
        positions : ndarray of int64, shape (n,)
            Of the samples in the epoch.

        Returns
        -------
        ndarray of the batch's dtype, shape (n, channels, height, width)
        """
        if self.dtype == np.uint8:
            return numbers
        if self.dtype == np.int8:
            halves_up = np.floor(np.abs(self._mean) + np.float32(0.5))
            means = (np.sign(self._mean) * halves_up).astype(np.int16)[:, None, None]
            differences: NDArray[Any] = numbers.astype(np.int16) - means
            kept: NDArray[np.int8] = np.clip(differences, -128, 127).astype(np.int8)
            return kept
        if numbers.dtype != np.float32:
            numbers = numbers.astype(np.float32)
            numbers -= self._mean[:, None, None]
            numbers *= self._factor[:, None, None]
        if self.contrast or self.illumination:
            drawn = draws.uniform(positions, rm.Stage.FREE, 2, low=-1.0).astype(np.float32)[:, :, None, None, None]
            numbers = numbers * (1 + np.float32(self.contrast) * drawn[:, 0])
            numbers += np.float32(self.illumination * self.scale) * drawn[:, 1]
        return numbers

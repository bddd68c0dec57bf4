"""Encoded images to the array of a batch, natively wherever one call gives MXNet's pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import MXNetError
from recordmill.compat.mxnet.io.checks import aspect_ratios
from recordmill.compat.mxnet.io.geometry import route
from recordmill.compat.mxnet.io.normalising import Normalising
from recordmill.compat.mxnet.io.steps import fill_of, prepare_image
from recordmill.compat.mxnet.kernels import KERNELS

Ints = NDArray[np.int64]
_ANY = -1


class PixelPlan:
    """How images become the data of a batch; a value of the parameters, used by any thread.

    Parameters
    ----------
    values : mapping of str to object
        The parameters of the iterator.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._normalising = Normalising(values)
        self._seed: int = values["seed"] if values["seed_aug"] is None else values["seed_aug"]
        self._colours = _colours(values)
        squares = max(values["max_crop_size"], values["min_crop_size"]) > 0
        self._stepwise = squares
        self._one_way = values["random_resized_crop"]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the batch."""
        return self._normalising.dtype

    def decode(self, images: Sequence[Any], epoch: int, positions: Ints) -> NDArray[Any]:
        """Decode, cut and normalise images.

        Parameters
        ----------
        images : sequence of buffer
        epoch : int
        positions : ndarray of int64, shape (n,)
            Of the samples in the epoch; draws depend on them, the epoch and the seed alone.

        Returns
        -------
        ndarray, shape (n, channels, height, width)

        Raises
        ------
        DecodeError
            An image that does not decode; `position` is its place in the batch.
        """
        draws = rm.Draws(self._seed % 2**64, epoch)
        groups = self._groups(images)
        if len(groups) == 1 and groups[0][0] is not None:
            numbers = self._natively(images, groups[0][0], draws, positions)
            return self._normalising.finish(numbers, draws, positions)
        made = np.empty((len(images), *self._values["data_shape"]), self.dtype)
        for method, rows in groups:
            made[rows] = self._group([images[row] for row in rows], method, draws, positions[rows], rows)
        return made

    def _groups(self, images: Sequence[Any]) -> list[tuple[int | None, Ints]]:
        """Rows that are treated alike: an interpolation for native ones, None for the others."""
        everything = np.arange(len(images))
        if self._stepwise:
            return [(None, everything)]
        if self._one_way:
            return [(self._values["inter_method"], everything)]
        upright: Any = "ignore" if self._values["data_shape"][0] == 4 else "apply"
        found = route(rm.image_sizes(images, like="mxnet", orientation=upright), self._values)
        native = found.native | bool(self._colours)
        methods = np.unique(found.methods[native & (found.methods != _ANY)]).tolist() or [_ANY]
        groups: list[tuple[int | None, Ints]] = []
        for number, method in enumerate(methods):
            alike = (found.methods == method) | ((found.methods == _ANY) & (number == 0))
            groups.append((method, np.flatnonzero(native & alike)))
        groups.append((None, np.flatnonzero(~native)))
        return [group for group in groups if len(group[1])]

    def _group(
        self, images: list[Any], method: int | None, draws: rm.Draws, positions: Ints, rows: Ints
    ) -> NDArray[Any]:
        try:
            if method is not None:
                numbers = self._natively(images, method, draws, positions)
            else:
                numbers = self._by_steps(images, draws, positions)
        except rm.DecodeError as error:
            error.position = int(rows[error.position or 0])
            raise
        return self._normalising.finish(numbers, draws, positions)

    def _natively(self, images: Sequence[Any], method: int, draws: rm.Draws, positions: Ints) -> NDArray[Any]:
        spec = image_spec(self._values, method, self._colours, self._normalising.options())
        threads = self._values["preprocess_threads"]
        decoded: NDArray[Any] = rm.decode_batch(
            list(images), {"data": spec}, rng=draws, positions=positions, threads=threads
        )["data"]
        channels = self._values["data_shape"][0]
        if decoded.shape[1] != channels:
            raise MXNetError(f"Expected {channels} channels, got {decoded.shape[1]}", kind="channel_mismatch")
        return decoded

    def _by_steps(self, images: list[Any], draws: rm.Draws, positions: Ints) -> NDArray[Any]:
        levels = np.empty((len(images), *self._values["data_shape"]), np.uint8)
        for row, data in enumerate(images):
            try:
                pixels = prepare_image(data, self._values, draws, int(positions[row]))
            except rm.RecordmillError as error:
                raise rm.DecodeError(
                    error.message, position=row, feature="data", cause=error, kind=error.kind
                ) from error
            levels[row] = pixels.transpose(2, 0, 1)
        return levels


def image_spec(values: Mapping[str, Any], method: int, colours: Sequence[Any], numbers: Mapping[str, Any]) -> rm.Image:
    """Spec of one native call.

    Parameters
    ----------
    values : mapping of str to object
        The parameters of the iterator.
    method : int
        Interpolation, 0 to 4; -1 where nothing is resized.
    colours : sequence of ColourJitter and PCANoise
    numbers : mapping of str to object
        Options of the output's numbers.

    Returns
    -------
    Image
    """
    channels, *size = values["data_shape"]
    words: Any = {1: "grey", 3: "rgb", 4: "stored"}
    crop: Any
    if values["random_resized_crop"]:
        areas, ratios = (values[f"{end}_random_area"] for end in ("min", "max")), aspect_ratios(values)
        crop = rm.RandomResizedCrop(tuple(size), scale=tuple(areas), ratio=ratios)
    elif values["rand_crop"]:
        crop = rm.RandomCrop(tuple(size), padding=values["pad"], fill=fill_of(values), small="enlarge")
    else:
        crop = rm.CenterCrop(tuple(size), small="enlarge")
    resize = None if values["resize"] == -1 or values["random_resized_crop"] else rm.Resize(shorter=values["resize"])
    return rm.Image(
        like="mxnet",
        channels=words[channels],
        orientation="ignore" if channels == 4 else "apply",
        resize=resize,
        crop=crop,
        flip=rm.Flip(1.0) if values["mirror"] else values["rand_mirror"],
        colour=tuple(colours),
        kernel=KERNELS[max(method, 0)],
        **numbers,
    )


def _colours(values: Mapping[str, Any]) -> list[Any]:
    jitter = {name: values[name] for name in ("brightness", "contrast", "saturation") if values[name]}
    colours: list[Any] = [rm.ColourJitter(**jitter)] if jitter else []
    return [*colours, rm.PCANoise(values["pca_noise"])] if values["pca_noise"] else colours

"""Decode and normalize batches of images.

The native batch decoder decodes the images for which its pixels equal MXNet's. Other images are decoded one at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.interpolation import BY_SIZE, RANDOM, choose_interpolations, kernel_name
from recordmill.compat.mxnet.io.augment import (
    COLOR_SPACES,
    check_num_channels,
    decode_and_augment,
    decode_in_threads,
    draw_mirror,
    enlarge_sizes_on_axis,
    padding_color,
    scale_shorter_sides,
)
from recordmill.compat.mxnet.io.order import BatchRows
from recordmill.compat.mxnet.io.parameters import (
    JITTER,
    crop_aspect_ratios,
    has_affine_transform,
    has_color_shifts,
    has_random_light,
)
from recordmill.compat.mxnet.io.random import LibstdcxxGenerator

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
# Interpolation method of images that need no resize or cannot be decoded. These images can join any group.
_ANY_METHOD = -1
# Interpolation method and batch rows of a group of images. If the method is None, the images are decoded one at a time.
Group = tuple[int | None, Ints]


class BatchDecoder:
    """Decodes, augments and normalizes batches with the parameters of ImageRecordIter; thread-safe."""

    def __init__(self, values: Mapping[str, Any], mean_image: Floats | None = None) -> None:
        self._values = values
        self._normalizer = _Normalizer(values, mean_image)
        self._is_native = _can_decode_natively(values)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the batches."""
        return self._normalizer.dtype

    def decode(self, images: Sequence[Any], records: BatchRows) -> NDArray[Any]:
        """Decode, augment and normalize the images of one batch. The random numbers are seeded from `records`."""
        groups = self._group_images(images) if self._is_native else [(None, np.arange(len(images)))]
        batch: NDArray[Any] = np.empty((len(images), *self._values["data_shape"]), self.dtype)
        for method, rows in groups:
            selected = [images[row] for row in rows]
            if method is None:
                decoded = self._decode_one_by_one(selected, records[rows], rows)
            else:
                decoded = self._decode_natively(selected, method, records[rows], rows)
            if len(rows) == len(images):
                return decoded
            batch[rows] = decoded
        return batch

    def _group_images(self, images: Sequence[Any]) -> list[Group]:
        values = self._values
        if values["random_resized_crop"]:
            return [(values["inter_method"], np.arange(len(images)))]
        orientation: Any = "ignore" if values["data_shape"][0] == 4 else "apply"
        return _group_by_method(rm.image_sizes(images, like="mxnet", orientation=orientation), values)

    def _decode_natively(self, images: Sequence[Any], method: int, records: BatchRows, rows: Ints) -> NDArray[Any]:
        values, positions, draws = self._values, records.positions, records.create_draws(self._values["seed"])
        specs = {"data": _create_image_spec(values, method, self._normalizer.options)}
        threads = values["preprocess_threads"]
        try:
            decoded = rm.decode_batch({"data": list(images)}, specs, rng=draws, positions=positions, threads=threads)[
                "data"
            ]
        except rm.DecodeError as error:
            error.position = int(rows[error.position or 0])
            raise
        check_num_channels(decoded.shape[1], values["data_shape"][0])
        mirrored, lights = np.full(len(rows), bool(values["mirror"])), None
        if values["rand_mirror"] and not values["mirror"]:
            mirrored = draws.booleans(positions, rm.Stage.FLIP, 0.5)
        if has_random_light(values):
            lights = _compute_contrast_and_illumination(
                draws.uniform(positions, rm.Stage.FREE, 2).astype(np.float32), values
            )
        return self._normalizer.normalize_batch(decoded, mirrored, lights)

    def _decode_one_by_one(self, images: Sequence[Any], records: BatchRows, rows: Ints) -> NDArray[Any]:
        values, normalizer = self._values, self._normalizer
        batch: NDArray[Any] = np.empty((len(images), *values["data_shape"]), self.dtype)
        generators = records.create_generators(values["seed"], values["seed_aug"])

        def decode(row: int) -> None:
            generator = generators[row]
            pixels, is_mirrored = decode_and_augment(images[row], values, generator), draw_mirror(values, generator)
            light = _draw_contrast_and_illumination(values, generator)[None] if has_random_light(values) else None
            numbers = normalizer.convert_like_native_decoder(pixels[:, ::-1] if is_mirrored else pixels)
            batch[row] = normalizer.normalize_batch(numbers[None], np.array([is_mirrored]), light)[0]

        decode_in_threads(decode, rows, values["preprocess_threads"])
        return batch


class _Normalizer:
    """Converts uint8 pixels to the dtype of the batch.

    float32 values are ``(pixel - mean) * (scale / std)``, where mean and factor are rounded to float32 first; uint8
    values are the pixels; int8 values are ``pixel - mean`` with the mean rounded and the result clipped.
    """

    def __init__(self, values: Mapping[str, Any], mean_image: Floats | None = None) -> None:
        colors = "rgba"[: values["data_shape"][0]]
        self.dtype = np.dtype(values["dtype"] or "float32")
        self._means = [float(values[f"mean_{color}"]) for color in colors]
        self._stds = [float(values[f"std_{color}"]) for color in colors]
        self._scale = float(values["scale"])
        self._has_light = has_random_light(values)
        self._mean = np.array(self._means, np.float32)[:, None, None]
        self._std = np.array(self._stds, np.float32)
        self._mean_image = mean_image
        self.options = self._choose_native_options()

    def _choose_native_options(self) -> dict[str, Any]:
        """Return the options of `rm.Image` that control dtype and normalization.

        The native decoder normalizes pixels only if it rounds them as MXNet does. Otherwise, it returns uint8 pixels.
        """
        pixels = {"dtype": "uint8"}
        white = 255 * self._scale
        is_plain = self.dtype == np.float32 and not self._has_light and self._mean_image is None
        if not is_plain or not 1e-6 <= white <= 1e6:
            return pixels
        means = [mean * white / 255 for mean in self._means]
        native_means = np.array([mean * (255 / white) for mean in means], np.float32)
        native_factor = np.float32(white / 255) / self._std
        if (native_means != self._mean[:, 0, 0]).any() or (native_factor != np.float32(self._scale) / self._std).any():
            return pixels
        return {"dtype": "float32", "mean": means, "std": self._stds, "white": white}

    def convert_like_native_decoder(self, pixels: NDArray[np.uint8]) -> NDArray[Any]:
        """Convert a uint8 image (height, width, channels) to the array that native decoding with `options` returns."""
        if self.options["dtype"] == "uint8":
            return pixels.transpose(2, 0, 1)
        return rm.normalize(pixels, **self.options, layout="chw")

    def normalize_batch(
        self, batch: NDArray[Any], mirrored: NDArray[np.bool_], lights: Floats | None = None
    ) -> NDArray[Any]:
        """Normalize a batch of shape (n, channels, height, width).

        A float32 batch is returned unchanged, because it is already normalized. With `dtype` uint8, every batch is
        returned unchanged.
        """
        if self.dtype == np.uint8 or batch.dtype == np.float32:
            return batch
        means: Floats = self._mean
        if self._mean_image is not None:
            means = np.where(mirrored[:, None, None, None], self._mean_image[:, :, ::-1], self._mean_image)
        if self.dtype == np.int8:
            rounded = np.copysign(np.floor(np.abs(means) + np.float32(0.5)), means)
            differences = batch.astype(np.int16) - rounded.astype(np.int16)
            return np.clip(differences, -128, 127).astype(np.int8)
        batch = batch.astype(np.float32)
        batch -= means
        if lights is None:
            batch *= (np.float32(self._scale) / self._std)[:, None, None]
        else:
            batch *= (lights[:, :1] / self._std)[:, :, None, None]
            batch += (lights[:, 1:] / self._std)[:, :, None, None]
        return batch


def _draw_contrast_and_illumination(values: Mapping[str, Any], generator: LibstdcxxGenerator) -> Floats:
    """Draw the factor (random contrast) and the offset (random illumination) for the values of one image."""
    units = np.array([[generator.uniform(), generator.uniform()]], np.float32)
    light: Floats = _compute_contrast_and_illumination(units, values)[0]
    return light


def _compute_contrast_and_illumination(units: Floats, values: Mapping[str, Any]) -> Floats:
    """Convert random numbers in [0, 1) to a contrast factor and an illumination offset per image.

    The random numbers and the result have shape (n, 2).
    """
    limits = np.array([values["max_random_contrast"], values["max_random_illumination"]], np.float32)
    lights = units * limits * np.float32(2) - limits
    lights[:, 0] += np.float32(1)
    scaled: Floats = lights * np.float32(values["scale"])
    return scaled


def _can_decode_natively(values: Mapping[str, Any]) -> bool:
    """Return whether the native decoder supports the parameters.

    The native decoder does not support `seed_aug`, because it draws random numbers from `rm.Draws` instead of
    ``std::mt19937``.
    """
    if values["seed_aug"] is not None or values["max_crop_size"] > 0 or values["inter_method"] == RANDOM:
        return False
    if values["random_resized_crop"] and (values["resize"] != -1 or values["pad"]):
        return False
    return not (has_affine_transform(values) or has_color_shifts(values))


def _group_by_method(sizes: Ints, values: Mapping[str, Any]) -> list[Group]:
    """Group images by interpolation method. Images that need more than one resize form a group with method None."""
    pad, goal, method = values["pad"], np.array(values["data_shape"][1:]), values["inter_method"]
    shorter = scale_shorter_sides(sizes, values["resize"])
    padded = shorter + 2 * pad
    tall = enlarge_sizes_on_axis(padded, goal, 0)
    wide = enlarge_sizes_on_axis(tall, goal, 1)
    changes = [(old != new).any(axis=1) for old, new in ((sizes, shorter), (padded, tall), (tall, wide))]
    is_native = np.sum(changes, axis=0) <= 1
    if pad:
        is_native &= (wide == padded).all(axis=1) & ((shorter >= goal).all(axis=1) | values["rand_crop"])
    scaled = np.where(changes[0], choose_interpolations(method, sizes, shorter), _ANY_METHOD)
    enlarged = choose_interpolations(method, padded, np.broadcast_to(goal, padded.shape))
    methods = np.where(changes[1] | changes[2], enlarged, scaled)
    is_broken = (sizes == 0).any(axis=1)
    is_native, methods = is_native | is_broken, np.where(is_broken, _ANY_METHOD, methods)
    used = np.unique(methods[is_native & (methods != _ANY_METHOD)]).tolist() or [_ANY_METHOD]
    groups: list[Group] = []
    for number, one in enumerate(used):
        alike = (methods == one) | ((methods == _ANY_METHOD) & (number == 0))
        groups.append((one, np.flatnonzero(is_native & alike)))
    groups.append((None, np.flatnonzero(~is_native)))
    return [group for group in groups if len(group[1])]


def _create_image_spec(values: Mapping[str, Any], method: int, numbers: Mapping[str, Any]) -> rm.Image:
    channels, *size = values["data_shape"]
    crop: Any
    if values["random_resized_crop"]:
        areas = values["min_random_area"], values["max_random_area"]
        crop = rm.RandomResizedCrop(tuple(size), scale=areas, ratio=crop_aspect_ratios(values))
    elif values["rand_crop"]:
        crop = rm.RandomCrop(tuple(size), padding=values["pad"], fill=padding_color(values), small="enlarge")
    else:
        crop = rm.CenterCrop(tuple(size), small="enlarge")
    jitter = {name: values[name] for name in JITTER if values[name]}
    colors: list[Any] = [rm.ColorJitter(**jitter)] if jitter else []
    colors += [rm.PCANoise(values["pca_noise"])] if values["pca_noise"] else []
    resize = None if values["resize"] == -1 or values["random_resized_crop"] else rm.Resize(shorter=values["resize"])
    return rm.Image(
        like="mxnet",
        channels=COLOR_SPACES[channels],
        orientation="ignore" if channels == 4 else "apply",
        resize=resize,
        crop=crop,
        flip=rm.Flip(1.0) if values["mirror"] else values["rand_mirror"],
        color=colors,
        kernel=kernel_name(method if method == BY_SIZE else max(method, 0)),
        **numbers,
    )

"""Decode and augment images one at a time, for parameters that native batch decoding does not support."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import MXNetError
from recordmill.compat.mxnet.interpolation import AREA, BILINEAR, RANDOM, Size, choose_interpolation, resize
from recordmill.compat.mxnet.io.parameters import (
    JITTER,
    SHIFTS,
    crop_aspect_ratios,
    has_affine_transform,
    has_color_shifts,
)
from recordmill.compat.mxnet.io.random import LibstdcxxGenerator, round_half_away
from recordmill.concurrency.threads import map_range

Ints = NDArray[np.int64]
Pixels = NDArray[np.uint8]
Values = Mapping[str, Any]
# Crop window: x, y, width and height, in pixels.
Window = tuple[int, int, int, int]

COLOR_SPACES: dict[int, Any] = {1: "gray", 3: "rgb", 4: "stored"}
_WARP_KERNELS: Any = {0: "nearest", 1: "bilinear", 2: "cubic", 4: "lanczos4"}
_CROP_ATTEMPTS = 10
_LEVELS = np.arange(256, dtype=np.float32)
_MAX_HLS = (180, 255, 255)
# Luma weights of blue, green and red in 14-bit fixed point. MXNet applies them to RGB pixels in this order.
_GRAY_WEIGHTS = np.array([1868, 9617, 4899])
# Principal axes of ImageNet's colors (Krizhevsky et al. 2012). The values are from fb.resnet.torch.
EIGENVALUES = np.array([55.46, 4.794, 1.148])
EIGENVECTORS = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])
# Matrix for color noise. Each column is an eigenvector times its eigenvalue; the rows are red, green and blue.
_PCA_AXES = (EIGENVECTORS * EIGENVALUES).astype(np.float32)
_ONE, _TWO = np.float32(1), np.float32(2)


def decode_in_threads(decode: Callable[[int], None], rows: Sequence[int] | Ints, threads: int) -> None:
    """Call ``decode(i)`` for each ``i < len(rows)`` in threads. Errors name ``rows[i]``, a position in the batch."""

    def decode_row(number: int) -> None:
        try:
            decode(number)
        except rm.RecordmillError as error:
            position = int(rows[number])
            raise rm.DecodeError(
                error.message, cause=error, position=position, feature="data", kind=error.kind
            ) from error

    map_range(decode_row, len(rows), threads)


def decode(data: Any, channels: int) -> Pixels:
    """Decode an image; apply the EXIF orientation unless `channels` is 4."""
    orientation: Any = "ignore" if channels == 4 else "apply"
    pixels = rm.decode_image(data, like="mxnet", channels=COLOR_SPACES[channels], orientation=orientation, depth="8")
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    check_num_channels(pixels.shape[2], channels)
    return pixels


def check_num_channels(found: int, expected: int) -> None:
    """Raise MXNetError if an image does not have the number of channels of the batch."""
    if found != expected:
        raise MXNetError(f"Expected {expected} channels, got {found}", kind="channel_mismatch")


def decode_and_augment(data: Any, values: Values, generator: LibstdcxxGenerator) -> Pixels:
    """Decode, resize, warp, pad, crop and recolor one image."""
    pixels = decode(data, values["data_shape"][0])
    if values["resize"] != -1:
        size = shorter_side_size(pixels.shape[:2], values["resize"])
        pixels = resize(pixels, size, draw_interpolation(values["inter_method"], pixels.shape[:2], size, generator))
    if has_affine_transform(values):
        pixels = _warp_randomly(pixels, values, generator)
    if pad := values["pad"]:
        height, width = pixels.shape[:2]
        pixels = rm.crop(pixels, (-pad, -pad, width + 2 * pad, height + 2 * pad), fill=padding_color(values))
    return _recolor(_crop_and_resize_to_batch(pixels, values, generator), values, generator)


def draw_interpolation(method: int, old: Size, new: Size, generator: LibstdcxxGenerator) -> int:
    """Return the interpolation method (0 to 4) for one image; `RANDOM` selects a method at random."""
    return generator.integer(0, 4) if method == RANDOM else choose_interpolation(method, old, new)


def draw_mirror(values: Values, generator: LibstdcxxGenerator) -> bool:
    """Return whether to mirror an image: always with the parameter `mirror`, at random with `rand_mirror`."""
    return bool((values["rand_mirror"] and generator.flip_coin()) or values["mirror"])


def padding_color(values: Values) -> int | tuple[int, ...]:
    """Return the padding color; its alpha value is 0, as in MXNet."""
    fill: int = values["fill_value"]
    return (fill, fill, fill, 0) if values["data_shape"][0] == 4 else fill


def scale_shorter_sides(sizes: Ints, length: int) -> Ints:
    """Scale each image size so that its shorter side is `length`; round the longer side down.

    `sizes` has shape (n, 2). If `length` is -1, the sizes are returned unchanged.
    """
    return sizes if length == -1 else length * sizes // np.maximum(sizes.min(axis=1, keepdims=True), 1)


def shorter_side_size(size: Size, length: int) -> Size:
    """Return the (height, width) of an image after scaling its shorter side to `length`."""
    return _to_size_tuple(scale_shorter_sides(np.array([size]), length))


def enlarge_sizes_on_axis(sizes: Ints, goal: Ints, side: int) -> Ints:
    """Enlarge (height, width) pairs until axis `side` is at least ``goal[side]``; keep the aspect ratios.

    `sizes` has shape (n, 2). `side` is 0 for the height and 1 for the width. The enlargement factor is a float32, as in
    MXNet.
    """
    ratio = np.float32(goal[side]) / np.maximum(sizes[:, side], 1).astype(np.float32)
    other = (ratio * sizes[:, 1 - side].astype(np.float32)).astype(np.int64)
    grown = np.empty_like(sizes)
    grown[:, side], grown[:, 1 - side] = goal[side], other
    return np.where((sizes[:, side] < goal[side])[:, None], grown, sizes)


def shift_hls(pixels: Pixels, shifts: Sequence[int], behind: int | None = None) -> Pixels:
    """Add `shifts` to hue, lightness and saturation of RGB pixels; hue is clipped to [0, 180], the others to [0, 255].

    `behind` is passed to `rm.rgb_to_hls`.
    """
    levels = np.arange(256)
    tables = [np.clip(levels + shift, 0, top).astype(np.uint8) for shift, top in zip(shifts, _MAX_HLS, strict=True)]
    return rm.hls_to_rgb(_apply_lookup_tables(rm.rgb_to_hls(pixels, behind=behind), tables))


def _apply_lookup_tables(pixels: Pixels, tables: Sequence[Pixels]) -> Pixels:
    return np.stack([table.take(pixels[:, :, channel]) for channel, table in enumerate(tables)], axis=2)


def _to_size_tuple(sizes: Ints) -> Size:
    height, width = sizes[0].tolist()
    return height, width


def _crop_and_resize_to_batch(pixels: Pixels, values: Values, generator: LibstdcxxGenerator) -> Pixels:
    """Crop a window of random size, and resize it to the height and width of `data_shape`.

    If the parameters do not give a window of random size, enlarge images that are smaller than `data_shape`, and crop a
    window with the height and width of `data_shape`.
    """
    size, goal, method = pixels.shape[:2], tuple(values["data_shape"][1:]), values["inter_method"]
    window = None
    if values["random_resized_crop"]:
        window = _draw_window_of_random_area(size, values, generator)
    elif values["max_crop_size"] > 0:
        window = _draw_square_window(size, values, generator)
    if window is not None:
        part = rm.crop(pixels, window)
        return resize(part, goal, draw_interpolation(method, part.shape[:2], goal, generator))
    chosen = draw_interpolation(method, size, goal, generator)
    for side in (0, 1):
        enlarged = enlarge_sizes_on_axis(np.array([pixels.shape[:2]]), np.array(goal), side)
        pixels = resize(pixels, _to_size_tuple(enlarged), chosen)
    return rm.crop(pixels, _draw_window(pixels.shape[:2], goal, values, generator))


def _draw_window(size: Size, wanted: Size, values: Values, generator: LibstdcxxGenerator) -> Window:
    """Return a crop window of size `wanted`: at a random position if `rand_crop` is set, else in the center."""
    room = [side - part for side, part in zip(size, wanted, strict=True)]
    y, x = (generator.integer(0, one) if values["rand_crop"] else one // 2 for one in room)
    return x, y, wanted[1], wanted[0]


def _draw_square_window(size: Size, values: Values, generator: LibstdcxxGenerator) -> Window:
    largest = values["max_crop_size"]
    if min(size) < largest:
        message, found = "Check failed: input image size smaller than max_crop_size", f"{size[1]} x {size[0]}"
        raise MXNetError(message, kind="small_image", expected=f"at least {largest} pixels", found=found)
    side = generator.integer(values["min_crop_size"], largest)
    return _draw_window(size, (side, side), values, generator)


def _draw_window_of_random_area(size: Size, values: Values, generator: LibstdcxxGenerator) -> Window | None:
    """Return a window of random area and aspect ratio; None if both are fixed to 1, or if no attempt fits the image."""
    areas, ratios = (values["min_random_area"], values["max_random_area"]), crop_aspect_ratios(values)
    if areas == (1.0, 1.0) and ratios == (1.0, 1.0):
        return None
    total = np.float32(size[0] * size[1])
    for _ in range(_CROP_ATTEMPTS):
        area, ratio = total * generator.uniform(*areas), generator.uniform(*ratios)
        height, width = round_half_away(np.sqrt(area / ratio)), round_half_away(np.sqrt(area * ratio))
        if generator.uniform() > 0.5:
            height, width = width, height
        if height <= size[0] and width <= size[1]:
            y, x = generator.integer(0, size[0] - height), generator.integer(0, size[1] - width)
            return x, y, width, height
    return None


def _warp_randomly(pixels: Pixels, values: Values, generator: LibstdcxxGenerator) -> Pixels:
    """Rotate, shear, scale and stretch an image about its center with one random affine transform."""
    old, channels = pixels.shape[:2], pixels.shape[2]
    matrix, size = _draw_affine_matrix(old, values, generator)
    method = draw_interpolation(values["inter_method"], old, size, generator)
    kernel = _WARP_KERNELS[BILINEAR if method == AREA else method]
    fill = [values["fill_value"]] * min(channels, 3) + [0] * (channels - 3)
    return rm.warp_affine(pixels, matrix, tuple(max(side, 1) for side in size), kernel=kernel, fill=fill)


def _draw_affine_matrix(size: Size, values: Values, generator: LibstdcxxGenerator) -> tuple[NDArray[np.float32], Size]:
    """Return a random affine matrix and the size of the warped image.

    The matrix is computed in float32 and in MXNet's order, so that it is rounded in the same way.
    """
    limit = np.float32(values["max_shear_ratio"])
    shear = generator.uniform() * limit * _TWO - limit
    angle = generator.integer(-values["max_rotate_angle"], values["max_rotate_angle"])
    radians = (values["rotate"] if values["rotate"] > 0 else angle) / 180.0 * math.pi
    cosine, sine = np.float32(math.cos(radians)), np.float32(math.sin(radians))
    scale = ratio = _ONE
    if not values["random_resized_crop"]:
        scale = generator.uniform(values["min_random_scale"], values["max_random_scale"])
        ratio = generator.uniform(*crop_aspect_ratios(values))
    down = _TWO * scale / (_ONE + ratio)
    across = ratio * down
    height, width = (np.float32(side) for side in size)
    smallest, largest = np.float32(values["min_img_size"]), np.float32(values["max_img_size"])
    new_width, new_height = (max(smallest, min(largest, scale * side)) for side in (width, height))
    a, b = down * cosine - shear * sine * across, down * sine + shear * cosine * across
    d, e = -sine * across, cosine * across
    c, f = (new_width - (a * width + b * height)) / _TWO, (new_height - (d * width + e * height)) / _TWO
    return np.array([[a, b, c], [d, e, f]], np.float32), (int(new_height), int(new_width))


def _recolor(pixels: Pixels, values: Values, generator: LibstdcxxGenerator) -> Pixels:
    """Jitter brightness, contrast and saturation, shift hue, saturation and lightness, and add color noise."""
    if any(values[name] > 0 for name in JITTER):
        pixels = _jitter_colors(pixels, values, generator)
    if has_color_shifts(values):
        pixels = shift_hls(pixels, _draw_hls_shifts(values, generator))
    if values["pca_noise"] > 0:
        pixels = _add_color_noise(pixels, values["pca_noise"], generator)
    return pixels


def _jitter_colors(pixels: Pixels, values: Values, generator: LibstdcxxGenerator) -> Pixels:
    factors = [np.float32(1.0 + float(generator.uniform(-values[name], values[name]))) for name in JITTER]
    for which in generator.permutation(len(JITTER)):
        factor = factors[which]
        if factor == 1:
            continue
        if JITTER[which] == "brightness":
            pixels = _round_to_uint8(_LEVELS * factor)[pixels]
        elif JITTER[which] == "contrast":
            mean = np.float32(_to_gray(pixels).mean(dtype=np.float64))
            pixels = _round_to_uint8(_LEVELS * factor + (_ONE - factor) * mean)[pixels]
        else:
            pixels = _round_to_uint8(pixels * factor + _to_gray(pixels)[:, :, None] * (_ONE - factor))
    return pixels


def _to_gray(pixels: Pixels) -> Pixels:
    if pixels.shape[2] == 1:
        return pixels[:, :, 0]
    gray: Pixels = ((pixels @ _GRAY_WEIGHTS + (1 << 13)) >> 14).astype(np.uint8)
    return gray


def _round_to_uint8(values: NDArray[np.float32]) -> Pixels:
    rounded: Pixels = np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return rounded


def _draw_hls_shifts(values: Values, generator: LibstdcxxGenerator) -> list[int]:
    """Return shifts of hue, lightness and saturation; like MXNet, draw saturation before lightness."""
    shifts = {}
    for name in SHIFTS:
        limit = np.float32(values[name])
        unit = (generator.uniform() + np.float32(4) * generator.uniform()) / np.float32(5)
        shifts[name] = int(unit * limit * _TWO - limit)
    return [shifts[name] for name in ("random_h", "random_l", "random_s")]


def _add_color_noise(pixels: Pixels, deviation: float, generator: LibstdcxxGenerator) -> Pixels:
    amounts = generator.normal(3, deviation)
    offsets = [(axis[0] * amounts[0] + axis[1] * amounts[1]) + axis[2] * amounts[2] for axis in _PCA_AXES]
    if pixels.shape[2] == 1:
        offsets = [np.float32(sum(offsets) / 3)]
    return _apply_lookup_tables(
        pixels, [np.clip(np.trunc(_LEVELS + offset), 0, 255).astype(np.uint8) for offset in offsets]
    )

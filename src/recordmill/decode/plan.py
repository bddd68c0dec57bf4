"""Plans for decoding batches of images. Plans store sizes and random parameters in arrays that the native module reads.

`compile_image_spec` compiles a spec once. `plan_images` adds the arrays of one batch. The native module and Pillow
decode from the same `ImagePlan`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.columns import take_payloads
from recordmill.decode.geometry import (
    ATTEMPTS,
    GeometryPlan,
    adds_pixels,
    choose_fitting_rectangles,
    find_fixed_output_size,
)
from recordmill.decode.options import DecodeOptions, OutputFormat
from recordmill.decode.presets import find_preset, parse_kernel
from recordmill.decode.random import Draws, Stage, words_to_integers, words_to_uniform
from recordmill.decode.specs.color import Color, ColorJitter, PCANoise, RandomErasing, RandomGrayscale
from recordmill.decode.specs.geometry import RandomCrop
from recordmill.decode.specs.image import Image

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Value of `max_pixels` in image plans, which need no limit. The user's limit was already applied to the image size in
# the header, and decoding allocates memory only for this size.
NO_LIMIT = 1 << 40


@dataclass(frozen=True, slots=True)
class Border:
    """Values of the output pixels that the image does not cover.

    Parameters
    ----------
    mode : str
        Padding of crops. One of "constant", "edge" or "reflect".
    fill : tuple of int
        Level of constant padding, one for each of red, green and blue or one for all.
    warp_kernel : str
        Interpolation of the affine map. Either "nearest" or "bilinear".
    warp_fill : tuple of int
        Level of pixels that the affine map takes from outside the image.
    """

    mode: str = "constant"
    fill: tuple[int, ...] = (0,)
    warp_kernel: str = "nearest"
    warp_fill: tuple[int, ...] = (0,)


class ColorStep(NamedTuple):
    """One color operation, such as brightness, and its parameters for n images, as the native module reads them.

    Parameters
    ----------
    kind : str
        Name of a color step of the native module, which raises ValueError for unknown names.
    numbers : ndarray of float64, shape (n, k)
        jitter: factors of brightness, contrast and saturation, and the hue shift (NaN disables a step), then the order
        of these four steps. gray: 1 to convert the image, else 0. shift: levels that are added to red, green and blue.
        paint: x, y, width and height of the rectangle (0 skips the image).
    fill : tuple of int
        Levels that paint writes, one per channel or one for all.
    """

    kind: str
    numbers: Floats
    fill: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NativeOptions:
    """Decode options and `max_pixels` for the native module, which reads these attributes by name."""

    want: str
    gray: str
    deep: str
    dct: str
    upsampling: str
    cmyk: str
    scale: int
    max_pixels: int


def _create_empty_int_array() -> Ints:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False, slots=True)
class ImagePlan:
    """A batch of n encoded images, with the parameters of all operations from decoding to the output array.

    Parameters
    ----------
    options, output : DecodeOptions, OutputFormat
    reading : NativeOptions
        The options again, for the native module.
    kernel : str
        ``"library:kernel"`` of resizing.
    mode, sampling : str
        Border mode of crops, and interpolation of the affine map.
    fill, warp_fill : tuple of int
        As in `Border`, in the channel order of the step that adds the pixels.
    layout, reverse, halves : str, bool, bool
        Channel axis, channel order, and float16 output.
    mean, factor, deep_mean, deep_factor : tuple of float
        Output is ``(level - mean) * factor``, for images of 8 bits and of 16 bits.
    first : tuple of float
        Factors that convert 8-bit and 16-bit levels to floats before resizing; empty if levels are converted later.
    payloads, points : (ndarray of uint8, ndarray of int64) or list of buffer
        Encoded images as data and row splits, or as a list. `points` are their entry points, if any.
    orientations : ndarray of int64, shape (n,)
        EXIF orientation that is applied, 1 to 8.
    geometry : ndarray of int64, shape (n, 13)
        Window in the decoded image, resized width and height, crop, horizontal and vertical flip, and the denominator
        of the decoded size (1, 2, 4 or 8, times `options.scale`).
    matrix : ndarray of float64, shape (n, 2, 3), optional
        Affine maps from the output to the cropped image.
    colors : sequence of ColorStep
    """

    options: DecodeOptions
    output: OutputFormat
    reading: NativeOptions
    kernel: str
    mode: str
    fill: tuple[int, ...]
    sampling: str
    warp_fill: tuple[int, ...]
    layout: str
    reverse: bool
    halves: bool
    mean: tuple[float, ...]
    factor: tuple[float, ...]
    deep_mean: tuple[float, ...]
    deep_factor: tuple[float, ...]
    first: tuple[float, ...]
    payloads: Any = ()
    points: Any = ()
    orientations: Ints = field(default_factory=_create_empty_int_array)
    geometry: Ints = field(default_factory=_create_empty_int_array)
    matrix: Floats | None = None
    colors: Sequence[ColorStep] = ()

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.orientations)

    def __getitem__(self, rows: Ints) -> ImagePlan:
        """Return the plan for a subset of the images. Entry points are omitted, because Pillow does not use them."""
        return replace(
            self,
            payloads=take_payloads(self.payloads, rows),
            points=[],
            orientations=self.orientations[rows],
            geometry=self.geometry[rows],
            matrix=None if self.matrix is None else self.matrix[rows],
            colors=[step._replace(numbers=step.numbers[rows]) for step in self.colors],
        )


@dataclass(frozen=True, eq=False, slots=True)
class MaskPlan:
    """A batch of n encoded masks, with the geometric transforms of their images.

    Parameters
    ----------
    job : ImagePlan
        Masks as payloads; `fill` and `warp_fill` are classes.
    upright : bool
        True to apply the EXIF orientation of the masks.
    sizes : ndarray of int64, shape (n, 4), optional
        Width and height of the upright images, and of the images as decoded. None for masks without an image, which
        are only decoded.
    fit : bool
        True to resize a mask whose size differs from that of its image.
    rule : str
        ``"library:nearest"`` of resizing.
    dtype : str
    """

    job: ImagePlan
    upright: bool
    sizes: Ints | None
    fit: bool
    rule: str
    dtype: str

    def __len__(self) -> int:
        """Return the number of masks."""
        return len(self.job)

    def __getitem__(self, rows: Ints) -> MaskPlan:
        """Return the plan for a subset of the masks."""
        return replace(self, job=self.job[rows], sizes=None if self.sizes is None else self.sizes[rows])


@dataclass(frozen=True, eq=False, slots=True)
class CompiledImageSpec:
    """An image spec, and all values that are computed from the spec before images are read.

    Parameters
    ----------
    spec : Image
    plan : ImagePlan
        Plan without images.
    upright : bool
        True to apply the EXIF orientation.
    border : Border
    size : (int, int), optional
        Height and width of every output, if they do not depend on the image.
    channels : int, optional
        Channels of every output, if they do not depend on the image.
    adds_pixels : bool
        True if an output can have pixels that its image does not cover.
    """

    spec: Image
    plan: ImagePlan
    upright: bool
    border: Border
    size: tuple[int, int] | None
    channels: int | None
    adds_pixels: bool


@lru_cache(256)
def compile_image_spec(spec: Image) -> CompiledImageSpec:
    """Resolve the defaults of an image spec, and compute everything that does not depend on images."""
    preset = find_preset(spec.like)
    channels: Any = spec.channels or preset.channels
    dtype = spec.dtype or ("uint8" if spec.mean is None and spec.std is None else "float32")
    options = DecodeOptions(
        "rgb" if channels == "bgr" else channels,
        spec.dct or preset.dct,
        spec.upsampling or preset.upsampling,
        preset.gray,
        preset.cmyk,
        preset.deep if dtype == "uint8" else "keep",
        1 if spec.reduce == "auto" else spec.reduce,
    )
    mean, std = (cast("tuple[float, ...] | None", numbers) for numbers in (spec.mean, spec.std))
    output = OutputFormat(dtype, spec.layout, channels == "bgr", mean, std, spec.white, spec.scale_first)
    border = _build_border(spec)
    kernel = parse_kernel(spec.kernel, spec.like)
    return CompiledImageSpec(
        spec,
        compile_image_plan(options, output, kernel, border, has_colors=bool(spec.color)),
        (spec.orientation or preset.orientation) == "apply",
        border,
        find_fixed_output_size(spec),
        {"gray": 1, "stored": None}.get(channels, 3),
        adds_pixels(spec),
    )


def _build_border(spec: Image) -> Border:
    mode = spec.crop.mode if isinstance(spec.crop, RandomCrop) else "constant"
    fill: Any = getattr(spec.crop, "fill", None) or (0,)
    if spec.affine is None:
        return Border(mode, fill)
    return Border(mode, fill, spec.affine.kernel, cast("tuple[int, ...]", spec.affine.fill))


@lru_cache(256)
def compile_image_plan(
    options: DecodeOptions,
    output: OutputFormat,
    kernel: str = "pillow:nearest",
    border: Border | None = None,
    *,
    has_colors: bool = False,
    max_pixels: int = NO_LIMIT,
) -> ImagePlan:
    """Build an `ImagePlan` without images; `plan_images` adds them later."""
    border = border or Border()
    # Border fills are given as RGB. Without color transforms, images for BGR output are decoded directly as BGR, so the
    # fills are reversed here. Color transforms require RGB. With them, the border is filled in RGB, and the channels of
    # the whole image are reversed at the end.
    order = slice(None, None, -1 if output.reverse and not has_colors else 1)
    factors = tuple(float(np.float32(output.white / brightest)) for brightest in (255, 65535))
    return ImagePlan(
        options,
        output,
        native_options(options, max_pixels),
        kernel,
        border.mode,
        border.fill[order],
        border.warp_kernel,
        border.warp_fill[order],
        output.layout,
        output.reverse,
        output.dtype == "float16",
        *_compute_normalization(output, 255),
        *_compute_normalization(output, 65535),
        factors if output.scale_first else (),
    )


@lru_cache(256)
def native_options(options: DecodeOptions, max_pixels: int) -> NativeOptions:
    """Return decode options and `max_pixels` in the form that the native module reads."""
    words = (options.channels, options.gray, options.deep, options.dct, options.upsampling, options.cmyk)
    return NativeOptions(*words, options.scale, max_pixels)


def _compute_normalization(output: OutputFormat, brightest: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return `mean` and `factor` so that ``(level - mean) * factor`` normalizes levels from 0 to `brightest`."""
    if output.scale_first:
        return output.mean or (0.0,), tuple(float(np.float32(1) / np.float32(one)) for one in output.std or (1.0,))
    if output.dtype.startswith("uint"):
        return (0.0,), (float(np.iinfo(output.dtype).max / brightest),)
    means = tuple(float(np.float32(mean * (brightest / output.white))) for mean in output.mean or (0.0,))
    factors = np.float32(output.white / brightest) / np.asarray(output.std or (1.0,), np.float32)
    return means, tuple(float(factor) for factor in factors)


def plan_images(
    plan: ImagePlan,
    payloads: Any,
    geometry: GeometryPlan,
    orientations: Ints | None = None,
    scales: Ints | None = None,
    colors: Sequence[ColorStep] = (),
    points: Any = (),
) -> ImagePlan:
    """Add images to a compiled plan; `scales` has the factor by which decoding reduces each image: 1, 2, 4 or 8."""
    count = len(geometry)
    scales = np.ones(count, np.int64) if scales is None else scales
    windows = geometry.windows
    if (scales != 1).any():
        # Convert the windows to pixels of the scaled image. Round the start down and the end up.
        start = windows[:, :2] // scales[:, None]
        windows = np.concatenate([start, -(-(windows[:, :2] + windows[:, 2:]) // scales[:, None]) - start], axis=1)
    columns = [windows, geometry.resized, geometry.crops, geometry.flips, scales[:, None]]
    return replace(
        plan,
        payloads=payloads,
        points=points,
        orientations=np.ones(count, np.int64) if orientations is None else np.ascontiguousarray(orientations),
        geometry=np.concatenate(columns, axis=1, dtype=np.int64),
        matrix=None if geometry.matrices is None else np.ascontiguousarray(geometry.matrices),
        colors=colors,
    )


def plan_colors(specs: Sequence[Color], sizes: Ints, draws: Draws | None, positions: Ints) -> list[ColorStep]:
    """Draw the random parameters of the color steps; `sizes` has the width and height of each output image."""
    if not specs:
        return []
    if draws is None:
        raise ValueError("color= requires rng=seed or rng=Draws(seed, epoch)")
    return [
        _COLOR_STEPS[type(spec)](spec, sizes, draws, positions, Stage.COLOR + number)
        for number, spec in enumerate(specs)
    ]


# Principal components of the colors of ImageNet, with levels from 0 to 1. `_PCA_DEVIATIONS` contains the standard
# deviation along each component. The columns of `_PCA_AXES` are the components; its rows are red, green and blue.
_PCA_DEVIATIONS = np.array([0.2175, 0.0188, 0.0045])
_PCA_AXES = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])
_JITTER_PARTS = ("brightness", "contrast", "saturation", "hue")
_JITTER_NEUTRAL = [[1, 1], [1, 1], [1, 1], [0, 0]]


def _plan_jitter(spec: ColorJitter, _: Ints, draws: Draws, positions: Ints, stage: int) -> ColorStep:
    unit = draws.uniform(positions, stage, 5)
    ranges = np.array([getattr(spec, name) for name in _JITTER_PARTS])
    factors = ranges[:, 0] + (ranges[:, 1] - ranges[:, 0]) * unit[:, 1:]
    factors[:, (ranges == _JITTER_NEUTRAL).all(axis=1)] = np.nan
    factors[unit[:, 0] >= spec.probability] = np.nan
    order = draws.permutation(positions, stage, len(_JITTER_PARTS), first=5)
    return ColorStep("jitter", np.concatenate([factors, order], axis=1))


def _plan_grayscale(spec: RandomGrayscale, _: Ints, draws: Draws, positions: Ints, stage: int) -> ColorStep:
    return ColorStep("gray", draws.booleans(positions, stage, spec.probability).astype(np.float64)[:, None])


def _plan_pca_noise(spec: PCANoise, _: Ints, draws: Draws, positions: Ints, stage: int) -> ColorStep:
    amounts = draws.normal(positions, stage, 3) * spec.std
    return ColorStep("shift", (amounts * _PCA_DEVIATIONS) @ _PCA_AXES.T * 255)


def _plan_erasing(spec: RandomErasing, sizes: Ints, draws: Draws, positions: Ints, stage: int) -> ColorStep:
    inverted = (1 / spec.ratio[1], 1 / spec.ratio[0])  # RandomErasing.ratio is height / width; crops use width / height
    words = draws.words(positions, stage, 2 * ATTEMPTS + 3)
    shapes, fits = choose_fitting_rectangles(sizes, spec.scale, inverted, words_to_uniform(words[:, : 2 * ATTEMPTS]))
    room = np.maximum(sizes - shapes, 0)
    corners = words_to_integers(words[:, 2 * ATTEMPTS : -1], room + 1)
    is_erased = (words_to_uniform(words[:, -1]) < spec.probability) & fits
    windows = np.concatenate([corners, shapes], axis=1) * is_erased[:, None]
    return ColorStep("paint", windows.astype(np.float64), cast("tuple[int, ...]", spec.fill))


_COLOR_STEPS: dict[type, Callable[[Any, Ints, Draws, Ints, int], ColorStep]] = {
    ColorJitter: _plan_jitter,
    RandomGrayscale: _plan_grayscale,
    PCANoise: _plan_pca_noise,
    RandomErasing: _plan_erasing,
}

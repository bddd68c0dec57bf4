"""Random operations of ``tf.image``, such as ``random_flip_left_right``, and their stateless variants.

Stateless operations use the same random numbers as TensorFlow; the others use NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.random_state import current_generator
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images import philox
from recordmill.compat.tensorflow.images.arguments import to_image
from recordmill.compat.tensorflow.images.color import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from recordmill.compat.tensorflow.images.flip import flip_axis

# Signature of functions that draw a random number from [low, high).
Uniform = Callable[[float, float], float]

_INT32_MAX = 2**31 - 1


@op("image.random_flip_left_right", always=True)
def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """``tf.image.random_flip_left_right``: mirror each image left to right with probability 1/2."""
    return Tensor(_flip_randomly(image, -2, seed))


@op("image.random_flip_up_down", always=True)
def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """``tf.image.random_flip_up_down``: mirror each image top to bottom with probability 1/2."""
    return Tensor(_flip_randomly(image, -3, seed))


@op("image.random_brightness", always=True)
def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """``tf.image.random_brightness``: add a random number from [-max_delta, max_delta)."""
    return adjust_brightness(image, _draw_delta(_make_stateful_draw(seed), max_delta))


@op("image.random_contrast", always=True)
def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """``tf.image.random_contrast``: change the contrast by a random factor from [lower, upper)."""
    return adjust_contrast(image, _draw_factor(_make_stateful_draw(seed), lower, upper))


@op("image.random_saturation", always=True)
def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """``tf.image.random_saturation``: multiply the saturation by a random factor from [lower, upper)."""
    return adjust_saturation(image, _draw_factor(_make_stateful_draw(seed), lower, upper))


@op("image.random_hue", always=True)
def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """``tf.image.random_hue``: rotate the hue by a random number of turns from [-max_delta, max_delta)."""
    return adjust_hue(image, _draw_delta(_make_stateful_draw(seed), max_delta, 0.5))


@op("image.random_crop", always=True)
def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """``tf.image.random_crop``: crop a tensor of any rank to `size` at a random offset."""
    values = array_of(value)
    lengths = check_crop_size(values, size).tolist()
    offsets = draw_crop_offsets(current_generator(seed), values.shape, lengths)
    return Tensor(np.ascontiguousarray(crop_window_view(values, offsets, lengths)))


@op("image.stateless_random_flip_left_right")
def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """``tf.image.stateless_random_flip_left_right``: mirror each image with probability 1/2, decided by `seed`."""
    return Tensor(_flip_statelessly(image, -2, seed))


@op("image.stateless_random_flip_up_down")
def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """``tf.image.stateless_random_flip_up_down``: mirror each image with probability 1/2, decided by `seed`."""
    return Tensor(_flip_statelessly(image, -3, seed))


@op("image.stateless_random_brightness")
def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> Tensor:
    """``tf.image.stateless_random_brightness``: add a number that depends only on `seed`."""
    return adjust_brightness(image, _draw_delta(_make_stateless_draw(seed), max_delta))


@op("image.stateless_random_contrast")
def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> Tensor:
    """``tf.image.stateless_random_contrast``: change the contrast by a factor that depends only on `seed`."""
    return adjust_contrast(image, _draw_factor(_make_stateless_draw(seed), lower, upper))


@op("image.stateless_random_saturation")
def stateless_random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Tensor:
    """``tf.image.stateless_random_saturation``: multiply the saturation by a factor that depends only on `seed`."""
    return adjust_saturation(image, _draw_factor(_make_stateless_draw(seed), lower, upper))


@op("image.stateless_random_hue")
def stateless_random_hue(image: Any, max_delta: float, seed: Any) -> Tensor:
    """``tf.image.stateless_random_hue``: rotate the hue by an angle that depends only on `seed`."""
    return adjust_hue(image, _draw_delta(_make_stateless_draw(seed), max_delta, 0.5))


@op("image.stateless_random_crop")
def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """``tf.image.stateless_random_crop``: crop a tensor at an offset that depends only on `seed`."""
    values = array_of(value)
    lengths = check_crop_size(values, size).tolist()
    words = philox.iterate_random_words(seed)
    offsets = [
        next(words) % _INT32_MAX % (side - length + 1) for side, length in zip(values.shape, lengths, strict=True)
    ]
    return Tensor(np.ascontiguousarray(crop_window_view(values, offsets, lengths)))


def _make_stateful_draw(seed: int | None) -> Uniform:
    return lambda low, high: float(np.float32(current_generator(seed).uniform(low, high)))


def _make_stateless_draw(seed: Any) -> Uniform:
    return lambda low, high: philox.draw_uniform(philox.iterate_random_words(seed), low, high)


def _draw_delta(draw: Uniform, max_delta: float, limit: float = np.inf) -> float:
    if not 0 <= max_delta <= limit:
        raise ValueError(f"max_delta must be in [0, {limit}], got {max_delta}")
    return draw(-max_delta, max_delta)


def _draw_factor(draw: Uniform, lower: float, upper: float) -> float:
    if not 0 <= lower < upper:
        raise ValueError(f"lower and upper must satisfy 0 <= lower < upper, got {lower} and {upper}")
    return draw(lower, upper)


def _flip_randomly(image: Any, axis: int, seed: int | None) -> NDArray[Any]:
    pixels = to_image(image)
    numbers = current_generator(seed)
    return _flip_by_random_numbers(pixels, axis, np.array(numbers.random(pixels.shape[:-3], dtype=np.float32)))


def _flip_statelessly(image: Any, axis: int, seed: Any) -> NDArray[Any]:
    pixels = to_image(image)
    return _flip_by_random_numbers(
        pixels, axis, philox.draw_unit_floats(philox.iterate_random_words(seed), pixels.shape[:-3])
    )


def _flip_by_random_numbers(pixels: NDArray[Any], axis: int, numbers: NDArray[np.float32]) -> NDArray[Any]:
    """Mirror images as TensorFlow does: a single image if its number is < 0.5, an image of a batch if it is > 0.5."""
    if pixels.ndim == 3:
        return flip_axis(pixels, axis) if numbers < 0.5 else pixels
    return flip_selected(pixels, axis, np.rint(numbers) > 0)


def flip_selected(pixels: NDArray[Any], axis: int, is_flipped: NDArray[np.bool_]) -> NDArray[Any]:
    """Mirror the images of a batch for which `is_flipped` is True."""
    out = pixels.copy()
    out[is_flipped] = flip_axis(pixels[is_flipped], axis)
    return out


def draw_flip_number(numbers: np.random.Generator) -> np.float32:
    """Draw the random number that decides whether one image is flipped."""
    return numbers.random(dtype=np.float32)  # type: ignore[return-value]


def draw_crop_offsets(numbers: np.random.Generator, shape: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """Draw a random offset on each axis for a window with the side lengths `lengths`."""
    rooms = [side - length for side, length in zip(shape, lengths, strict=True)]
    return [int(numbers.integers(room + 1)) if room else 0 for room in rooms]


def crop_window_view(values: NDArray[Any], offsets: Sequence[int], lengths: Sequence[int]) -> NDArray[Any]:
    """Return a view of the window at `offsets` with the side lengths `lengths`."""
    slices = (slice(offset, offset + length) for offset, length in zip(offsets, lengths, strict=True))
    return values[tuple(slices)]


def check_crop_size(values: NDArray[Any], size: Any) -> NDArray[np.int64]:
    """Convert `size` to the side lengths of a window; raise InvalidArgumentError if the window exceeds the array."""
    lengths = array_of(size, dtypes.int32).astype(np.int64)
    if lengths.shape != (values.ndim,) or (np.array(values.shape) < lengths).any():
        message = f"size must have one length per axis and fit into the shape {values.shape}, got {lengths.tolist()}"
        raise InvalidArgumentError(message, kind="bad_shape")
    return lengths

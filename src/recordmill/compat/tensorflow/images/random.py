"""``tf.image.random_flip_left_right`` and other random changes, and their stateless forms.

Stateless operations give TensorFlow's numbers; the others draw from NumPy's generator of the program.
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

# Draws a number from a range.
Uniform = Callable[[float, float], float]

_INT32_MAX = 2**31 - 1


@op("image.random_flip_left_right", always=True)
def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """Mirror each image left to right with a probability of 1/2."""
    return Tensor(_flip_randomly(image, -2, seed))


@op("image.random_flip_up_down", always=True)
def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """Mirror each image top to bottom with a probability of 1/2."""
    return Tensor(_flip_randomly(image, -3, seed))


@op("image.random_brightness", always=True)
def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """Change the brightness by a random amount."""
    return adjust_brightness(image, _draw_delta(_from_generator(seed), max_delta))


@op("image.random_contrast", always=True)
def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Multiply the contrast by a random factor."""
    return adjust_contrast(image, _draw_factor(_from_generator(seed), lower, upper))


@op("image.random_saturation", always=True)
def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Multiply the saturation by a random factor."""
    return adjust_saturation(image, _draw_factor(_from_generator(seed), lower, upper))


@op("image.random_hue", always=True)
def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """Rotate the hue by a random amount."""
    return adjust_hue(image, _draw_delta(_from_generator(seed), max_delta, 0.5))


@op("image.random_crop", always=True)
def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Crop a tensor at a random offset."""
    values = array_of(value)
    lengths = check_crop_size(values, size).tolist()
    offsets = draw_crop_offsets(current_generator(seed), values.shape, lengths)
    return Tensor(np.ascontiguousarray(slice_window(values, offsets, lengths)))


@op("image.stateless_random_flip_left_right")
def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """Mirror each image left to right with a probability of 1/2."""
    return Tensor(_flip_statelessly(image, -2, seed))


@op("image.stateless_random_flip_up_down")
def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """Mirror each image top to bottom with a probability of 1/2."""
    return Tensor(_flip_statelessly(image, -3, seed))


@op("image.stateless_random_brightness")
def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> Tensor:
    """Change the brightness by an amount that follows from the seeds."""
    return adjust_brightness(image, _draw_delta(_from_seeds(seed), max_delta))


@op("image.stateless_random_contrast")
def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> Tensor:
    """Multiply the contrast by a factor that follows from the seeds."""
    return adjust_contrast(image, _draw_factor(_from_seeds(seed), lower, upper))


@op("image.stateless_random_saturation")
def stateless_random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Tensor:
    """Multiply the saturation by a factor that follows from the seeds."""
    return adjust_saturation(image, _draw_factor(_from_seeds(seed), lower, upper))


@op("image.stateless_random_hue")
def stateless_random_hue(image: Any, max_delta: float, seed: Any) -> Tensor:
    """Rotate the hue by an amount that follows from the seeds."""
    return adjust_hue(image, _draw_delta(_from_seeds(seed), max_delta, 0.5))


@op("image.stateless_random_crop")
def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """Crop a tensor at an offset that follows from the seeds."""
    values = array_of(value)
    lengths = check_crop_size(values, size).tolist()
    words = philox.words(seed)
    offsets = [
        next(words) % _INT32_MAX % (side - length + 1) for side, length in zip(values.shape, lengths, strict=True)
    ]
    return Tensor(np.ascontiguousarray(slice_window(values, offsets, lengths)))


def _from_generator(seed: int | None) -> Uniform:
    return lambda low, high: float(np.float32(current_generator(seed).uniform(low, high)))


def _from_seeds(seed: Any) -> Uniform:
    return lambda low, high: philox.uniform(philox.words(seed), low, high)


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
    return _flip_some(pixels, axis, np.array(numbers.random(pixels.shape[:-3], dtype=np.float32)))


def _flip_statelessly(image: Any, axis: int, seed: Any) -> NDArray[Any]:
    pixels = to_image(image)
    return _flip_some(pixels, axis, philox.unit_floats(philox.words(seed), pixels.shape[:-3]))


def _flip_some(pixels: NDArray[Any], axis: int, numbers: NDArray[np.float32]) -> NDArray[Any]:
    """Mirror a single image for a number below 0.5, and images of a batch for numbers above, as TensorFlow does."""
    if pixels.ndim == 3:
        return flip_axis(pixels, axis) if numbers < 0.5 else pixels
    return flip_selected(pixels, axis, np.rint(numbers) > 0)


def flip_selected(pixels: NDArray[Any], axis: int, is_flipped: NDArray[np.bool_]) -> NDArray[Any]:
    """Mirror some images of a batch."""
    out = pixels.copy()
    out[is_flipped] = flip_axis(pixels[is_flipped], axis)
    return out


def draw_unit(numbers: np.random.Generator) -> np.float32:
    """Draw the number that decides about one image."""
    return numbers.random(dtype=np.float32)  # type: ignore[return-value]


def draw_crop_offsets(numbers: np.random.Generator, shape: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """Draw the offset of a window on each axis."""
    rooms = [side - length for side, length in zip(shape, lengths, strict=True)]
    return [int(numbers.integers(room + 1)) if room else 0 for room in rooms]


def slice_window(values: NDArray[Any], offsets: Sequence[int], lengths: Sequence[int]) -> NDArray[Any]:
    """Return a view of a window."""
    slices = (slice(offset, offset + length) for offset, length in zip(offsets, lengths, strict=True))
    return values[tuple(slices)]


def check_crop_size(values: NDArray[Any], size: Any) -> NDArray[np.int64]:
    """Return the lengths of a window, which must fit into an array."""
    lengths = array_of(size, dtypes.int32).astype(np.int64)
    if lengths.shape != (values.ndim,) or (np.array(values.shape) < lengths).any():
        message = f"size must not exceed the shape {values.shape}, got {lengths.tolist()}"
        raise InvalidArgumentError(message, kind="bad_shape")
    return lengths

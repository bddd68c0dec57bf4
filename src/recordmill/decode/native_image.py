"""Decode or transform one image with the native module, and convert native errors to Python exceptions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.decode.geometry import GeometryPlan
from recordmill.decode.options import DecodeOptions, OutputFormat
from recordmill.decode.pixels import Window
from recordmill.decode.plan import Border, ColorStep, ImagePlan, compile_image_plan, native_options, plan_images
from recordmill.errors import ImageError, LimitError

Parts = tuple[str, int, str, str]  # (kind, offset, expected, found)

# Error kinds of damaged images. Damaged images are never decoded again with Pillow, because Pillow may fill missing
# pixels with guesses without raising an error.
DAMAGE = frozenset({"truncated", "bad_table", "bad_code", "bad_restart", "bad_checksum", "bad_compression"})
# Errors of these kinds are final. After an error of another kind, Pillow may be able to decode the image.
_FINAL = DAMAGE | {"limit_exceeded", "bad_window", "bad_entry_points", "out_of_memory"}
_MESSAGES = {
    "limit_exceeded": "the image is too large",
    "bad_window": "the window does not lie within the image",
    "bad_entry_points": "the entry points do not belong to the image",
    "truncated": "the image is truncated",
}


def image_error(parts: Parts, hint: str | None = None) -> ImageError | LimitError | MemoryError:
    """Create an ImageError, LimitError or MemoryError from `parts`, the arguments of a native error."""
    kind, offset, expected, found = parts
    if kind == "out_of_memory":
        return MemoryError(found)
    default = "the image is damaged" if kind in DAMAGE else "the image cannot be decoded natively"
    cls = LimitError if kind == "limit_exceeded" else ImageError
    return cls(_MESSAGES.get(kind, default), kind=kind, offset=offset, expected=expected, found=found, hint=hint)


@contextmanager
def native_image_errors() -> Iterator[None]:
    """Convert errors that the native module raises in the `with` block to ImageError, LimitError or MemoryError."""
    try:
        yield
    except _core.ImageRefused as refused:
        raise image_error(refused.args) from None


def try_native(decode: Callable[[], Any]) -> NDArray[Any] | None:
    """Call a native decoder; return its pixels, or None if it does not support the image."""
    try:
        block, height, width, channels = decode()
    except _core.ImageRefused as refused:
        if refused.args[0] in _FINAL:
            raise image_error(refused.args) from None
        return None
    return np.asarray(block).reshape(height, width, channels)


def window_error(expected: str, window: Sequence[int]) -> ImageError:
    """Create the error for a window that is invalid or reaches beyond the image."""
    found = ", ".join(map(str, window))
    return ImageError(_MESSAGES["bad_window"], kind="bad_window", expected=expected, found=found)


def check_window(window: Window, image_width: int, image_height: int) -> None:
    """Raise ImageError if a window reaches beyond the image."""
    x, y, width, height = window
    if y + height > image_height or x + width > image_width:
        raise window_error(f"within {image_width} x {image_height}", window)


def read_native_header(
    data: Any, options: DecodeOptions, *, upright: bool, max_pixels: int
) -> tuple[int, int, int] | None:
    """Return decoded width, decoded height and orientation; None if the native decoder does not support the image."""
    numbers, refused = _core.image_headers([data], native_options(options, max_pixels), upright)
    if refused:
        if refused[0][1][0] in _FINAL:
            raise image_error(refused[0][1])
        return None
    _, _, width, height, orientation, _, _ = np.asarray(numbers).tolist()
    return width, height, orientation


def decode_single(
    data: Any, options: DecodeOptions, output: OutputFormat, *, window: Window | None, upright: bool, max_pixels: int
) -> NDArray[Any] | None:
    """Decode one image, or a window of it; return None if the native decoder does not support the image."""
    header = read_native_header(data, options, upright=upright, max_pixels=max_pixels)
    if header is None:
        return None
    width, height, orientation = header
    window = (0, 0, width, height) if window is None else window
    check_window(window, width, height)
    windows = np.array([window])
    geometry = replace(GeometryPlan.identity(windows[:, 2:]), windows=windows)
    if options.deep == "keep" and _is_deep_png(data):
        output = replace(output, dtype="uint16")
    plan = plan_images(compile_image_plan(options, output), [data], geometry, np.array([orientation]))
    [(image, parts)] = _core.decode_each_image(plan, output.dtype, 1)
    if parts is not None and parts[0] in _FINAL:
        raise image_error(parts)
    return None if image is None else image_to_array(image, output)


def _is_deep_png(data: Any) -> bool:
    head = bytes(memoryview(data)[:25])
    return head.startswith(b"\x89PNG") and head[24:] == b"\x10"


def transform_image(
    pixels: NDArray[Any],
    output: OutputFormat,
    *,
    geometry: GeometryPlan | None = None,
    kernel: str = "pillow:nearest",
    border: Border | None = None,
    colors: Sequence[ColorStep] = (),
) -> NDArray[Any]:
    """Apply geometry, color steps and normalization to one decoded image of uint8, uint16 or float32."""
    geometry = geometry or GeometryPlan.identity([pixels.shape[1::-1]])
    plan = compile_image_plan(DecodeOptions(), output, kernel, border, has_colors=bool(colors))
    return apply_plan(pixels, plan_images(plan, [b""], geometry, colors=colors))


def apply_plan(pixels: NDArray[Any], plan: ImagePlan) -> NDArray[Any]:
    """Apply all operations of a plan, except decoding, to one decoded image."""
    output = plan.output
    if output.scale_first:
        # Convert levels to floats here, because the native function `change_image` ignores `scale_first`.
        brightest = 65535 if pixels.dtype == np.uint16 else 255
        pixels = pixels.astype(np.float32) * np.float32(output.white / brightest)
    flat = np.ascontiguousarray(pixels).reshape(-1)
    with native_image_errors():
        image = _core.change_image(flat, pixels.shape, pixels.dtype.name, plan, output.dtype)
    return image_to_array(image, output)


def image_to_array(image: Any, output: OutputFormat) -> NDArray[Any]:
    """Create an array from the image that a native function returned."""
    block, height, width, channels = image
    shape = (channels, height, width) if output.layout == "chw" else (height, width, channels)
    return np.asarray(block).view(output.dtype).reshape(shape)

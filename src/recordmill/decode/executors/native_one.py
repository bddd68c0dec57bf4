"""Single images through the native module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.decode.colors import ColorStep
from recordmill.decode.executors.base import Border, ImageJob
from recordmill.decode.executors.native_plan import as_array, native_job, native_reading
from recordmill.decode.moves import Moves
from recordmill.decode.pixels.moving import Window
from recordmill.decode.pixels.reading import Reading
from recordmill.decode.pixels.values import Values
from recordmill.errors import ImageError, LimitError

Parts = tuple[str, int, str, str]

# What other decoders fill with guesses, a word or two about which goes to stderr at most.
DAMAGE = frozenset({"truncated", "bad_table", "bad_code", "bad_restart", "bad_checksum", "bad_compression"})
_FINAL = DAMAGE | {"limit_exceeded", "bad_window", "bad_entry_points"}


def image_error(parts: Parts, hint: str | None = None) -> ImageError | LimitError:
    """Exception for the parts of a native fault."""
    kind, offset, expected, found = parts
    what = {
        "limit_exceeded": "the image is too large",
        "bad_window": "the window does not lie within the image",
        "bad_entry_points": "the entry points do not belong to the image",
        "truncated": "the image is truncated",
    }
    message = what.get(kind, "the image is damaged" if kind in DAMAGE else "the image cannot be decoded natively")
    cls = LimitError if kind == "limit_exceeded" else ImageError
    return cls(message, kind=kind, offset=offset, expected=expected, found=found, hint=hint)


def check_window(window: Window, image_width: int, image_height: int) -> None:
    """Refuse a window that reaches beyond an image."""
    x, y, width, height = window
    if y + height > image_height or x + width > image_width:
        raise bad_window(f"within {image_width} x {image_height}", window)


def bad_window(expected: str, window: Sequence[int]) -> ImageError:
    """Error of a window that lies in no image, or not in the one at hand."""
    found = ", ".join(map(str, window))
    return ImageError("the window does not lie within the image", kind="bad_window", expected=expected, found=found)


def header_one(data: Any, reading: Reading, *, upright: bool, max_pixels: int) -> tuple[int, int, int] | None:
    """Size at which one image is decoded, and how it is turned."""
    numbers, refused = _core.image_headers([data], native_reading(reading, max_pixels), upright)
    if refused:
        if refused[0][1][0] in _FINAL:
            raise image_error(refused[0][1])
        return None
    _, _, width, height, orientation, _, _ = np.asarray(numbers).tolist()
    return width, height, orientation


def decode_one(
    data: Any, reading: Reading, values: Values, *, window: Window | None, upright: bool, max_pixels: int
) -> NDArray[Any] | None:
    """One image or a part of it, as a plan for a batch would read it."""
    header = header_one(data, reading, upright=upright, max_pixels=max_pixels)
    if header is None:
        return None
    width, height, orientation = header
    part = (0, 0, width, height) if window is None else window
    check_window(part, width, height)
    taken = np.array([part])
    moves = Moves(taken, taken[:, 2:], taken * [0, 0, 1, 1], np.zeros((1, 2), np.bool_))
    one = np.ones(1, np.int64)
    if reading.deep == "keep" and _is_deep(data):
        values = replace(values, dtype="uint16")
    job = ImageJob([data], reading, one * orientation, one, moves, "pillow:nearest", Border(), [], values)
    [(image, fault)] = _core.decode_each_image(native_job(job), values.dtype, 1)
    if fault is not None and fault[0] in _FINAL:
        raise image_error(fault)
    return None if image is None else as_array(image, values)


def _is_deep(data: Any) -> bool:
    """Whether an image is a PNG whose header says 16 bits."""
    head = bytes(memoryview(data)[:25])
    return head.startswith(b"\x89PNG") and head[24:] == b"\x10"


def change_one(
    pixels: NDArray[Any],
    values: Values,
    *,
    moves: Moves | None = None,
    kernel: str = "pillow:nearest",
    border: Border | None = None,
    colors: Sequence[ColorStep] = (),
) -> NDArray[Any]:
    """Do to one image in memory what a plan for a batch would do after decoding."""
    height, width, _ = pixels.shape
    if moves is None:
        whole = np.array([[0, 0, width, height]])
        moves = Moves(whole, whole[:, 2:], whole, np.zeros((1, 2), np.bool_))
    one = np.ones(1, np.int64)
    job = ImageJob([b""], Reading(), one, one, moves, kernel, border or Border(), list(colors), values)
    flat = np.ascontiguousarray(pixels).reshape(-1)
    try:
        image = _core.change_image(flat, pixels.shape, pixels.dtype.name, native_job(job), values.dtype)
    except _core.ImageRefused as refused:
        raise image_error(refused.args) from None
    return as_array(image, values)


def natively(decode: Callable[[], Any]) -> NDArray[Any] | None:
    """Pixels of one image from the native module."""
    try:
        block, height, width, channels = decode()
    except _core.ImageRefused as refused:
        if refused.args[0] in _FINAL:
            raise image_error(refused.args) from None
        return None
    return np.asarray(block).reshape(height, width, channels)

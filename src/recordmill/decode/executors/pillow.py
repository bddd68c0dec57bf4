"""Decode and move images with Pillow and NumPy, one after another; other executors are compared with this one.

Color steps are native: there is one implementation of each formula, and tests compare it with Pillow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.colors import ColorStep
from recordmill.decode.executors.base import Faults, Headers, ImageJob, MaskJob
from recordmill.decode.executors.native_one import change_one
from recordmill.decode.executors.native_resize import resize_one
from recordmill.decode.executors.rows import for_rows
from recordmill.decode.pillow import need_pillow, opened
from recordmill.decode.pixels.header import read_header
from recordmill.decode.pixels.indices import read_indices
from recordmill.decode.pixels.moving import cut, flip_pixels, orient, warp
from recordmill.decode.pixels.reading import Reading, prepare, read_pixels
from recordmill.decode.pixels.resizing import RESIZED_HERE, resize_pixels
from recordmill.decode.pixels.values import Values, finish, scaled_first
from recordmill.errors import ImageError


class PillowExecutor:
    """An `Executor` that decodes with Pillow; needs the extra ``recordmill[image]``."""

    def __init__(self) -> None:
        need_pillow()

    def headers(self, payloads: Sequence[Any], reading: Reading, *, upright: bool, max_pixels: int) -> Headers:
        """Sizes, orientations and channels of encoded images."""
        table = np.zeros((len(payloads), 7), np.int64)

        def read(row: int) -> None:
            table[row] = read_header(payloads[row], reading, upright=upright, max_pixels=max_pixels)

        faults = for_rows(read, len(payloads), 1)
        return Headers(table[:, 0:2], table[:, 2:4], table[:, 4], table[:, 5], table[:, 6], faults)

    def images(self, job: ImageJob, out: Any, threads: int) -> Faults:
        """Put row i's numbers into ``out[i]``."""
        return for_rows(lambda row: _put(out, row, lambda place: _image(job, row, place)), len(job.payloads), threads)

    def masks(self, job: MaskJob, out: Any, threads: int) -> Faults:
        """Put row i's classes into ``out[i]``."""
        return for_rows(lambda row: _put(out, row, lambda place: _mask(job, row, place)), len(job.payloads), threads)


def _put(out: Any, row: int, make: Any) -> None:
    if isinstance(out, list):
        out[row] = make(None)
    else:
        make(out[row])


def _image(job: ImageJob, row: int, place: NDArray[Any] | None) -> NDArray[Any]:
    data, scale = job.payloads[row], int(job.scales[row])
    reading = job.reading if scale == 1 else replace(job.reading, scale=scale)
    with opened(data) as image:
        prepare(image, data, reading)
        pixels = orient(read_pixels(image, reading), int(job.orientations[row]))
    pixels = cut(pixels, _scaled(job.moves.window[row], scale))
    if job.values.reverse and not job.colors:
        pixels, job = _reversed(pixels, job)
    brightest = 65535 if pixels.dtype == np.uint16 else 255
    if job.colors and brightest != 255:
        raise ImageError("colors of 16 bits cannot be changed", kind="unsupported", expected="8 bits", found="16")
    pixels, white = scaled_first(pixels, brightest, job.values)
    pixels = _moved(pixels, job, row, brightest // 255)
    if job.colors:
        if pixels.dtype == np.float32:
            pixels = np.clip(np.rint(pixels), 0, 255).astype(np.uint8)
        steps = [_step_of_row(step, row, pixels.shape[2]) for step in job.colors]
        pixels = change_one(pixels, Values(), colors=steps)
    return finish(pixels, white, job.values, place)


def _reversed(pixels: NDArray[Any], job: ImageJob) -> tuple[NDArray[Any], ImageJob]:
    """Reverse the colors before they are moved, as the native way does: sums of floats depend on a channel's place."""
    border = replace(job.border, fill=job.border.fill[::-1], warp_fill=job.border.warp_fill[::-1])
    pixels = pixels[:, :, ::-1] if pixels.shape[2] == 3 else pixels
    return pixels, replace(job, border=border, values=replace(job.values, reverse=False))


def _moved(pixels: NDArray[Any], job: ImageJob | MaskJob, row: int, unit: int) -> NDArray[Any]:
    moves, border = job.moves, job.border
    if moves is None:
        return pixels
    width, height = moves.resized[row].tolist()
    if (height, width) != pixels.shape[:2]:
        pixels = _resized(pixels, (height, width), job.kernel)
    fill = _fill(border.fill, pixels.shape[2], unit)
    pixels = cut(pixels, _four(moves.place[row]), border.mode, fill)
    horizontal, vertical = moves.flip[row].tolist()
    pixels = flip_pixels(pixels, horizontal=horizontal, vertical=vertical)
    if moves.matrix is None:
        return pixels
    return warp(pixels, moves.matrix[row], border.warp_kernel, _fill(border.warp_fill, pixels.shape[2], unit))


def _resized(pixels: NDArray[Any], size: tuple[int, int], kernel: str) -> NDArray[Any]:
    """Resize in Python where there is such code, else as the native module does."""
    return resize_pixels(pixels, size, kernel) if kernel in RESIZED_HERE else resize_one(pixels, size, kernel)


def _four(row: NDArray[np.int64]) -> tuple[int, int, int, int]:
    x, y, width, height = row.tolist()
    return x, y, width, height


def _scaled(window: NDArray[np.int64], scale: int) -> tuple[int, int, int, int]:
    first, last = window[:2] // scale, -(-(window[:2] + window[2:]) // scale)
    return _four(np.concatenate([first, last - first]))


def _two(row: NDArray[np.int64]) -> tuple[int, int]:
    width, height = row.tolist()
    return width, height


def _fill(levels: tuple[int, ...], channels: int, unit: int) -> tuple[int, ...]:
    if len(levels) not in (1, channels):
        raise ImageError(
            "fill has another number of levels than the image has channels",
            kind="bad_fill",
            expected=f"1 or {channels}",
            found=str(len(levels)),
        )
    return tuple(level * unit for level in (levels if len(levels) == channels else levels * channels))


def _step_of_row(step: ColorStep, row: int, channels: int) -> ColorStep:
    """Return a color step for one image, whose fill has a level for each channel."""
    fill = _fill(step.fill, channels, 1) if step.kind == "paint" else step.fill
    return ColorStep(step.kind, step.numbers[row : row + 1], fill)


def _mask(job: MaskJob, row: int, place: NDArray[Any] | None) -> NDArray[Any]:
    classes = read_indices(job.payloads[row], upright=job.upright, max_pixels=job.max_pixels)[:, :, None]
    if job.sizes is not None and job.decoded is not None:
        classes = _fitted(classes, job, _two(job.sizes[row]), _two(job.decoded[row]))
    if job.moves is not None:
        classes = cut(classes, _four(job.moves.window[row]))
    classes = _moved(classes, job, row, 1)[:, :, 0]
    top = int(classes.max(initial=0))
    if top > np.iinfo(job.dtype).max:
        raise ImageError(
            f"a class does not fit into {job.dtype}",
            kind="lost_depth",
            expected=f"at most {np.iinfo(job.dtype).max}",
            found=str(top),
            hint='Mask(dtype="uint16") holds it',
        )
    if place is None:
        return classes.astype(job.dtype)
    place[...] = classes
    return place


def _fitted(classes: NDArray[Any], job: MaskJob, image: tuple[int, int], decoded: tuple[int, int]) -> NDArray[Any]:
    """Bring a mask to the size at which its image is decoded."""
    own = classes.shape[1::-1]
    if own != image and not job.fit:
        raise ImageError(
            "the mask is not of its image's size",
            kind="size_mismatch",
            expected=f"{image[0]} x {image[1]}",
            found=f"{own[0]} x {own[1]}",
            hint="Mask(fit=True) brings masks to the size of their images",
        )
    return classes if own == decoded else resize_pixels(classes, decoded[::-1], job.kernel)

"""Decode images and masks with Pillow; the steps after decoding are native."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.colors import ColorStep
from recordmill.decode.executors.base import Border, Faults, Headers, ImageJob, MaskJob
from recordmill.decode.executors.rows import for_rows
from recordmill.decode.moves import Moves
from recordmill.decode.native_image import transform_image
from recordmill.decode.options import DecodeOptions, OutputFormat
from recordmill.decode.pillow import import_pillow, open_image, prepare_image, read_classes, read_header, read_pixels
from recordmill.decode.pixels import Window, crop_pixels, orient
from recordmill.errors import ImageError

Pixels = NDArray[Any]


class PillowExecutor:
    """An `Executor` that decodes with Pillow; needs the extra ``recordmill[image]``."""

    def __init__(self) -> None:
        import_pillow()

    def headers(self, payloads: Sequence[Any], reading: DecodeOptions, *, upright: bool, max_pixels: int) -> Headers:
        """Return sizes, orientations and channels of encoded images."""
        table = np.zeros((len(payloads), 7), np.int64)

        def read(row: int) -> None:
            table[row] = read_header(payloads[row], reading, upright=upright, max_pixels=max_pixels)

        faults = for_rows(read, len(payloads), 1)
        return Headers(table[:, 0:2], table[:, 2:4], table[:, 4], table[:, 5], table[:, 6], faults)

    def images(self, job: ImageJob, out: Any, threads: int) -> Faults:
        """Write the pixels of row i to ``out[i]``."""
        return for_rows(_row_writer(job, out, _decode_image), len(job.payloads), threads)

    def masks(self, job: MaskJob, out: Any, threads: int) -> Faults:
        """Write the classes of row i to ``out[i]``."""
        return for_rows(_row_writer(job, out, _decode_mask), len(job.payloads), threads)


def _row_writer(job: Any, out: Any, decode: Callable[[Any, int], Pixels]) -> Callable[[int], None]:
    def write(row: int) -> None:
        if isinstance(out, list):
            out[row] = decode(job, row)
        else:
            out[row][...] = decode(job, row)

    return write


def _decode_image(job: ImageJob, row: int) -> Pixels:
    data, scale = job.payloads[row], int(job.scales[row])
    options = job.reading if scale == 1 else replace(job.reading, scale=scale)
    with open_image(data) as image:
        prepare_image(image, data, options)
        pixels = orient(read_pixels(image, options), int(job.orientations[row]))
    if job.colors and pixels.dtype == np.uint16:
        raise ImageError("colors of 16 bits cannot be changed", kind="unsupported", expected="8 bits", found="16")
    _check_channels(job, pixels.shape[2])
    pixels = crop_pixels(pixels, _scaled_window(job.moves.window[row], scale))
    colors = [ColorStep(step.kind, step.numbers[row : row + 1], step.fill) for step in job.colors]
    moves = _row_moves(job.moves, row, pixels)
    return transform_image(pixels, job.values, moves=moves, kernel=job.kernel, border=job.border, colors=colors)


def _check_channels(job: ImageJob, channels: int) -> None:
    fills = [job.border.fill, job.border.warp_fill, *(step.fill for step in job.colors if step.kind == "paint")]
    for fill in fills:
        if len(fill) not in (1, channels):
            raise _channel_error("fill", "bad_fill", channels, len(fill))
    for name in ("mean", "std"):
        numbers = getattr(job.values, name)
        if numbers is not None and len(numbers) not in (1, channels):
            raise _channel_error(name, "channel_mismatch", channels, len(numbers))


def _channel_error(name: str, kind: str, channels: int, found: int) -> ImageError:
    return ImageError(
        f"{name} must have 1 value or 1 per channel of the image",
        kind=kind,
        expected=f"1 or {channels}",
        found=str(found),
    )


def _row_moves(moves: Moves, row: int, pixels: Pixels) -> Moves:
    """Return the moves of one image that is cropped to its window already."""
    one, (height, width, _) = slice(row, row + 1), pixels.shape
    matrix = None if moves.matrix is None else moves.matrix[one]
    return Moves(np.array([[0, 0, width, height]]), moves.resized[one], moves.place[one], moves.flip[one], matrix)


def _scaled_window(window: NDArray[np.int64], scale: int) -> Window:
    first, last = window[:2] // scale, -(-(window[:2] + window[2:]) // scale)
    return _window(np.concatenate([first, last - first]))


def _window(row: NDArray[np.int64]) -> Window:
    x, y, width, height = row.tolist()
    return x, y, width, height


def _decode_mask(job: MaskJob, row: int) -> Pixels:
    classes = read_classes(job.payloads[row], upright=job.upright, max_pixels=job.max_pixels)[:, :, None]
    if job.dtype != "uint8" or classes.dtype != np.uint8:
        # Native steps scale the fill of uint16 images by 257; float32 holds all classes and fills as they are.
        classes = classes.astype(np.float32)
    if job.sizes is not None and job.decoded is not None:
        image, decoded = job.sizes[row : row + 1], job.decoded[row : row + 1]
        classes = _fit_mask(classes, job, image, decoded)
    if job.moves is not None:
        classes = crop_pixels(classes, _window(job.moves.window[row]))
        classes = _move_classes(classes, _row_moves(job.moves, row, classes), job.kernel, job.border)
    largest = int(classes.max(initial=0))
    if largest > np.iinfo(job.dtype).max:
        raise ImageError(
            f"a class does not fit into {job.dtype}",
            kind="lost_depth",
            expected=f"at most {np.iinfo(job.dtype).max}",
            found=str(largest),
            hint='use Mask(dtype="uint16")',
        )
    return classes[:, :, 0].astype(job.dtype)


def _fit_mask(classes: Pixels, job: MaskJob, image: NDArray[np.int64], decoded: NDArray[np.int64]) -> Pixels:
    """Resize a mask to the size at which its image is decoded."""
    height, width, _ = classes.shape
    image_width, image_height = image[0].tolist()
    if (width, height) != (image_width, image_height) and not job.fit:
        raise ImageError(
            "the mask and its image differ in size",
            kind="size_mismatch",
            expected=f"{image_width} x {image_height}",
            found=f"{width} x {height}",
            hint="Mask(fit=True) resizes masks to the size of their images",
        )
    if [width, height] == decoded[0].tolist():
        return classes
    whole, target = np.array([[0, 0, width, height]]), np.concatenate([np.zeros_like(decoded), decoded], axis=1)
    moves = Moves(whole, decoded, target, np.zeros((1, 2), np.bool_))
    return _move_classes(classes, moves, job.kernel, Border())


def _move_classes(classes: Pixels, moves: Moves, kernel: str, border: Border) -> Pixels:
    output = OutputFormat(classes.dtype.name, white=255.0)
    return transform_image(classes, output, moves=moves, kernel=kernel, border=border)

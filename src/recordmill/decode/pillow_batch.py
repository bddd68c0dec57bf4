"""Decode a batch of images or masks with Pillow, then transform them with the native module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.concurrency.threads import map_range
from recordmill.decode.geometry import GeometryPlan
from recordmill.decode.native_image import apply_plan
from recordmill.decode.options import DecodeOptions, OutputFormat
from recordmill.decode.pillow import open_image, prepare_image, read_classes, read_header, read_pixels
from recordmill.decode.pixels import apply_orientation, crop_pixels
from recordmill.decode.plan import ImagePlan, MaskPlan, compile_image_plan, plan_images
from recordmill.errors import ImageError, MissingExtraError

Pixels = NDArray[Any]
RowErrors = dict[int, Exception]

_SCALE_COLUMN = 12  # Column of `ImagePlan.geometry` with the factor by which decoding reduces the image.


def read_headers(
    payloads: Sequence[Any], options: DecodeOptions, *, upright: bool, max_pixels: int
) -> tuple[NDArray[np.int64], RowErrors]:
    """Read the headers of images with Pillow; return `Headers.table` and a dict {row: error}."""
    table = np.zeros((len(payloads), 7), np.int64)

    def read_row_header(row: int) -> None:
        table[row] = read_header(payloads[row], options, upright=upright, max_pixels=max_pixels)

    return table, _call_for_rows(read_row_header, len(payloads), 1)


def decode_batch(plan: ImagePlan | MaskPlan, threads: int) -> tuple[list[Pixels | None], RowErrors]:
    """Decode the images or masks of a plan with Pillow; return the pixels and a dict {row: error}."""
    decoded: list[Pixels | None] = [None] * len(plan)

    def decode(row: int) -> None:
        one = plan[np.array([row])]
        decoded[row] = _decode_image(one) if isinstance(one, ImagePlan) else _decode_mask(one)

    return decoded, _call_for_rows(decode, len(plan), threads)


def _call_for_rows(function: Callable[[int], None], count: int, threads: int) -> RowErrors:
    """Call a function with each row number, in several threads; return a dict {row: error}."""
    num_parts = max(1, min(threads, count))

    def call_for_range(part: int) -> RowErrors:
        errors: RowErrors = {}
        for row in range(count * part // num_parts, count * (part + 1) // num_parts):
            try:
                function(row)
            except (MissingExtraError, MemoryError):
                raise
            except Exception as error:  # noqa: BLE001 (the error is returned)
                errors[row] = error
        return errors

    return {row: error for errors in map_range(call_for_range, num_parts, num_parts) for row, error in errors.items()}


def _decode_image(plan: ImagePlan) -> Pixels:
    """Decode the image of a plan that has exactly one image."""
    data, scale = plan.payloads[0], int(plan.geometry[0, _SCALE_COLUMN])
    options = plan.options if scale == 1 else replace(plan.options, scale=scale)
    with open_image(data) as image:
        prepare_image(image, data, options)
        pixels = apply_orientation(read_pixels(image, options), int(plan.orientations[0]))
    if plan.colors and pixels.dtype == np.uint16:
        raise ImageError("color steps do not support 16-bit images", kind="unsupported", expected="8 bits", found="16")
    _check_channels(plan, pixels.shape[2])
    return _crop_and_apply_plan(pixels, plan)


def _check_channels(plan: ImagePlan, channels: int) -> None:
    fills = [plan.fill, plan.warp_fill, *(step.fill for step in plan.colors if step.fill)]
    for fill in fills:
        if len(fill) not in (1, channels):
            raise _channel_error("fill", "bad_fill", channels, len(fill))
    for name in ("mean", "std"):
        numbers = getattr(plan.output, name)
        if numbers is not None and len(numbers) not in (1, channels):
            raise _channel_error(name, "channel_mismatch", channels, len(numbers))


def _channel_error(name: str, kind: str, channels: int, found: int) -> ImageError:
    return ImageError(
        f"{name} must have 1 value, or 1 per channel of the image",
        kind=kind,
        expected=f"1 or {channels}",
        found=str(found),
    )


def _crop_and_apply_plan(pixels: Pixels, plan: ImagePlan) -> Pixels:
    """Crop a decoded image to the window of its plan, and apply all other operations of the plan."""
    x, y, width, height = plan.geometry[0, :4].tolist()
    geometry = plan.geometry.copy()
    geometry[0, :2], geometry[0, _SCALE_COLUMN] = 0, 1
    return apply_plan(
        crop_pixels(pixels, (x, y, width, height)), replace(plan, geometry=geometry, orientations=np.ones(1, np.int64))
    )


def _decode_mask(plan: MaskPlan) -> Pixels:
    """Decode the mask of a plan that has exactly one mask."""
    job = plan.job
    classes = read_classes(job.payloads[0], upright=plan.upright, max_pixels=job.reading.max_pixels)[:, :, None]
    if plan.dtype != "uint8" or classes.dtype != np.uint8:
        # Float32 represents all classes exactly. If the classes were passed as uint16, the native module would convert
        # the fill class like an 8-bit level: it would multiply the class by 257.
        classes = classes.astype(np.float32)
    if plan.sizes is not None:
        classes = _resize_mask_to_image(classes, plan, *plan.sizes[0].tolist())
        output = OutputFormat(classes.dtype.name, white=255.0)
        compiled = compile_image_plan(job.options, output)
        steps = replace(job, output=output, mean=compiled.mean, factor=compiled.factor)
        classes = _crop_and_apply_plan(classes, steps)
    largest = int(classes.max(initial=0))
    if largest > np.iinfo(plan.dtype).max:
        raise ImageError(
            f"the mask has a class that does not fit into {plan.dtype}",
            kind="lost_depth",
            expected=f"at most {np.iinfo(plan.dtype).max}",
            found=str(largest),
            hint='use Mask(dtype="uint16")',
        )
    return classes[:, :, 0].astype(plan.dtype)


def _resize_mask_to_image(
    classes: Pixels, plan: MaskPlan, image_width: int, image_height: int, decoded_width: int, decoded_height: int
) -> Pixels:
    """Resize a mask to the decoded size of its image.

    Raise ImageError if the mask and its image differ in size and `plan.fit` is False.
    """
    height, width, _ = classes.shape
    if (width, height) != (image_width, image_height) and not plan.fit:
        raise ImageError(
            "the mask and its image differ in size",
            kind="size_mismatch",
            expected=f"{image_width} x {image_height}",
            found=f"{width} x {height}",
            hint="use Mask(fit=True) to resize masks to the size of their images",
        )
    if (width, height) == (decoded_width, decoded_height):
        return classes
    target = np.array([[0, 0, decoded_width, decoded_height]])
    geometry = replace(GeometryPlan.identity([[width, height]]), resized=target[:, 2:], crops=target)
    steps = compile_image_plan(DecodeOptions(), OutputFormat(classes.dtype.name, white=255.0), plan.rule)
    return apply_plan(classes, plan_images(steps, [b""], geometry))

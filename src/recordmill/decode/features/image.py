"""Decode columns of encoded images."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.columns import convert_for_native_call, convert_to_byte_rows, take_payloads
from recordmill.decode.geometry import (
    GeometryPlan,
    GivenGeometry,
    compute_resized_sizes,
    plan_geometry,
    read_given_geometry,
)
from recordmill.decode.native import Headers, decode_images, read_headers
from recordmill.decode.plan import CompiledImageSpec, compile_image_spec, plan_colors, plan_images
from recordmill.decode.specs.geometry import Resize
from recordmill.decode.specs.image import Image
from recordmill.decode.state import BatchState, ImageBatch
from recordmill.errors import DecodeError, ImageError, LimitError

Ints = NDArray[np.int64]


def decode_image_column(state: BatchState, name: str, spec: Image) -> dict[str, Any]:
    """Decode the column of images of one `Image` spec."""
    compiled, feature = compile_image_spec(spec), spec.feature or name
    images, payloads = _plan_geometry(state, compiled, feature)
    state.images[name] = images
    geometry, headers, rows = images.geometry, images.headers, images.rows
    colors = plan_colors(spec.color, geometry.output_sizes(), state.draws, state.positions[rows])
    scales = _choose_decoding_scales(images) if spec.reduce == "auto" else None
    points = state.entry_points.get(feature, ())
    if len(points) not in (0, len(rows)):
        points = [points[row] for row in rows.tolist()]
    plan = plan_images(
        compiled.plan, payloads, geometry, headers.orientations, scales, colors, convert_for_native_call(points)
    )
    array = state.allocate_output(name, _find_output_shape(name, images), plan.output.dtype) if spec.stack else None
    out: Any = array if array is not None and len(rows) == state.count else [None] * len(rows)
    for number, error in decode_images(plan, out, state.threads, spec.decoder).items():
        state.store_error(rows[number], feature, error)
    if out is array:
        return {name: array}
    output: Any = [None] * state.count if array is None else array
    for row, pixels in zip(rows.tolist(), out, strict=True):
        if pixels is not None:
            output[row] = pixels
    return {name: output}


def _plan_geometry(state: BatchState, compiled: CompiledImageSpec, feature: str) -> tuple[ImageBatch, Any]:
    """Plan the geometry of all images. Drop the images that cannot be decoded, and store their errors in `state`."""
    spec, rows = compiled.spec, state.valid_rows()
    payloads = convert_to_byte_rows(state.column(feature), feature)
    chosen = payloads if len(rows) == state.count else [payloads[row] for row in rows.tolist()]
    headers, errors = read_headers(
        chosen, compiled.plan.options, upright=compiled.upright, max_pixels=state.max_pixels, decoder=spec.decoder
    )
    for number, error in errors.items():
        state.store_error(rows[number], feature, error)
    if errors:
        kept = np.delete(np.arange(len(rows)), [*errors])
        rows, headers = rows[kept], headers[kept]
    given = read_given_geometry(lambda column: state.column(column, consume=False), spec)[rows]
    if given.windows is not None:
        rows, headers, given = _drop_invalid_windows(state, spec, feature, rows, headers, given)
    geometry, too_small = plan_geometry(headers.decoded_sizes, spec, state.draws, state.positions[rows], given)
    images = ImageBatch(compiled, rows, headers, geometry)
    too_large = _find_too_large_images(geometry, state.max_pixels)
    if too_small.any() or too_large.any():
        for number in np.flatnonzero(too_small).tolist():
            state.store_error(rows[number], feature, _small_image_error(geometry, number))
        for number in np.flatnonzero(too_large).tolist():
            state.store_error(rows[number], feature, _large_image_error(geometry, number, state.max_pixels))
        images = images[~(too_small | too_large)]
    native = convert_for_native_call(payloads)
    return images, native if len(images.rows) == state.count else take_payloads(native, images.rows)


def _drop_invalid_windows(
    state: BatchState, spec: Image, feature: str, rows: Ints, headers: Headers, given: GivenGeometry
) -> tuple[Ints, Headers, GivenGeometry]:
    """Drop the images whose GivenCrop window is invalid, and store their errors in `state`."""
    sizes = compute_resized_sizes(headers.decoded_sizes, cast("Resize | None", spec.resize))
    outside = given.find_invalid_windows(sizes, may_reach_beyond=getattr(spec.crop, "fill", None) is not None)
    for number in np.flatnonzero(outside):
        width, height = sizes[number].tolist()
        error = ImageError(
            "the window does not lie within the image",
            kind="bad_window",
            expected=f"within {width} x {height}",
            found="none" if given.windows is None else str(tuple(given.windows[number].tolist())),
        )
        state.store_error(rows[number], feature, error)
    return rows[~outside], headers[~outside], given[~outside]


def _find_too_large_images(geometry: GeometryPlan, max_pixels: int) -> NDArray[np.bool_]:
    """Return a boolean mask of the images that have more than `max_pixels` pixels after resizing and padding."""
    corners = geometry.crops[:, :2]
    ends = np.maximum(geometry.resized, corners + geometry.crops[:, 2:])
    sides = (ends - np.minimum(corners, 0)).astype(np.float64)
    too_large: NDArray[np.bool_] = sides[:, 0] * sides[:, 1] > max_pixels
    return too_large


def _choose_decoding_scales(images: ImageBatch) -> Ints:
    """Choose a decoding scale for each image: the smallest of 1/1, 1/2, 1/4 and 1/8 with enough pixels for resizing."""
    scales = np.ones(len(images.rows), np.int64)
    for scale in (2, 4, 8):
        is_enough = (images.geometry.windows[:, 2:] // scale >= images.geometry.resized).all(axis=1)
        scales[is_enough & (images.headers.is_scalable == 1)] = scale
    return scales


def _small_image_error(geometry: GeometryPlan, number: int) -> ImageError:
    width, height = geometry.crops[number, 2:]
    found = geometry.resized[number]
    return ImageError(
        "the image is smaller than the crop",
        kind="small_image",
        expected=f"at least {width} x {height}",
        found=f"{found[0]} x {found[1]}",
        hint='set small="pad" or small="enlarge" in the crop, or set resize= to a larger size',
    )


def _large_image_error(geometry: GeometryPlan, number: int, limit: int) -> LimitError:
    width, height = geometry.resized[number]
    return LimitError(
        "resizing would make the image too large",
        kind="limit_exceeded",
        expected=f"at most {limit:,} pixels",
        found=f"{width:,} x {height:,}",
        hint="increase max_pixels= to accept larger images",
    )


def _find_output_shape(name: str, images: ImageBatch) -> tuple[int, ...]:
    compiled = images.compiled
    height, width = compiled.size or _require_common_size(name, images)
    channels = compiled.channels or _require_common_channels(name, images)
    return (channels, height, width) if compiled.spec.layout == "chw" else (height, width, channels)


def _require_common_size(name: str, images: ImageBatch) -> tuple[int, int]:
    sizes = images.geometry.output_sizes()
    differs = (sizes != sizes[:1]).any(axis=1)
    if differs.any():
        number = int(differs.argmax())
        raise DecodeError(
            "images of a batch must have the same size",
            kind="size_mismatch",
            expected=f"{sizes[0, 0]} x {sizes[0, 1]}",
            found=f"{sizes[number, 0]} x {sizes[number, 1]}",
            hint="set crop= or resize=(height, width) to get one size, or stack=False to get a list of arrays",
            position=int(images.rows[number]),
            feature=name,
        )
    width, height = sizes[0].tolist() if len(sizes) else (0, 0)
    return height, width


def _require_common_channels(name: str, images: ImageBatch) -> int:
    channels = images.headers.channels
    others = np.flatnonzero(channels != channels[:1])
    if len(others):
        raise DecodeError(
            "images of a batch must have the same number of channels",
            kind="channel_mismatch",
            expected=str(channels[0]),
            found=str(channels[others[0]]),
            hint='set channels="rgb" or channels="gray", or stack=False to get a list of arrays',
            position=int(images.rows[others[0]]),
            feature=name,
        )
    return int(channels[0]) if len(channels) else 0

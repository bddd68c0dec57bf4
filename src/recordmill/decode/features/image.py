"""Columns of encoded images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.colors import plan_colors
from recordmill.decode.columns import byte_rows
from recordmill.decode.executors.base import Border, Headers, ImageJob
from recordmill.decode.executors.registry import executor_of
from recordmill.decode.geometry import Geometry, plan_moves, resized_sizes
from recordmill.decode.given import Given, given_of
from recordmill.decode.moves import Moves
from recordmill.decode.options import DecodeOptions, OutputFormat
from recordmill.decode.presets import find_preset, parse_kernel
from recordmill.decode.specs.geometry import RandomCrop
from recordmill.decode.specs.image import Image
from recordmill.decode.state import BatchState, ImagePlan, Slots
from recordmill.errors import DecodeError, ImageError, LimitError

Ints = NDArray[np.int64]


def decode_images(state: BatchState, name: str, specs: Mapping[str, Any]) -> dict[str, Any]:
    """Decode the images of one output."""
    spec = cast("Image", specs[name])
    feature = spec.feature or name
    payloads = byte_rows(state.column(feature), feature)
    executor, reading = executor_of(spec.decoder), reading_of(spec)
    upright = (spec.orientation or find_preset(spec.like).orientation) == "apply"
    rows = state.alive()
    headers = executor.headers(chosen_of(payloads, rows), reading, upright=upright, max_pixels=state.max_pixels)
    rows, headers = _without_faults(state, feature, rows, headers)
    plan = _planned(state, spec, feature, rows, headers)
    state.images[name] = plan
    job = ImageJob(
        chosen_of(payloads, plan.rows),
        reading,
        plan.headers.orientations,
        _scales(plan) if spec.reduce == "auto" else np.ones(len(plan.rows), np.int64),
        plan.moves,
        parse_kernel(spec.kernel, spec.like),
        plan.border,
        plan_colors(spec.color, plan.moves.sizes, state.draws, state.positions[plan.rows]),
        values_of(spec),
        state.entry_points(feature, plan.rows),
    )
    place = _place(state, name, spec, plan)
    target: Any = [None] * len(plan.rows) if isinstance(place, list) else Slots(place, plan.rows)
    for row, fault in executor.images(job, target, state.threads).items():
        state.fail(plan.rows[row], feature, fault)
    if isinstance(target, list):
        for row, pixels in zip(plan.rows, target, strict=True):
            place[row] = pixels
    return {name: place}


def reading_of(spec: Image) -> DecodeOptions:
    """What is read from the files of an image spec."""
    preset = find_preset(spec.like)
    channels: Any = spec.channels or preset.channels
    return DecodeOptions(
        "rgb" if channels == "bgr" else channels,
        spec.dct or preset.dct,
        spec.upsampling or preset.upsampling,
        preset.gray,
        preset.cmyk,
        preset.deep if dtype_of(spec) == "uint8" else "keep",
        1 if spec.reduce == "auto" else spec.reduce,
    )


def dtype_of(spec: Image) -> str:
    """Dtype of an image spec's output."""
    return spec.dtype or ("uint8" if spec.mean is None and spec.std is None else "float32")


def values_of(spec: Image) -> OutputFormat:
    """What the numbers of an image spec's output are."""
    reverse = (spec.channels or find_preset(spec.like).channels) == "bgr"
    mean, std = (cast("tuple[float, ...] | None", one) for one in (spec.mean, spec.std))
    return OutputFormat(dtype_of(spec), spec.layout, reverse, mean, std, spec.white, spec.scale_first)


def chosen_of(payloads: Sequence[Any], rows: Ints) -> Sequence[Any]:
    """Payloads of some rows, which rise."""
    return payloads if len(rows) == len(payloads) else [payloads[row] for row in rows.tolist()]


def _without_faults(state: BatchState, feature: str, rows: Ints, headers: Headers) -> tuple[Ints, Headers]:
    if not headers.faults:
        return rows, headers
    for row, fault in headers.faults.items():
        state.fail(rows[row], feature, fault)
    good = np.array([row not in headers.faults for row in range(len(rows))], np.bool_)
    return rows[good], _chosen(headers, good)


def _chosen(headers: Headers, good: NDArray[np.bool_]) -> Headers:
    return Headers(
        headers.sizes[good],
        headers.decoded[good],
        headers.orientations[good],
        headers.channels[good],
        headers.scalable[good],
        {},
    )


def _planned(state: BatchState, spec: Image, feature: str, rows: Ints, headers: Headers) -> ImagePlan:
    geometry = Geometry.of(spec)
    given = given_of(lambda name: state.column(name, consume=False), spec)[rows]
    sizes = resized_sizes(headers.decoded, geometry.resize)
    outside = given.outside(sizes, reaches=getattr(spec.crop, "fill", None) is not None)
    for row in np.flatnonzero(outside):
        state.fail(rows[row], feature, _outside(given, sizes, int(row)))
    if outside.any():
        rows, headers, given = rows[~outside], _chosen(headers, ~outside), given[~outside]
    moves, too_small = plan_moves(headers.decoded, geometry, state.draws, state.positions[rows], given)
    corner, end = moves.place[:, :2], moves.place[:, :2] + moves.sizes
    largest = (np.maximum(moves.resized, end) - np.minimum(corner, 0)).astype(np.float64)
    too_large = largest[:, 0] * largest[:, 1] > state.max_pixels
    for row in np.flatnonzero(too_small):
        state.fail(rows[row], feature, _small(moves, int(row)))
    for row in np.flatnonzero(too_large):
        state.fail(rows[row], feature, _large(moves, int(row), state.max_pixels))
    good = ~(too_small | too_large)
    if not good.all():
        rows, headers, moves = rows[good], _chosen(headers, good), moves[good]
    library = parse_kernel(spec.kernel, spec.like).partition(":")[0]
    return ImagePlan(rows, headers, moves, library, _border(geometry))


def _scales(plan: ImagePlan) -> Ints:
    """Smallest sizes at which the windows are not smaller than what they are brought to."""
    scales = np.ones(len(plan.rows), np.int64)
    for scale in (2, 4, 8):
        enough = (plan.moves.window[:, 2:] // scale >= plan.moves.resized).all(axis=1)
        scales[enough & (plan.headers.scalable == 1)] = scale
    return scales


def _outside(given: Given, sizes: Ints, row: int) -> ImageError:
    width, height = sizes[row].tolist()
    return ImageError(
        "the window does not lie within the image",
        kind="bad_window",
        expected=f"within {width} x {height}",
        found="none" if given.windows is None else str(tuple(given.windows[row].tolist())),
    )


def _small(moves: Moves, row: int) -> ImageError:
    width, height = moves.sizes[row]
    found = moves.resized[row]
    return ImageError(
        "the image is smaller than the crop",
        kind="small_image",
        expected=f"at least {width} x {height}",
        found=f"{found[0]} x {found[1]}",
        hint='small="pad" or small="enlarge" accepts it, and so does a resize= before the crop',
    )


def _large(moves: Moves, row: int, limit: int) -> LimitError:
    width, height = moves.resized[row]
    return LimitError(
        "resizing would make the image too large",
        kind="limit_exceeded",
        expected=f"at most {limit:,} pixels",
        found=f"{width:,} x {height:,}",
        hint="max_pixels= sets the limit",
    )


def _border(geometry: Geometry) -> Border:
    crop, affine = geometry.crop, geometry.affine
    mode = crop.mode if isinstance(crop, RandomCrop) else "constant"
    fill: Any = getattr(crop, "fill", None) or (0,)
    if affine is None:
        return Border(mode, fill)
    return Border(mode, fill, affine.kernel, cast("tuple[int, ...]", affine.fill))


def _place(state: BatchState, name: str, spec: Image, plan: ImagePlan) -> Any:
    if not spec.stack:
        return [None] * state.count
    height, width = Geometry.of(spec).size or _one_size(name, plan)
    wanted = spec.channels or find_preset(spec.like).channels
    channels = {"gray": 1, "stored": 0}.get(str(wanted), 3) or _one_depth(name, plan)
    shape = (channels, height, width) if spec.layout == "chw" else (height, width, channels)
    return state.slots(name, shape, dtype_of(spec))


def _one_size(name: str, plan: ImagePlan) -> tuple[int, int]:
    different = plan.moves.sizes != plan.moves.sizes[:1]
    if different.any():
        other = np.flatnonzero(different.any(axis=1))
        first, second = (plan.moves.sizes[row] for row in (0, other[0]))
        raise DecodeError(
            "images of one batch have several sizes",
            kind="size_mismatch",
            expected=f"{first[0]} x {first[1]}",
            found=f"{second[0]} x {second[1]}",
            hint="crop= or resize=(height, width) brings them to one size, a number does not; stack=False lists them",
            position=int(plan.rows[other[0]]),
            feature=name,
        )
    width, height = plan.moves.sizes[0].tolist() if len(plan.rows) else (0, 0)
    return height, width


def _one_depth(name: str, plan: ImagePlan) -> int:
    channels = plan.headers.channels
    other = np.flatnonzero(channels != channels[:1])
    if len(other):
        raise DecodeError(
            "images of one batch have several numbers of channels",
            kind="channel_mismatch",
            expected=str(channels[0]),
            found=str(channels[other[0]]),
            hint='channels="rgb" or "gray" brings them to one; stack=False gives a list',
            position=int(plan.rows[other[0]]),
            feature=name,
        )
    return int(channels[0]) if len(channels) else 0

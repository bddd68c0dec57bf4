"""A batch's plan in the words and arrays of the native module."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.executors.base import ImageJob, MaskJob
from recordmill.decode.moves import Moves
from recordmill.decode.options import DecodeOptions, OutputFormat
from recordmill.decode.rows import ByteRows

# The header has been held against the caller's limit before; the memory of what is decoded follows the header.
NO_LIMIT = 1 << 40


@dataclass(frozen=True, slots=True)
class NativeReading:
    """`DecodeOptions` in the words of the native module."""

    want: str
    gray: str
    deep: str
    dct: str
    upsampling: str
    cmyk: str
    scale: int
    max_pixels: int


@dataclass(frozen=True, eq=False, slots=True)
class NativeJob:
    """`ImageJob` as the native module takes it: thirteen numbers of geometry for each image, a mean and a factor."""

    payloads: Any
    points: Any
    reading: NativeReading
    orientations: NDArray[np.int64]
    geometry: NDArray[np.int64]
    matrix: NDArray[np.float64] | None
    kernel: str
    mode: str
    fill: list[int]
    sampling: str
    warp_fill: list[int]
    colors: list[tuple[str, NDArray[np.float64], list[int]]]
    layout: str
    reverse: bool
    mean: list[float]
    factor: list[float]
    deep_mean: list[float]
    deep_factor: list[float]
    halves: bool
    first: list[float]


@dataclass(frozen=True, eq=False, slots=True)
class NativeMasks:
    """`MaskJob` as the native module takes it; a job whose payloads are masks, and four sizes for each that follows."""

    job: NativeJob
    upright: bool
    sizes: NDArray[np.int64] | None
    fit: bool
    rule: str


def native_rows(payloads: Sequence[Any]) -> Any:
    """Byte strings as the native module takes them: rows of one buffer without a view for each."""
    return (payloads.data, payloads.splits) if isinstance(payloads, ByteRows) else list(payloads)


def native_reading(reading: DecodeOptions, max_pixels: int) -> NativeReading:
    """DecodeOptions in the words of the native module."""
    words = (reading.channels, reading.gray, reading.deep, reading.dct, reading.upsampling, reading.cmyk)
    return NativeReading(*words, reading.scale, max_pixels)


def native_job(job: ImageJob) -> NativeJob:
    """Plan of a batch for the native module."""
    values, moves, border = job.values, job.moves, job.border
    scales = job.scales[:, None]
    columns = [_scaled(moves.window, scales), moves.resized, moves.place, moves.flip.astype(np.int64), scales]
    matrix = None if moves.matrix is None else np.ascontiguousarray(moves.matrix, np.float64).reshape(-1)
    return NativeJob(
        native_rows(job.payloads),
        native_rows(job.points),
        native_reading(job.reading, NO_LIMIT),
        np.ascontiguousarray(job.orientations, np.int64),
        np.ascontiguousarray(np.concatenate(columns, axis=1), np.int64).reshape(-1),
        matrix,
        job.kernel,
        border.mode,
        _fill(job, border.fill),
        border.warp_kernel,
        _fill(job, border.warp_fill),
        [
            (step.kind, np.ascontiguousarray(step.numbers, np.float64).reshape(-1), list(step.fill))
            for step in job.colors
        ],
        values.layout,
        values.reverse,
        *_levels(values, 255),
        *_levels(values, 65535),
        values.dtype == "float16",
        [float(np.float32(values.white / brightest)) for brightest in (255, 65535)] if values.scale_first else [],
    )


def _fill(job: ImageJob, levels: tuple[int, ...]) -> list[int]:
    """Levels in the order that channels have when pixels are added: reversed already, unless colors change later."""
    return list(levels[::-1] if job.values.reverse and not job.colors else levels)


def native_masks(job: MaskJob) -> NativeMasks:
    """Plan of a batch's masks for the native module."""
    count, sizes = len(job.payloads), None
    if job.sizes is not None and job.decoded is not None:
        sizes = np.ascontiguousarray(np.concatenate([job.sizes, job.decoded], axis=1), np.int64).reshape(-1)
    moves = job.moves
    if moves is None:
        corner, one = np.zeros((count, 2), np.int64), np.ones((count, 2), np.int64)
        pixel = np.concatenate([corner, one], axis=1)
        moves = Moves(pixel, one, pixel, np.zeros((count, 2), np.bool_))
    ones = np.ones(count, np.int64)
    images = ImageJob(job.payloads, DecodeOptions(), ones, ones, moves, job.kernel, job.border, [], OutputFormat())
    native = replace(native_job(images), reading=native_reading(DecodeOptions(), job.max_pixels))
    return NativeMasks(native, job.upright, sizes, job.fit, job.kernel)


def _scaled(window: NDArray[np.int64], scales: NDArray[np.int64]) -> NDArray[np.int64]:
    """Windows of images that are decoded smaller; corners rounded down and up to whole pixels."""
    if (scales == 1).all():
        return window
    start, stop = window[:, :2] // scales, -(-(window[:, :2] + window[:, 2:]) // scales)
    return np.concatenate([start, stop - start], axis=1)


@functools.lru_cache(64)
def _levels(values: OutputFormat, brightest: int) -> tuple[list[float], list[float]]:
    """Mean and factor for levels from 0 to `brightest`, as `finish` has them."""
    if values.scale_first:
        return list(values.mean or (0.0,)), [float(np.float32(1) / np.float32(one)) for one in values.std or (1.0,)]
    if values.dtype.startswith("uint"):
        return [0.0], [float(np.iinfo(values.dtype).max / brightest)]
    means = [float(np.float32(mean * (brightest / values.white))) for mean in values.mean or (0.0,)]
    factors = np.float32(values.white / brightest) / np.asarray(values.std or (1.0,), np.float32)
    return means, [float(factor) for factor in factors]


def as_array(image: Any, values: OutputFormat) -> NDArray[Any]:
    """Array of what the native module made of one image."""
    block, height, width, channels = image
    shape = (channels, height, width) if values.layout == "chw" else (height, width, channels)
    return np.asarray(block).view(values.dtype).reshape(shape)

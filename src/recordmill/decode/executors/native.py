"""Carries a plan out in the native module, whole batches per call; what it leaves alone goes to another executor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.decode.executors.base import Border, Executor, Faults, Headers, ImageJob, MaskJob
from recordmill.decode.moves import Moves
from recordmill.decode.pixels.reading import Reading
from recordmill.decode.pixels.values import Values
from recordmill.errors import ImageError, LimitError, MissingExtraError

_Parts = tuple[str, int, str, str]
# The header has been held against the caller's limit before; the memory of what is decoded follows the header.
_NO_LIMIT = 1 << 40


class NativeExecutor:
    """An `Executor` for JPEG and PNG of 8 bits.

    Parameters
    ----------
    others : callable, optional
        Makes the executor of what is left alone: other codings, irregular or damaged files, 16 bits, masks. Without one
        these are faults.
    """

    def __init__(self, others: Callable[[], Executor] | None = None) -> None:
        self._others = others

    def headers(self, payloads: Sequence[Any], reading: Reading, *, upright: bool, max_pixels: int) -> Headers:
        """Sizes, orientations and channels of encoded images.

        Parameters
        ----------
        payloads : sequence of buffer
        reading : Reading
        upright : bool
            Whether EXIF orientations are read.
        max_pixels : int
            Images of more are faults.

        Returns
        -------
        Headers
        """
        numbers, refused = _core.image_headers(list(payloads), _reading(reading, max_pixels), upright)
        table = np.asarray(numbers).reshape(-1, 7)
        headers = Headers(table[:, 0:2], table[:, 2:4], table[:, 4], table[:, 5], table[:, 6], {})
        rows = [row for row, _ in refused]
        if not rows:
            return headers
        some = [payloads[row] for row in rows]
        try:
            others = self._executor().headers(some, reading, upright=upright, max_pixels=max_pixels)
        except MissingExtraError as missing:
            return replace(headers, faults=_faults(refused, missing.hint))
        for name in ("sizes", "decoded", "orientations", "channels", "scalable"):
            getattr(headers, name)[rows] = getattr(others, name)
        return replace(headers, faults={rows[row]: fault for row, fault in others.faults.items()})

    def images(self, job: ImageJob, out: Sequence[Any], threads: int) -> Faults:
        """Put row i's numbers into ``out[i]``.

        Parameters
        ----------
        job : ImageJob
        out : ndarray, list of None, or what has an array and rows of it
        threads : int

        Returns
        -------
        dict of int to Exception
        """
        if not len(job.payloads):
            return {}
        native = _native_job(job)
        if native is None:
            return self._executor().images(job, out, threads)
        whole = _whole(out, len(job.payloads))
        dtype = job.values.dtype
        if whole is not None:
            memory = whole.view(np.uint16) if dtype == "float16" else whole
            refused = _core.decode_images(native, dtype, memory.reshape(-1), max(1, threads))
        else:
            refused = []
            for row, (image, fault) in enumerate(_core.decode_each_image(native, dtype, max(1, threads))):
                if image is None:
                    refused.append((row, cast("_Parts", fault)))
                else:
                    _put(out, row, _array(image, job.values))
        return self._rest(job, out, refused, threads) if refused else {}

    def masks(self, job: MaskJob, out: Sequence[Any], threads: int) -> Faults:
        """Put row i's classes into ``out[i]``.

        Parameters
        ----------
        job : MaskJob
        out : ndarray, or list of None
        threads : int

        Returns
        -------
        dict of int to Exception
        """
        return self._executor().masks(job, out, threads)

    def _executor(self) -> Executor:
        if self._others is None:
            raise MissingExtraError("this is not decoded natively", hint='decoder="auto" leaves it to Pillow')
        return self._others()

    def _rest(self, job: ImageJob, out: Any, refused: Sequence[tuple[int, _Parts]], threads: int) -> Faults:
        """Hand the rows that were refused to the other executor."""
        rows = np.array([row for row, _ in refused])
        steps = [replace(step, numbers=step.numbers[rows]) for step in job.colours]
        some = ImageJob(
            [job.payloads[row] for row in rows],
            job.reading,
            job.orientations[rows],
            job.scales[rows],
            job.moves[rows],
            job.kernel,
            job.border,
            steps,
            job.values,
        )
        places: Any = [None] * len(rows)
        try:
            found = self._executor().images(some, places, threads)
        except MissingExtraError as missing:
            return _faults(refused, missing.hint)
        for place, row in enumerate(rows.tolist()):
            if place not in found:
                _put(out, row, places[place])
        return {int(rows[place]): fault for place, fault in found.items()}


@dataclass(frozen=True, slots=True)
class NativeReading:
    """`Reading` in the words of the native module."""

    want: str
    grey: str
    deep: str
    dct: str
    upsampling: str
    scale: int
    max_pixels: int


@dataclass(frozen=True, eq=False, slots=True)
class NativeJob:
    """`ImageJob` as the native module takes it: thirteen numbers of geometry for each image, a mean and a factor."""

    payloads: list[Any]
    reading: NativeReading
    orientations: NDArray[np.int64]
    geometry: NDArray[np.int64]
    matrix: NDArray[np.float64] | None
    kernel: str
    mode: str
    fill: list[int]
    sampling: str
    warp_fill: list[int]
    colours: list[tuple[str, NDArray[np.float64], list[int]]]
    layout: str
    reverse: bool
    mean: list[float]
    factor: list[float]


def _reading(reading: Reading, max_pixels: int) -> NativeReading:
    deep = "high_byte" if reading.deep == "high_byte" else "leave"
    return NativeReading(
        reading.channels, reading.grey, deep, reading.dct, reading.upsampling, reading.scale, max_pixels
    )


def _native_job(job: ImageJob) -> NativeJob | None:
    """The job for the native module; None for what it does not have."""
    values, moves, border = job.values, job.moves, job.border
    if values.dtype == "uint16":
        return None
    scales = job.scales[:, None]
    columns = [_scaled(moves.window, scales), moves.resized, moves.place, moves.flip.astype(np.int64), scales]
    mean, factor = _levels(values)
    matrix = None if moves.matrix is None else np.ascontiguousarray(moves.matrix, np.float64).reshape(-1)
    return NativeJob(
        list(job.payloads),
        _reading(job.reading, _NO_LIMIT),
        np.ascontiguousarray(job.orientations, np.int64),
        np.ascontiguousarray(np.concatenate(columns, axis=1), np.int64).reshape(-1),
        matrix,
        job.kernel,
        border.mode,
        list(border.fill),
        border.warp_kernel,
        list(border.warp_fill),
        [
            (step.kind, np.ascontiguousarray(step.numbers, np.float64).reshape(-1), list(step.fill))
            for step in job.colours
        ],
        values.layout,
        values.reverse,
        mean,
        factor,
    )


def _scaled(window: NDArray[np.int64], scales: NDArray[np.int64]) -> NDArray[np.int64]:
    """Windows of images that are decoded smaller; corners rounded down and up to whole pixels."""
    start, stop = window[:, :2] // scales, -(-(window[:, :2] + window[:, 2:]) // scales)
    return np.concatenate([start, stop - start], axis=1)


def _levels(values: Values) -> tuple[list[float], list[float]]:
    """Mean and factor for levels from 0 to 255, as `finish` has them."""
    if values.dtype == "uint8":
        return [0.0], [1.0]
    means = [float(np.float32(mean * (255 / values.white))) for mean in values.mean or (0.0,)]
    factors = np.float32(values.white / 255) / np.asarray(values.std or (1.0,), np.float32)
    return means, [float(factor) for factor in factors]


def _whole(out: Any, count: int) -> NDArray[Any] | None:
    """The array behind `out` if all its rows are wanted, in order."""
    array, rows = getattr(out, "array", out), getattr(out, "rows", None)
    if not isinstance(array, np.ndarray) or len(array) != count or not array.flags.c_contiguous:
        return None
    if rows is not None and not np.array_equal(rows, np.arange(count)):
        return None
    return array


def _array(image: Any, values: Values) -> NDArray[Any]:
    block, height, width, channels = image
    shape = (channels, height, width) if values.layout == "chw" else (height, width, channels)
    return np.asarray(block).view(values.dtype).reshape(shape)


def _put(out: Any, row: int, pixels: NDArray[Any]) -> None:
    if isinstance(out, list):
        out[row] = pixels
    else:
        out[row][...] = pixels


def _faults(refused: Sequence[tuple[int, _Parts]], hint: str | None) -> Faults:
    return {row: image_error(parts, hint=hint) for row, parts in refused}


def image_error(parts: _Parts, hint: str | None = None) -> ImageError | LimitError:
    """Exception for the parts of a native fault.

    Parameters
    ----------
    parts : (str, int, str, str)
        Kind, offset in the encoded image, what was expected and found.
    hint : str, optional

    Returns
    -------
    ImageError or LimitError
    """
    kind, offset, expected, found = parts
    what = {"limit_exceeded": "the image is too large", "bad_window": "the window does not lie within the image"}
    message = what.get(kind, "the image cannot be decoded natively")
    cls = LimitError if kind == "limit_exceeded" else ImageError
    return cls(message, kind=kind, offset=offset, expected=expected, found=found, hint=hint)


def decode_one(data: Any, reading: Reading, values: Values, *, upright: bool, max_pixels: int) -> NDArray[Any] | None:
    """All of one image, as a plan for a batch would read it.

    Parameters
    ----------
    data : buffer
    reading : Reading
    values : Values
    upright : bool
        Whether its EXIF orientation is undone.
    max_pixels : int

    Returns
    -------
    ndarray, shape (height, width, channels), or None
        None for what is left to Pillow.

    Raises
    ------
    LimitError
        More than `max_pixels` pixels.
    """
    numbers, refused = _core.image_headers([data], _reading(reading, max_pixels), upright)
    if refused:
        if refused[0][1][0] == "limit_exceeded":
            raise image_error(refused[0][1])
        return None
    _, _, width, height, orientation, _, _ = np.asarray(numbers).tolist()
    whole = np.array([[0, 0, width, height]])
    moves = Moves(whole, whole[:, 2:], whole, np.zeros((1, 2), np.bool_))
    one = np.ones(1, np.int64)
    job = ImageJob([data], reading, one * orientation, one, moves, "pillow:nearest", Border(), [], values)
    native = _native_job(job)
    [(image, _)] = _core.decode_each_image(native, values.dtype, 1)
    return None if image is None else _array(image, values)


def natively(decode: Callable[[], Any]) -> NDArray[Any] | None:
    """Pixels of one image from the native module.

    Parameters
    ----------
    decode : callable
        Returns values, height, width and channels.

    Returns
    -------
    ndarray, shape (height, width, channels), or None
        None for what is left to Pillow.

    Raises
    ------
    ImageError, LimitError
        What no decoder does: too many pixels, or a window beyond the image.
    """
    try:
        block, height, width, channels = decode()
    except _core.ImageRefused as refused:
        if refused.args[0] in ("limit_exceeded", "bad_window"):
            raise image_error(refused.args) from None
        return None
    return np.asarray(block).reshape(height, width, channels)

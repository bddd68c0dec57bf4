"""Carries a plan out in the native module, whole batches per call; what it leaves alone goes to another executor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.decode.executors.base import Executor, Faults, Headers, ImageJob, MaskJob
from recordmill.decode.executors.native_plan import as_array, native_job, native_masks, native_reading, native_rows
from recordmill.decode.native_image import DAMAGE, Parts, image_error
from recordmill.decode.options import DecodeOptions
from recordmill.errors import MissingExtraError


class NativeExecutor:
    """An `Executor` for JPEG and PNG.

    Parameters
    ----------
    others : callable, optional
        Makes the executor of what is left alone: other codings, irregular files, masks that are no PNG. Without one
        these are faults; damaged files always are.
    """

    def __init__(self, others: Callable[[], Executor] | None = None) -> None:
        self._others = others

    def headers(self, payloads: Sequence[Any], reading: DecodeOptions, *, upright: bool, max_pixels: int) -> Headers:
        """Sizes, orientations and channels of encoded images."""
        numbers, refused = _core.image_headers(native_rows(payloads), native_reading(reading, max_pixels), upright)
        table = np.asarray(numbers).reshape(-1, 7)
        damaged, refused = _parted(refused)
        headers = Headers(table[:, 0:2], table[:, 2:4], table[:, 4], table[:, 5], table[:, 6], damaged)
        rows = [row for row, _ in refused]
        if not rows:
            return headers
        some = [payloads[row] for row in rows]
        try:
            others = self._executor().headers(some, reading, upright=upright, max_pixels=max_pixels)
        except MissingExtraError as missing:
            return replace(headers, faults=damaged | _faults(refused, missing.hint))
        for name in ("sizes", "decoded", "orientations", "channels", "scalable"):
            getattr(headers, name)[rows] = getattr(others, name)
        return replace(headers, faults=damaged | {rows[row]: fault for row, fault in others.faults.items()})

    def images(self, job: ImageJob, out: Sequence[Any], threads: int) -> Faults:
        """Put row i's numbers into ``out[i]``."""
        if not len(job.payloads):
            return {}
        native = native_job(job)
        whole = _whole(out, len(job.payloads))
        dtype = job.values.dtype
        if whole is not None:
            memory = whole.view(np.uint16) if dtype == "float16" else whole
            refused = _core.decode_images(native, dtype, memory.reshape(-1), max(1, threads))
        else:
            found = _core.decode_each_image(native, dtype, max(1, threads))
            refused = _delivered(found, out, lambda image: as_array(image, job.values))
        damaged, refused = _parted(refused)
        return damaged | (self._rest(job, out, refused, threads) if refused else {})

    def masks(self, job: MaskJob, out: Sequence[Any], threads: int) -> Faults:
        """Put row i's classes into ``out[i]``."""
        if not len(job.payloads):
            return {}
        native, whole = native_masks(job), _whole(out, len(job.payloads))
        if whole is not None:
            refused = _core.decode_masks(native, job.dtype, whole.reshape(-1), max(1, threads))
        else:
            found = _core.decode_each_mask(native, job.dtype, max(1, threads))
            refused = _delivered(found, out, lambda mask: np.asarray(mask[0]).reshape(mask[1:3]))
        damaged, refused = _parted(refused)
        return damaged | (self._rest_of_masks(job, out, refused, threads) if refused else {})

    def _executor(self) -> Executor:
        if self._others is None:
            raise MissingExtraError("this is not decoded natively", hint='decoder="auto" leaves it to Pillow')
        return self._others()

    def _rest(self, job: ImageJob, out: Any, refused: Sequence[tuple[int, Parts]], threads: int) -> Faults:
        """Hand the rows that were refused to the other executor."""
        rows = np.array([row for row, _ in refused])
        steps = [replace(step, numbers=step.numbers[rows]) for step in job.colors]
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
        return _handed_over(lambda places: self._executor().images(some, places, threads), out, refused)

    def _rest_of_masks(self, job: MaskJob, out: Any, refused: Sequence[tuple[int, Parts]], threads: int) -> Faults:
        rows = np.array([row for row, _ in refused])
        some = replace(
            job,
            payloads=[job.payloads[row] for row in rows],
            sizes=None if job.sizes is None else job.sizes[rows],
            decoded=None if job.decoded is None else job.decoded[rows],
            moves=None if job.moves is None else job.moves[rows],
        )
        return _handed_over(lambda places: self._executor().masks(some, places, threads), out, refused)


def _delivered(found: Sequence[Any], out: Any, as_pixels: Callable[[Any], NDArray[Any]]) -> list[tuple[int, Parts]]:
    """Put what was made in its places; return the rows that were refused, and why."""
    refused = []
    for row, (made, fault) in enumerate(found):
        if made is None:
            refused.append((row, fault))
        else:
            _put(out, row, as_pixels(made))
    return refused


def _handed_over(run: Callable[[Any], Faults], out: Any, refused: Sequence[tuple[int, Parts]]) -> Faults:
    """Let another executor make the rows that were refused."""
    places: list[Any] = [None] * len(refused)
    try:
        found = run(places)
    except MissingExtraError as missing:
        return _faults(refused, missing.hint)
    rows = [row for row, _ in refused]
    for place, row in enumerate(rows):
        if place not in found:
            _put(out, row, places[place])
    return {rows[place]: fault for place, fault in found.items()}


def _whole(out: Any, count: int) -> NDArray[Any] | None:
    """The array behind `out` if all its rows are wanted, in order."""
    array, rows = getattr(out, "array", out), getattr(out, "rows", None)
    if not isinstance(array, np.ndarray) or len(array) != count or not array.flags.c_contiguous:
        return None
    if rows is not None and not np.array_equal(rows, np.arange(count)):
        return None
    return array


def _put(out: Any, row: int, pixels: NDArray[Any]) -> None:
    if isinstance(out, list):
        out[row] = pixels
    else:
        out[row][...] = pixels


def _parted(refused: Sequence[tuple[int, Parts]]) -> tuple[Faults, list[tuple[int, Parts]]]:
    """Faults of damaged rows, and the rows that another executor may know."""
    damaged = [(row, parts) for row, parts in refused if parts[0] in DAMAGE]
    others = [(row, parts) for row, parts in refused if parts[0] not in DAMAGE]
    return _faults(damaged, 'decoder="pillow" takes what Pillow makes of it'), others


def _faults(refused: Sequence[tuple[int, Parts]], hint: str | None) -> Faults:
    return {row: image_error(parts, hint=hint) for row, parts in refused}

"""Carries a plan out in the native module, whole batches per call; what it leaves alone goes to another executor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.decode.executors.base import Executor, Faults, Headers, ImageJob, MaskJob
from recordmill.decode.executors.native_one import Parts, image_error
from recordmill.decode.executors.native_plan import as_array, native_job, native_reading
from recordmill.decode.pixels.reading import Reading
from recordmill.errors import MissingExtraError


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
        numbers, refused = _core.image_headers(list(payloads), native_reading(reading, max_pixels), upright)
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
        native = native_job(job)
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
                    refused.append((row, cast("Parts", fault)))
                else:
                    _put(out, row, as_array(image, job.values))
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

    def _rest(self, job: ImageJob, out: Any, refused: Sequence[tuple[int, Parts]], threads: int) -> Faults:
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


def _faults(refused: Sequence[tuple[int, Parts]], hint: str | None) -> Faults:
    return {row: image_error(parts, hint=hint) for row, parts in refused}

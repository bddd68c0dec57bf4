"""What a batch's plan is made of, and what an executor of it owes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.colors import ColorStep
from recordmill.decode.moves import Moves
from recordmill.decode.options import DecodeOptions, OutputFormat

Faults = dict[int, Exception]


@dataclass(frozen=True, eq=False, slots=True)
class Headers:
    """What n encoded images say about themselves.

    Parameters
    ----------
    sizes : ndarray of int64, shape (n, 2)
        Width and height of the upright image; 0 for a fault.
    decoded : ndarray of int64, shape (n, 2)
        The same as it will be decoded, at half the size for a scale of 2.
    orientations : ndarray of int64, shape (n,)
        1 to 8; 1 where EXIF is to be ignored.
    channels : ndarray of int64, shape (n,)
        Of what is stored: 1 to 4.
    scalable : ndarray of int64, shape (n,)
        1 for images that can be decoded at a half, a quarter or an eighth of their size.
    faults : dict of int to Exception
        Images that cannot be read, by row.
    """

    sizes: NDArray[np.int64]
    decoded: NDArray[np.int64]
    orientations: NDArray[np.int64]
    channels: NDArray[np.int64]
    scalable: NDArray[np.int64]
    faults: Faults


@dataclass(frozen=True, slots=True)
class Border:
    """What pixels are that no image covers.

    Parameters
    ----------
    mode : {"constant", "edge", "reflect"}
        Beside the image.
    fill : tuple of int
        Level there, one for each of red, green, blue or one for all.
    warp_kernel : {"nearest", "bilinear"}
        Sampling of the affine map.
    warp_fill : tuple of int
        Level where the map leaves the image.
    """

    mode: str = "constant"
    fill: tuple[int, ...] = (0,)
    warp_kernel: str = "nearest"
    warp_fill: tuple[int, ...] = (0,)


@dataclass(frozen=True, eq=False, slots=True)
class ImageJob:
    """n images, and all that is to be done to them.

    Parameters
    ----------
    payloads : sequence of buffer
        Encoded images.
    reading : DecodeOptions
    orientations : ndarray of int64, shape (n,)
    scales : ndarray of int64, shape (n,)
        1, or 2, 4 or 8 for images that are decoded at that part of what `reading` says. Windows of `moves` then are
        divided by it: corners rounded down and up to whole pixels.
    moves : Moves
    kernel : str
        ``"library:kernel"`` of resizing.
    border : Border
    colors : list of ColorStep
    values : OutputFormat
    points : sequence of buffer, optional
        Entry points of each, empty where there are none; an executor may leave them alone.
    """

    payloads: Sequence[Any]
    reading: DecodeOptions
    orientations: NDArray[np.int64]
    scales: NDArray[np.int64]
    moves: Moves
    kernel: str
    border: Border
    colors: list[ColorStep]
    values: OutputFormat
    points: Sequence[Any] = ()


@dataclass(frozen=True, eq=False, slots=True)
class MaskJob:
    """n masks, moved as their images are.

    Parameters
    ----------
    payloads : sequence of buffer
    upright : bool
        Whether the mask's own EXIF orientation is applied.
    sizes : ndarray of int64, shape (n, 2), optional
        Width and height of the upright images; None for masks by themselves, which are not moved.
    decoded : ndarray of int64, shape (n, 2), optional
        The same as the images are decoded: `moves` begins there.
    moves : Moves, optional
    fit : bool
        Whether a mask of another size is brought to its image's.
    kernel : str
        ``"library:nearest"``.
    border : Border
        In classes, not levels.
    dtype : str
    max_pixels : int
        Masks of more are faults.
    """

    payloads: Sequence[Any]
    upright: bool = False
    sizes: NDArray[np.int64] | None = None
    decoded: NDArray[np.int64] | None = None
    moves: Moves | None = None
    fit: bool = False
    kernel: str = "pillow:nearest"
    border: Border = field(default_factory=Border)
    dtype: str = "uint8"
    max_pixels: int = 1 << 26


class Executor(Protocol):
    """Decodes whole batches.

    Rows do not depend on one another, nor results on `threads`. A row that fails is told in the faults, and what `out`
    holds there means nothing; no other row is touched. Exceptions are raised only for what is wrong with all rows.
    """

    def headers(self, payloads: Sequence[Any], reading: DecodeOptions, *, upright: bool, max_pixels: int) -> Headers:
        """Sizes, orientations and channels of encoded images."""
        ...

    def images(self, job: ImageJob, out: Any, threads: int) -> Faults:
        """Put row i's numbers into ``out[i]``: a part of an array, or a list's entry, which is replaced."""
        ...

    def masks(self, job: MaskJob, out: Any, threads: int) -> Faults:
        """Put row i's classes into ``out[i]``, as `images` does."""
        ...

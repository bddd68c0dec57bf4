"""Sizes that pictures may be given: long thin ones grow beyond memory when their shorter side is scaled."""

from __future__ import annotations

from recordmill.errors import ImageError
from recordmill.packing.plain import max_pixels

# Pixels of a side that an encoding can store.
_LARGEST_SIDE = {"jpeg": 65_500, "webp": 16_383}


def refuse_large(before: tuple[int, int], after: tuple[int, int]) -> None:
    """Refuse to scale a picture to more pixels than one may have that is opened.

    Parameters
    ----------
    before, after : (int, int)
        Its width and height, and those that it would get.

    Raises
    ------
    ImageError
        There are more of them, and more than there were.
    """
    limit = max(max_pixels(), before[0] * before[1])
    if after[0] * after[1] > limit:
        raise ImageError(
            "the picture would be too large when its shorter side is scaled",
            kind="limit_exceeded",
            expected=f"at most {limit:,} pixels",
            found=f"{after[0]} x {after[1]}",
        )


def refuse_long(size: tuple[int, int], encoding: str) -> None:
    """Refuse a picture with a side that the encoding cannot store.

    Parameters
    ----------
    size : (int, int)
        Width and height.
    encoding : str

    Raises
    ------
    ImageError
        A side is longer.
    """
    limit = _LARGEST_SIDE.get(encoding, max(size))
    if max(size) > limit:
        raise ImageError(
            f"the picture is too large for {encoding.upper()}",
            kind="limit_exceeded",
            expected=f"at most {limit:,} pixels each way",
            found=f"{size[0]} x {size[1]}",
            hint='encode="png" and encode="tiff" store it',
        )

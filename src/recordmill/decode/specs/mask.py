"""How a label image becomes an array of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recordmill.decode.specs.base import Spec, check_choice, check_int


@dataclass(frozen=True, slots=True, repr=False)
class Mask(Spec):
    """An encoded image whose values are classes: kept exactly, and moved with the image that it belongs to.

    Palette images give indices, gray images the values in the file (a 1-bit mask 0 and 1). Color images and JPEG are
    refused, as they no longer hold classes. Pixels are never mixed: resizing takes the nearest one.

    Parameters
    ----------
    of : str, optional
        Name of the image whose cut, size, flip and affine map it shares; None for a mask by itself, as stored.
    fill : int, optional
        Class of pixels that the mask does not cover. Needed where the image's crop or affine map adds pixels.
    fit : bool
        Whether a mask of another size than its image is first brought to the image's size. False refuses it.
    dtype : {"uint8", "uint16", "int32", "int64"}
        A value that does not fit is refused.
    stack : bool
        True for one array per batch, False for a list of arrays.
    feature : str, optional
        Where the bytes are; the name of the output by default.
    """

    of: str | None = "image"
    fill: int | None = None
    fit: bool = False
    dtype: Literal["uint8", "uint16", "int32", "int64"] = "uint8"
    stack: bool = True
    feature: str | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        check_choice("dtype", self.dtype, ("uint8", "uint16", "int32", "int64"))
        if self.fill is not None:
            self._set(fill=check_int("fill", self.fill, 0, 255 if self.dtype == "uint8" else 65535))

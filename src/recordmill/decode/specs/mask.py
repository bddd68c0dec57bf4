"""The `Mask` spec: how images of class labels are decoded and transformed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recordmill.decode.specs.base import Spec, check_choice, check_int
from recordmill.suggestions import suggest_constructor_arguments


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class Mask(Spec):
    """Decode a mask of class labels, and apply the geometric transforms of the image to which the mask belongs.

    Palette images give palette indices; gray images give the values in the file, 0 and 1 for 1-bit masks. Color images
    and lossy encodings raise an error. Values are never interpolated: resizing uses the nearest pixel.

    Parameters
    ----------
    of : str, optional
        Name of the image whose resize, crop, flip and affine map also apply to the mask. None returns the mask as
        stored.
    fill : int, optional
        Class of pixels outside the mask. Required if the crop or the affine map may add pixels outside of the image.
    fit : bool
        Whether to resize masks whose size differs from that of their image; otherwise such masks raise an error.
    dtype : str
        Dtype of the output. A class that does not fit raises an error. One of "uint8", "uint16", "int32" or "int64".
    stack : bool
        True for one array per batch, False for a list of arrays.
    feature : str, optional
        Name of the feature that contains the encoded mask; by default the name of the output.

    Examples
    --------
    >>> specs = {"image": rm.Image(crop=rm.RandomCrop(32)), "mask": rm.Mask()}
    >>> photo, mask = Path("photo.jpg").read_bytes(), Path("mask.png").read_bytes()
    >>> data = {"image": [photo], "mask": [mask]}
    >>> rm.decode_batch(data, specs, rng=1)["mask"].shape
    (1, 32, 32)
    """

    of: str | None = "image"
    fill: int | None = None
    fit: bool = False
    dtype: Literal["uint8", "uint16", "int32", "int64"] = "uint8"
    stack: bool = True
    feature: str | None = None

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        check_choice("dtype", self.dtype, ("uint8", "uint16", "int32", "int64"))
        if self.fill is not None:
            self._set_fields(fill=check_int("fill", self.fill, 0, 255 if self.dtype == "uint8" else 65535))

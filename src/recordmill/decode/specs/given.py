"""Windows and mirrors that features of the samples name, where others are drawn."""

from __future__ import annotations

from dataclasses import dataclass

from recordmill.decode.specs.base import Spec
from recordmill.decode.specs.checks import levels, size_of


@dataclass(frozen=True, slots=True, repr=False)
class GivenCrop(Spec):
    """Take the window that a feature names, and bring it to a size.

    Parameters
    ----------
    feature : str
        Four whole numbers for each sample: x, y, width and height in pixels of the decoded, upright image, or of what
        ``resize=`` makes of it.
    size : int or (int, int), optional
        Pixels of a square's side, or height and width; windows keep their own sizes by default.
    fill : int or tuple of int, optional
        Level (0 to 255) beyond the image, one for each channel in the order red, green, blue, or one for all. Without
        it, windows that do not lie within the image are errors. It does not go with `size`.
    """

    feature: str
    size: int | tuple[int, int] | None = None
    fill: int | tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        _check_feature(self.feature)
        if self.size is not None:
            self._set(size=size_of("size", self.size))
        if self.fill is not None:
            self._set(fill=levels("fill", self.fill))
            if self.size is not None:
                raise ValueError("fill= is for windows that keep their sizes: leave size= out")


@dataclass(frozen=True, slots=True, repr=False)
class GivenFlip(Spec):
    """Mirror images left to right where a feature says so.

    Parameters
    ----------
    feature : str
        One number for each sample; the image is mirrored unless it is 0.
    """

    feature: str

    def __post_init__(self) -> None:
        """Check the option."""
        _check_feature(self.feature)


def _check_feature(name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"feature is a name, not {name!r}")

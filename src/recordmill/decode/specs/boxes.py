"""Specs of boxes and keypoints that follow their image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from recordmill.decode.specs.base import Spec, check_choice, check_number

BoxForm = Literal["xyxy", "yxyx", "xywh"]


@dataclass(frozen=True, slots=True, repr=False)
class Boxes(Spec):
    """Boxes that are cut, scaled, flipped and turned with their image, clipped to it, and dropped when hardly seen.

    Coordinates are distances from the left and upper edge: an image of 100 columns reaches from 0 to 100. A turned box
    is the smallest upright one around its corners.

    Parameters
    ----------
    of : str
        Name of the image.
    form : {"xyxy", "yxyx", "xywh"}
        Order of the stored numbers: edges, or left, top, width and height.
    relative : bool
        Whether stored numbers are parts of the image's width and height, as in TensorFlow's detection files.
    min_visible : float
        Boxes of which a smaller part of the area remains inside are dropped; boxes without area always are.
    along : sequence of str
        Features with one value per box, which lose the values of dropped boxes.
    feature : str or sequence of str, optional
        One feature with four numbers per box, or four features with one number per box each, in the order of `form`;
        the name of the output by default.

    Returns
    -------
    Ragged of float32, rows of shape (num_boxes, 4)
        Left, top, right and bottom edge in pixels of the output. Features of `along` become Ragged too.
    """

    of: str = "image"
    form: BoxForm = "xyxy"
    relative: bool = False
    min_visible: float = 0.0
    along: Sequence[str] = ()
    feature: str | Sequence[str] | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        check_choice("form", self.form, ("xyxy", "yxyx", "xywh"))
        if isinstance(self.along, str):
            raise TypeError(f"along is a sequence of names, not {self.along!r}")
        feature = self.feature
        if feature is not None and not isinstance(feature, str):
            feature = tuple(feature)
            if len(feature) != 4:
                raise ValueError(f"boxes come from one feature or from four, not {len(feature)}")
        self._set(
            min_visible=check_number("min_visible", self.min_visible, 0, 1), along=tuple(self.along), feature=feature
        )


@dataclass(frozen=True, slots=True, repr=False)
class Keypoints(Spec):
    """Points that are cut, scaled, flipped and turned with their image.

    Parameters
    ----------
    of : str
        Name of the image.
    relative : bool
        Whether stored numbers are parts of the image's width and height.
    centers : bool
        Whether whole numbers are the centers of pixels, as in COCO, and not their edges.
    feature : str, optional
        A feature with two numbers per point, x and y; the name of the output by default.

    Returns
    -------
    Ragged of float32, rows of shape (num_points, 3)
        x, y in pixels of the output, counted as in the input, and 1 where the point lies in it, else 0.
    """

    of: str = "image"
    relative: bool = False
    centers: bool = False
    feature: str | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        if self.relative and self.centers:
            raise ValueError("parts of width and height count from edges: relative= and centers= do not go together")

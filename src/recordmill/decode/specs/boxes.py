"""The `Boxes` and `Keypoints` specs: coordinates that are transformed together with an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from recordmill.decode.specs.base import Spec, check_choice, check_number
from recordmill.suggestions import suggest_constructor_arguments

BoxForm = Literal["xyxy", "yxyx", "xywh"]


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class Boxes(Spec):
    """Apply the geometric transforms of an image to its bounding boxes, clip them, and drop barely visible boxes.

    Coordinates are distances from the left and top edges: an image of 100 columns extends from 0 to 100. A rotated box
    becomes the smallest axis-aligned box around its corners.

    Parameters
    ----------
    of : str
        Name of the `Image` spec whose geometry is applied.
    form : str
        Order of the stored numbers: "xyxy" and "yxyx" are the four edges, "xywh" is left, top, width and height.
    relative : bool
        Whether the stored numbers are fractions of the image's width and height, as in TensorFlow's detection files.
    min_visible : float
        Smallest fraction, from 0 to 1, of a box's area that must lie inside the output; other boxes are dropped. Boxes
        without area are always dropped.
    along : sequence of str
        Names of features with one value per box. The values of dropped boxes are dropped, too.
    feature : str or sequence of str, optional
        Name of one feature with four numbers per box, or of four features with one number per box in the order of
        `form`; by default the name of the output.

    Returns
    -------
    Ragged of float32, rows of shape (num_boxes, 4)
        Left, top, right and bottom edges in pixels of the output. Features of `along` become Ragged, too.

    Examples
    --------
    >>> specs = {"image": rm.Image(resize=(24, 32)), "boxes": rm.Boxes()}
    >>> boxes = rm.Ragged.from_rows([[0.0, 0.0, 32.0, 24.0]])
    >>> data = {"image": [Path("photo.jpg").read_bytes()], "boxes": boxes}
    >>> rm.decode_batch(data, specs)["boxes"].to_list()
    [[[0.0, 0.0, 16.0, 12.0]]]
    """

    of: str = "image"
    form: BoxForm = "xyxy"
    relative: bool = False
    min_visible: float = 0.0
    along: Sequence[str] = ()
    feature: str | Sequence[str] | None = None

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        check_choice("form", self.form, ("xyxy", "yxyx", "xywh"))
        if isinstance(self.along, str):
            raise TypeError(f"along must be a sequence of feature names, got {self.along!r}")
        feature = self.feature
        if feature is not None and not isinstance(feature, str):
            feature = tuple(feature)
            if len(feature) != 4:
                raise ValueError(f"feature must be one name or 4 names, got {len(feature)} names")
        self._set_fields(
            min_visible=check_number("min_visible", self.min_visible, 0, 1), along=tuple(self.along), feature=feature
        )


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class Keypoints(Spec):
    """Apply the geometric transforms of an image to the coordinates of its keypoints.

    Parameters
    ----------
    of : str
        Name of the `Image` spec whose geometry is applied.
    relative : bool
        Whether the stored numbers are fractions of the image's width and height.
    centers : bool
        Whether integer coordinates are the centers of pixels, as in COCO, instead of their edges.
    feature : str, optional
        Name of a feature with two numbers per point, x and y; by default the name of the output.

    Returns
    -------
    Ragged of float32, rows of shape (num_points, 3)
        x and y in pixels of the output, in the convention of `centers`, and 1 if the point lies in the output, else 0.
    """

    of: str = "image"
    relative: bool = False
    centers: bool = False
    feature: str | None = None

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        if self.relative and self.centers:
            raise ValueError(
                "relative cannot be combined with centers: fractions are measured from the edges of the image, "
                "not from pixel centers"
            )

"""Whether the specs of a batch go together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from recordmill.decode.geometry import Geometry
from recordmill.decode.given import given_features
from recordmill.decode.specs.boxes import Boxes, Keypoints
from recordmill.decode.specs.image import Image
from recordmill.decode.specs.mask import Mask
from recordmill.decode.specs.raw import Raw
from recordmill.decode.specs.text import Text

Spec = Image | Mask | Raw | Text | Boxes | Keypoints


def check_specs(specs: Any) -> None:
    """Refuse specs that contradict one another."""
    if not isinstance(specs, Mapping) or not specs:
        raise TypeError('specs are a mapping of names, such as {"image": Image(...)}')
    for name, spec in specs.items():
        if not isinstance(spec, Spec):
            raise TypeError(f"'{name}' is an Image, Mask, Raw, Text, Boxes or Keypoints, not {spec!r}")
        if isinstance(spec, Mask | Boxes | Keypoints) and spec.of is not None:
            _check_image(name, spec, specs.get(spec.of))


def _check_image(name: str, spec: Mask | Boxes | Keypoints, image: Spec | None) -> None:
    if not isinstance(image, Image):
        hint = "; of=None is a mask by itself" if isinstance(spec, Mask) else ""
        raise ValueError(  # noqa: TRY004 (what is missing is an entry)
            f"'{name}' follows the image '{spec.of}', which is not among the specs: of= names it{hint}"
        )
    if isinstance(spec, Mask) and spec.fill is None and Geometry.of(image).adds_pixels:
        raise ValueError(
            f"the geometry of '{spec.of}' adds pixels: Mask(fill=...) says which class they get in '{name}'"
        )


def check_names(specs: Mapping[str, Spec], columns: Collection[str]) -> None:
    """Refuse outputs that would take the place of something else."""
    along = {one for spec in specs.values() if isinstance(spec, Boxes) for one in spec.along}
    read = feature_names(specs)
    for name in specs:
        if name in along or (name in columns and name not in read):
            raise ValueError(f"the output '{name}' would take the place of the feature '{name}': give it another name")


def feature_names(specs: Mapping[str, Spec]) -> list[str]:
    """Features that specs read."""
    names: list[str] = []
    for name, spec in specs.items():
        feature = spec.feature or name
        names += [feature] if isinstance(feature, str) else list(feature)
        names += [one for one in spec.shape if isinstance(one, str)] if isinstance(spec, Raw) else []
        names += list(spec.along) if isinstance(spec, Boxes) else []
        names += given_features(spec) if isinstance(spec, Image) else []
    return list(dict.fromkeys(names))

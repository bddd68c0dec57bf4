"""What the examples of a data set hold: kinds and shapes of their features."""

from __future__ import annotations

import math
from collections.abc import ItemsView, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

Kind = Literal["bytes", "float32", "float64", "int32", "int64", "uint64"]
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Feature:
    """What one named feature of an example holds.

    Parameters
    ----------
    kind : {"bytes", "float32", "float64", "int32", "int64", "uint64"}
        Kind of every value.
    shape : tuple of int or None
        Shape per record; ``()`` is one value, ``(None,)`` any number. In a sequence the first entry counts frames.
    sequence : bool
        Whether the feature is a feature list of a ``SequenceExample``.
    optional : bool
        Whether records may lack it; they then have no values (needs a shape that begins with None).
    default : array_like, optional
        Values of records that lack it; needs a fixed shape.
    """

    kind: Kind
    shape: tuple[int | None, ...] = ()
    sequence: bool = False
    optional: bool = False
    default: ArrayLike | bytes | None = None

    def __post_init__(self) -> None:
        """Refuse what no record could satisfy."""
        if self.kind not in KINDS:
            raise ValueError(f"kind is one of {', '.join(KINDS)}, not {self.kind!r}")
        free = self.shape[1:] if self.sequence else self.shape
        if None in free and free != (None,):
            raise ValueError(f"only a shape of (None,) may vary, per record or per frame, not {self.shape}")
        if self.sequence and (not self.shape or self.shape[0] is not None):
            raise ValueError(f"the shape of a sequence begins with None (its frames), not {self.shape}")
        if self.optional and (not self.shape or self.shape[0] is not None):
            raise ValueError("an optional feature needs a shape that begins with None, or a default instead")

    @property
    def count(self) -> int | None:
        """Values per record (per frame in a sequence); None where it varies."""
        shape = self.shape[1:] if self.sequence else self.shape
        sizes = [size for size in shape if size is not None]
        return math.prod(sizes) if len(sizes) == len(shape) else None


class Schema(Mapping[str, Feature]):
    """Names and features of the examples of a data set; immutable, ordered by name.

    Parameters
    ----------
    features : mapping of str to Feature
    """

    __slots__ = ("_features",)

    def __init__(self, features: Mapping[str, Feature]) -> None:
        self._features = dict(features)

    def __getitem__(self, name: str) -> Feature:
        """Return the feature of that name."""
        return self._features[name]

    def __iter__(self) -> Iterator[str]:
        """Names in order."""
        return iter(self._features)

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self._features)

    def items(self) -> ItemsView[str, Feature]:
        """Names and features in order."""
        return self._features.items()

    def __repr__(self) -> str:
        """Readable form."""
        return f"Schema({self._features!r})"

    def to_json(self) -> dict[str, dict[str, Any]]:
        """Plain form for files and reports.

        Returns
        -------
        dict
            ``{name: {"kind", "shape"[, "sequence", "optional", "default"]}}``
        """
        return {name: _feature_to_json(feature) for name, feature in self._features.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Mapping[str, Any]]) -> Schema:
        """Build a schema from what `to_json` made.

        Parameters
        ----------
        data : mapping

        Returns
        -------
        Schema
        """
        return cls({name: _feature_from_json(entry) for name, entry in data.items()})


def _feature_to_json(feature: Feature) -> dict[str, Any]:
    entry: dict[str, Any] = {"kind": feature.kind, "shape": list(feature.shape)}
    entry |= {name: True for name in ("sequence", "optional") if getattr(feature, name)}
    if feature.default is not None:
        default = feature.default
        entry["default"] = {"hex": default.hex()} if isinstance(default, bytes) else np.asarray(default).tolist()
    return entry


def _feature_from_json(entry: Mapping[str, Any]) -> Feature:
    default = entry.get("default")
    if isinstance(default, Mapping):
        default = bytes.fromhex(default["hex"])
    shape = tuple(None if size is None else int(size) for size in entry["shape"])
    flags = {name: bool(entry.get(name, False)) for name in ("sequence", "optional")}
    return Feature(entry["kind"], shape, default=default, **flags)

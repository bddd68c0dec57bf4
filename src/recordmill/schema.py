"""Kinds and shapes of the features of a dataset."""

from __future__ import annotations

import math
from collections.abc import ItemsView, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from recordmill.suggestions import suggest_constructor_arguments

Kind = Literal["bytes", "float32", "float64", "int32", "int64", "uint64"]
KINDS: tuple[str, ...] = get_args(Kind)


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True)
class Feature:
    """Kind and shape of the values of one feature.

    Parameters
    ----------
    kind : str
        Kind of every value. One of "bytes", "float32", "float64", "int32", "int64" or "uint64".
    shape : tuple of int or None, default ()
        Shape of the values of one record: ``()`` is a single value, ``(None,)`` any number of values. In a sequence,
        the first entry is None and stands for the number of frames; the rest is the shape per frame.
    sequence : bool, default False
        If True, the feature is a feature list of a ``SequenceExample``.
    optional : bool, default False
        If True, records without the feature are read as records with no values. Requires a shape that starts with
        None.
    default : array_like or bytes, optional
        Values for records without the feature. Requires a fixed shape.

    Raises
    ------
    ValueError
        If `kind` is unknown, or if `shape` is not allowed.
    """

    kind: Kind
    shape: tuple[int | None, ...] = ()
    sequence: bool = False
    optional: bool = False
    default: ArrayLike | bytes | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if the kind or the shape is not allowed."""
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        shape = self._value_shape
        if None in shape and shape != (None,):
            raise ValueError(
                f"the shape must be (None,) if the number of values in a record or frame varies, got {self.shape}"
            )
        if self.sequence and (not self.shape or self.shape[0] is not None):
            raise ValueError(f"the shape of a sequence must start with None for the frames, got {self.shape}")
        if self.optional and (not self.shape or self.shape[0] is not None):
            raise ValueError(
                f"the shape of an optional feature must start with None, got {self.shape}; "
                "for a fixed shape, use default= instead of optional=True"
            )

    @property
    def _value_shape(self) -> tuple[int | None, ...]:
        """Shape of the values in one record. For a sequence, shape of the values in one frame."""
        return self.shape[1:] if self.sequence else self.shape

    @property
    def count(self) -> int | None:
        """Number of values per record (per frame in a sequence); None if the number varies."""
        sizes = [size for size in self._value_shape if size is not None]
        return math.prod(sizes) if len(sizes) == len(self._value_shape) else None

    def __str__(self) -> str:
        """Return the kind and the shape, such as ``int64`` for one value or ``float32[?]`` for any number of values."""
        sizes = "x".join("?" if size is None else str(size) for size in self._value_shape)
        text = f"{'sequence of ' if self.sequence else ''}{self.kind}{f'[{sizes}]' if sizes else ''}"
        return f"{text}{', optional' if self.optional else ''}{'' if self.default is None else ', with a default'}"


class Schema(Mapping[str, Feature]):
    """Features of a dataset by name: an immutable mapping.

    Parameters
    ----------
    features : mapping of str to Feature
        Features by name. Their order is kept.
    """

    __slots__ = ("_features",)

    def __init__(self, features: Mapping[str, Feature]) -> None:
        self._features = dict(features)

    def __getitem__(self, name: str) -> Feature:
        """Return the feature with this name."""
        return self._features[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names in order."""
        return iter(self._features)

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self._features)

    def items(self) -> ItemsView[str, Feature]:
        """Return the (name, feature) pairs in order."""
        return self._features.items()

    def __repr__(self) -> str:
        """Return a readable representation."""
        return f"Schema({self._features!r})"

    def __str__(self) -> str:
        """Return one line per feature, such as ``scores: float32[?], optional``; ``?`` is any number."""
        return "\n".join(f"{name}: {feature}" for name, feature in self._features.items())

    def _repr_html_(self) -> str:
        """Return a table of the features, for notebooks."""
        from recordmill.html import format_block, format_table

        rows = [(name, str(feature)) for name, feature in self._features.items()]
        return format_block("Schema", format_table(("feature", "kind"), rows, 100))

    def to_json(self) -> dict[str, dict[str, Any]]:
        """Return the schema as a dict that can be written as JSON.

        Returns
        -------
        dict
            ``{name: {"kind", "shape"[, "sequence", "optional", "default"]}}``
        """
        return {name: _feature_to_json(feature) for name, feature in self._features.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Mapping[str, Any]]) -> Schema:
        """Create a schema from the result of `to_json`.

        Parameters
        ----------
        data : mapping of str to mapping
            Return value of `to_json`.

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

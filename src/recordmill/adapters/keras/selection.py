"""Select the features of a batch that are the inputs, the targets and the sample weights of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import recordmill as rm

FeatureNames: TypeAlias = str | Sequence[str] | Mapping[str, str]
SelectFunction: TypeAlias = Callable[[dict[str, Any]], tuple[Any, ...]]


@dataclass(frozen=True)
class Selection:
    """Converts a batch to ``(x,)``, ``(x, y)`` or ``(x, y, sample_weight)``. `PyDataset` explains the parameters."""

    x: FeatureNames | SelectFunction
    y: FeatureNames | None = None
    sample_weight: str | None = None

    def __post_init__(self) -> None:
        """Raise TypeError if a parameter has a wrong type or cannot be combined with another."""
        if not (_are_feature_names(self.x) or callable(self.x)):
            raise TypeError(f"x must be a feature name, a list or dict of feature names, or a function, got {self.x!r}")
        if not (_are_feature_names(self.y) or self.y is None):
            raise TypeError(f"y must be a feature name, or a list or dict of feature names, got {self.y!r}")
        if not isinstance(self.sample_weight, str | None):
            raise TypeError(f"sample_weight must be a feature name, got {self.sample_weight!r}")
        if callable(self.x) and (self.y is not None or self.sample_weight is not None):
            raise TypeError(
                "y and sample_weight cannot be combined with a function as x; let the function return "
                "(x, y, sample_weight)"
            )
        if self.sample_weight is not None and self.y is None:
            raise TypeError("sample_weight requires y")

    def __call__(self, batch: dict[str, Any]) -> tuple[Any, ...]:
        """Convert a batch to the tuple for Keras; raise FeatureError if a feature is missing or not a numeric array."""
        if callable(self.x):
            return tuple(self.x(batch))
        selected = [_select_features(batch, names) for names in (self.x, self.y) if names is not None]
        if self.sample_weight is not None:
            selected.append(_select_numeric_array(batch, self.sample_weight).astype(np.float32, copy=False))
        return tuple(selected)


def _are_feature_names(names: Any) -> bool:
    if isinstance(names, str):
        return True
    inner = names.values() if isinstance(names, Mapping) else names if isinstance(names, Sequence) else ()
    return bool(inner) and all(isinstance(name, str) for name in inner)


def _select_features(batch: dict[str, Any], names: FeatureNames) -> Any:
    if isinstance(names, str):
        return _select_numeric_array(batch, names)
    if isinstance(names, Mapping):
        return {key: _select_numeric_array(batch, name) for key, name in names.items()}
    return tuple(_select_numeric_array(batch, name) for name in names)


def _select_numeric_array(batch: dict[str, Any], name: str) -> NDArray[Any]:
    if name not in batch:
        raise rm.FeatureError(
            f"the batch has no feature {name!r}", kind="feature_mismatch", expected=repr(name), found=", ".join(batch)
        )
    value = batch[name]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return value
    raise rm.FeatureError(
        f"feature {name!r} cannot be passed to Keras",
        kind="feature_mismatch",
        expected="a numeric array",
        found=f"{type(value).__name__}{' of ' + str(value.dtype) if isinstance(value, np.ndarray) else ''}",
        hint='decode() images, masks and raw numbers; pad rows of different lengths with batch(n, ragged="pad")',
    )

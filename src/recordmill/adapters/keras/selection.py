"""Which features of a batch are the inputs, the targets and the weights of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import recordmill as rm

Names: TypeAlias = str | Sequence[str] | Mapping[str, str]
Choose: TypeAlias = Callable[[dict[str, Any]], tuple[Any, ...]]


@dataclass(frozen=True)
class Selection:
    """How a batch becomes ``(x,)``, ``(x, y)`` or ``(x, y, sample_weight)``.

    Parameters
    ----------
    x : str, sequence of str, mapping of str to str, or callable
        Feature; features in the order of the inputs; features by the names of the inputs; or a function that makes the
        whole tuple of a batch.
    y : str, sequence of str, or mapping of str to str, optional
        The same for the outputs.
    sample_weight : str, optional
        Feature with a number per sample. ``"valid"`` leaves out what ``batch(n, last="pad")`` filled up.
    """

    x: Names | Choose
    y: Names | None = None
    sample_weight: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no batch can give."""
        for what, names in (("x", self.x), ("y", self.y)):
            if not (_are_names(names) or (what == "x" and callable(names)) or (what == "y" and names is None)):
                raise TypeError(f"{what} is a name of a feature, or a list or dict of such names, not {names!r}")
        if not isinstance(self.sample_weight, str | None):
            raise TypeError(f"sample_weight is a name of a feature, not {self.sample_weight!r}")
        if callable(self.x) and (self.y is not None or self.sample_weight is not None):
            raise TypeError("a function makes the whole tuple: leave out y and sample_weight")
        if self.sample_weight is not None and self.y is None:
            raise TypeError("sample_weight without y means nothing to Keras")

    def __call__(self, batch: dict[str, Any]) -> tuple[Any, ...]:
        """Make what Keras takes.

        Parameters
        ----------
        batch : dict of str to ndarray

        Returns
        -------
        tuple of ndarray, or of their lists and dicts

        Raises
        ------
        FeatureError
            A feature that is missing, or no array of numbers.
        """
        if callable(self.x):
            return tuple(self.x(batch))
        chosen = [_pick(batch, names) for names in (self.x, self.y) if names is not None]
        if self.sample_weight is not None:
            chosen.append(_array(batch, self.sample_weight).astype(np.float32, copy=False))
        return tuple(chosen)


def _are_names(names: Any) -> bool:
    """Whether something names features, one at least."""
    if isinstance(names, str):
        return True
    inside = names.values() if isinstance(names, Mapping) else names if isinstance(names, Sequence) else ()
    return bool(inside) and all(isinstance(name, str) for name in inside)


def _pick(batch: dict[str, Any], names: Names) -> Any:
    if isinstance(names, str):
        return _array(batch, names)
    if isinstance(names, Mapping):
        return {key: _array(batch, name) for key, name in names.items()}
    return tuple(_array(batch, name) for name in names)


def _array(batch: dict[str, Any], name: str) -> NDArray[Any]:
    if name not in batch:
        raise rm.FeatureError(
            f"there is no feature {name!r}", kind="feature_mismatch", expected=repr(name), found=", ".join(batch)
        )
    value = batch[name]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return value
    found = f"{type(value).__name__}{' of ' + str(value.dtype) if isinstance(value, np.ndarray) else ''}"
    hint = 'decode() images, masks and raw numbers; pad what differs in length with batch(n, ragged="pad")'
    message = f"feature {name!r} is nothing that Keras takes"
    raise rm.FeatureError(message, kind="feature_mismatch", expected="an array of numbers", found=found, hint=hint)

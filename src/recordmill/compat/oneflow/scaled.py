"""A tensor whose values are made when they are asked for: resized pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import DTypeLike, NDArray

from recordmill.compat.oneflow.pending import Scaled
from recordmill.compat.oneflow.tensors import Tensor, tensor_of
from recordmill.compat.oneflow.types import uint8


class ScaledTensor(NDArrayOperatorsMixin):
    """Pictures of one size, decoded by whoever needs them; otherwise as `Tensor`."""

    stands_for_tensor = True

    def __init__(self, scaled: Scaled) -> None:
        self.scaled = scaled
        self._values: Tensor | None = None

    @property
    def is_decoded(self) -> bool:
        """Whether values are there already."""
        return self._values is not None

    @property
    def shape(self) -> tuple[int, ...]:
        """Pictures, height, width and channels."""
        return self.scaled.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """uint8."""
        return uint8

    @property
    def ndim(self) -> int:
        """Four."""
        return len(self.shape)

    def tensor(self) -> Tensor:
        """Values as `Tensor`."""
        if self._values is None:
            self._values = tensor_of(self.scaled.values())
        return self._values

    def numpy(self) -> NDArray[Any]:
        """Values as a plain array."""
        return self.tensor().numpy()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Values for NumPy."""
        values = self.numpy()
        if dtype is not None and values.dtype != dtype:
            return values.astype(dtype)
        return values.copy() if copy else values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute with the values."""
        if "out" in options:
            options["out"] = tuple(map(_values, options["out"]))
        return getattr(ufunc, method)(*map(_values, inputs), **options)

    def __getattr__(self, name: str) -> Any:
        """Whatever else an array has."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.tensor(), name)

    def __getitem__(self, key: Any) -> Any:
        """Values of a part."""
        return self.tensor()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        """Replace values of a part."""
        self.tensor()[key] = value

    def __len__(self) -> int:
        """Return the number of pictures."""
        return self.shape[0]

    def __repr__(self) -> str:
        """Values, as `Tensor` prints them."""
        return repr(self.tensor())

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as values."""
        return tensor_of, (self.numpy(),)


def _values(given: Any) -> Any:
    return given.tensor() if isinstance(given, ScaledTensor) else given

"""``tf.Tensor`` as programs ask for it: also of what stands for a tensor while a map function is recorded."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core import tensor
from recordmill.compat.tensorflow.core.operators import Operators


class _Asked(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a tensor."""
        return tensor.Tensor(*args, **kwargs) if cls is Tensor else super().__call__(*args, **kwargs)

    def __instancecheck__(cls, value: Any) -> bool:
        """Whether a map function may take it for a tensor."""
        return isinstance(value, Operators) if cls is Tensor else super().__instancecheck__(value)

    def __subclasscheck__(cls, kind: type) -> bool:
        """Whether its values are tensors."""
        return issubclass(kind, Operators) if cls is Tensor else super().__subclasscheck__(kind)


class Tensor(tensor.Tensor, metaclass=_Asked):
    """Name of tensors in programs; what it makes is the package's own tensor."""

    __slots__ = ()

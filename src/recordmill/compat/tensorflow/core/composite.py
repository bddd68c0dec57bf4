"""Base class of ragged and sparse tensors."""

from __future__ import annotations

from typing import NoReturn


class CompositeTensor:
    """Base class of ragged and sparse tensors, which store their content in several dense tensors."""

    __slots__ = ()
    # With this attribute, NumPy's operators call the tensor's operators and do not convert the tensor to an array.
    __array_ufunc__ = None

    def __getattr__(self, name: str) -> NoReturn:
        """Raise AttributeError for an attribute that is not supported, and suggest a replacement."""
        kind = type(self).__name__
        if name.startswith("_"):
            raise AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=self)
        raise AttributeError(
            f"{kind}.{name} is not supported: call to_tensor() or tf.sparse.to_dense() first, or use .values",
            name=name,
            obj=self,
        )

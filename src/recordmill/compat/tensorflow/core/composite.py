"""What ragged and sparse tensors have in common: tensors that are made of several dense ones."""

from __future__ import annotations

from typing import NoReturn


class Composite:
    """Tells what to do instead."""

    __slots__ = ()
    # NumPy's own operators step back, too.
    __array_ufunc__ = None

    def __getattr__(self, name: str) -> NoReturn:
        """Tell names that are not here from others."""
        if name.startswith("_"):
            raise AttributeError(name)
        kind = type(self).__name__
        raise AttributeError(
            f"{kind} has no {name} here: make it dense with to_tensor() or tf.sparse.to_dense, or work on its values",
            name=name,
            obj=self,
        )

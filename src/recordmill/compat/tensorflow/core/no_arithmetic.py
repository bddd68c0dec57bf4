"""Arithmetic that ragged and sparse tensors do not have here, refused by name."""

from __future__ import annotations

from typing import Any, NoReturn


class NoArithmetic:
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

    def _refused(self, other: Any = None) -> NoReturn:
        """Refuse."""
        del other
        raise TypeError(
            f"arithmetic of a {type(self).__name__} is not supported: make it dense with to_tensor() or "
            "tf.sparse.to_dense, or work on its values, by with_values() or tf.ragged.map_flat_values"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refused
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _refused
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __abs__ = _refused

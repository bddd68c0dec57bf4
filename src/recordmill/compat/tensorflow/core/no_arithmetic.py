"""Arithmetic that sparse tensors do not have here, refused by name."""

from __future__ import annotations

from typing import Any, NoReturn

from recordmill.compat.tensorflow.core.composite import Composite


class NoArithmetic(Composite):
    """Tells what to do instead."""

    __slots__ = ()

    def _refused(self, other: Any = None) -> NoReturn:
        """Refuse."""
        del other
        raise TypeError(
            f"arithmetic of a {type(self).__name__} is not supported: make it dense with to_tensor() or "
            "tf.sparse.to_dense, or work on its values, by with_values() or tf.ragged.map_flat_values"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __rmul__ = __rtruediv__ = _refused
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _refused
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __abs__ = _refused

"""``tf.Variable`` as programs of record pipelines use it: a value that counts or remembers."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor


class Variable(Tensor):
    """A tensor whose value may be replaced; models have Keras's own variables, not these."""

    __slots__ = ("name", "trainable")

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        **hints: Any,
    ) -> None:
        del validate_shape, caching_device
        asked = [*hints, *(["variable_def"] if variable_def is not None else [])]
        if asked:
            raise NotImplementedError(f"tf.Variable({asked[0]}=...) is not supported: leave it out")
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are not providing a "
                "`variable_def`. You provided neither."
            )
        value = initial_value() if callable(initial_value) else initial_value
        super().__init__(np.array(array_of(value, dtype)))
        self.name, self.trainable = f"{name or 'Variable'}:0", trainable is None or trainable

    def value(self) -> Tensor:
        """Return the value that it has now."""
        return read(self)

    read_value = value

    def assign(self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Variable:
        """Replace the value; ValueError for another shape."""
        del use_locking, name, read_value
        return assign(self, value)

    def assign_add(self, delta: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Variable:
        """Add to the value."""
        del use_locking, name, read_value
        return assign(self, read(self) + delta)

    def assign_sub(self, delta: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Variable:
        """Take away from the value."""
        del use_locking, name, read_value
        return assign(self, read(self) - delta)

    def __repr__(self) -> str:
        """TensorFlow's spelling."""
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, "
            f"numpy={super().__repr__().partition('numpy=')[2]}"
        )

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        """TensorFlow's spelling."""
        return format(repr(self), spec)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the value that it has now."""
        return Variable, (self._values, self.trainable, True, None, self.name.removesuffix(":0"))

    def _put(self, values: Any) -> None:
        if values.shape != self._values.shape:
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch.The variable shape {self.shape}, and "
                f"the assigned value shape {TensorShape(values.shape)} are incompatible."
            )
        self._values = np.array(values)


@op("variable.read", always=True)
def read(variable: Variable) -> Tensor:
    """Value that a variable has now."""
    return Tensor(variable.values)


@op("variable.assign", always=True)
def assign(variable: Variable, value: Any) -> Variable:
    """Replace the value of a variable."""
    variable._put(array_of(value, variable.dtype))
    return variable

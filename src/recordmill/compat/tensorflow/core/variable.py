"""``tf.Variable`` for values that a data pipeline updates, such as a counter."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.tensor import Tensor


class Variable(Tensor):
    """``tf.Variable``: a tensor whose value can be replaced; for model weights, use `keras.Variable`."""

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
        **options: Any,
    ) -> None:
        del validate_shape, caching_device
        unsupported = [*options, *(["variable_def"] if variable_def is not None else [])]
        if unsupported:
            raise NotImplementedError(f"tf.Variable({unsupported[0]}=...) is not supported")
        if initial_value is None:
            raise ValueError("initial_value must be specified")
        value = initial_value() if callable(initial_value) else initial_value
        super().__init__(np.array(array_of(value, dtype)))
        self.name, self.trainable = f"{name or 'Variable'}:0", trainable is None or trainable

    def value(self) -> Tensor:
        """Return the current value."""
        return read_variable(self)

    read_value = value

    def assign(self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Variable:
        """Replace the value; raise ValueError if the shape differs."""
        del use_locking, name, read_value
        return assign_variable(self, value)

    def assign_add(self, delta: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Variable:
        """Add to the value."""
        del use_locking, name, read_value
        return assign_variable(self, read_variable(self) + delta)

    def assign_sub(self, delta: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Variable:
        """Subtract from the value."""
        del use_locking, name, read_value
        return assign_variable(self, read_variable(self) - delta)

    def __repr__(self) -> str:
        value = super().__repr__().partition("numpy=")[2]
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, numpy={value}"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __reduce__(self) -> tuple[Any, ...]:
        return Variable, (self._values, self.trainable, True, None, self.name.removesuffix(":0"))


@op("variable.read", always=True)
def read_variable(variable: Variable) -> Tensor:
    """Return the current value of a variable."""
    return Tensor(variable.values)


@op("variable.assign", always=True)
def assign_variable(variable: Variable, value: Any) -> Variable:
    """Replace the value of a variable."""
    values = array_of(value, variable.dtype)
    if values.shape != variable.values.shape:
        raise ValueError(f"value for variable {variable.name!r} must have shape {variable.shape}, got {values.shape}")
    variable._values = np.array(values)
    return variable

"""TensorFlow's operations on tensors of Keras's backend, as ``call``, losses and metrics of programs use them.

The names of operations lead to ``keras.ops``; a program's own loss or metric then runs compiled, and has gradients.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import dispatch
from recordmill.compat.tensorflow.core.errors import UnimplementedError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.keras.operations_table import OTHERS, SAME


class BackendOperations:
    """Runs the calls that touch a tensor of the backend, a variable of Keras, or an input of a model."""

    def __init__(self, library: Any) -> None:
        self._ops = library.ops
        self._kinds = (library.Variable, library.KerasTensor)
        self._backend = library.backend.backend()

    def touches(self, value: Any) -> bool:
        """Whether a value, or one inside it, belongs to Keras; NumPy's arrays never do."""
        if isinstance(value, tuple | list):
            return any(self.touches(one) for one in value)
        if isinstance(value, Mapping):
            return any(self.touches(one) for one in value.values())
        if isinstance(value, Tensor | np.ndarray | np.generic | str | bytes | int | float):
            return False
        return isinstance(value, self._kinds) or bool(self._ops.is_tensor(value))

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call."""
        ordered = _in_order(name, args, kwargs)
        if name in OTHERS:
            return OTHERS[name](*ordered)
        theirs = getattr(self._ops, SAME.get(name, ""), None)
        if theirs is None:
            raise UnimplementedError(
                f"operation {name!r} on a tensor of Keras's backend ({self._backend})",
                hint="use a function of tf.keras.ops in models, losses and metrics",
            )
        return theirs(*ordered)


def _in_order(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    bound = inspect.signature(dispatch.OPS[name]).bind(*args, **kwargs)
    bound.apply_defaults()
    return [_plain(value) for value in bound.args]


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.values
    return type(value)(_plain(one) for one in value) if type(value) in (tuple, list) else value


def register_operations(library: Any) -> None:
    """Let Keras's operations run the calls on its tensors."""
    dispatch.BESIDE.append(BackendOperations(library))

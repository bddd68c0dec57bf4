"""``tf.experimental.Optional``: an element, or that there is none."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.data.functions import to_result
from recordmill.compat.tensorflow.data.structures import mapped
from recordmill.compat.tensorflow.ops.specs import type_spec_from_value

_NOTHING: Any = object()


class Optional:
    """An element that may be missing; made by `from_value` and `empty`."""

    def __init__(self, value: Any, element_spec: Any) -> None:
        self._value, self._spec = value, element_spec

    @staticmethod
    def from_value(value: Any) -> Optional:
        """Of a value."""
        made = to_result(value)
        return Optional(made, mapped(type_spec_from_value, made))

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """Without a value."""
        return Optional(_NOTHING, element_spec)

    @property
    def element_spec(self) -> Any:
        """Specs of the value."""
        return self._spec

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value."""
        del name
        return as_tensor(self._value is not _NOTHING)

    def get_value(self, name: str | None = None) -> Any:
        """Return the value."""
        del name
        if self._value is _NOTHING:
            raise InvalidArgumentError("The given optional does not have a value.")
        return self._value


def get_next_as_optional(iterator: Any) -> Optional:
    """Next element of an iterator, as its method of this name gives it."""
    found: Optional = iterator.get_next_as_optional()
    return found

"""Values that a program feeds, and what it does before it begins."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import as_tensor
from recordmill.compat.tensorflow.graphs.graph import GRAPH
from recordmill.compat.tensorflow.graphs.symbols import Operation, Symbol
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.dataclass import dataclass


@dataclass(frozen=True, eq=False, slots=True)
class Fed:
    """A value that is fed."""

    number: int
    spec: TensorSpec
    default: Any = None

    def inputs(self) -> set[int]:
        """None."""
        return set()

    def make(self, known: dict[int, Any]) -> None:
        """Take the default."""
        if self.default is None:
            raise InvalidArgumentError(
                f"You must feed a value for placeholder tensor 'value_{self.number}' with dtype {self.spec.dtype.name} "
                f"and shape {self.spec.shape}"
            )
        known[self.number] = self.default


def placeholder(dtype: Any, shape: Any = None, name: Any = None) -> Symbol:
    """Value that ``feed_dict`` gives."""
    del name
    return _fed(TensorSpec(shape, as_dtype(dtype)), None)


def placeholder_with_default(input: Any, shape: Any, name: Any = None) -> Symbol:  # noqa: A002 (TensorFlow's name)
    """Value that ``feed_dict`` may give; as `placeholder`."""
    del name
    default = as_tensor(input)
    return _fed(TensorSpec(shape, default.dtype), default)


def _fed(spec: TensorSpec, default: Any) -> Symbol:
    (symbol,) = GRAPH.add(Fed(len(GRAPH.steps), spec, default), [spec])
    symbol.spec = spec
    return symbol


def global_variables_initializer() -> Operation:
    """Nothing: variables and tables are ready as they are made."""
    return Operation()


local_variables_initializer = tables_initializer = initialize_all_variables = global_variables_initializer
initialize_local_variables = initialize_all_tables = global_variables_initializer

"""Trace a function: call it once with symbolic tensors, and record the operations that it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.dispatch import RECORDING, call_operation
from recordmill.compat.tensorflow.core.variable import Variable
from recordmill.compat.tensorflow.data.infer_specs import infer_specs
from recordmill.compat.tensorflow.data.structures import TENSORS, leaves, map_structure, pack_structure, spec_of
from recordmill.compat.tensorflow.data.symbolic import (
    Path,
    SymbolicTensor,
    Untraceable,
    copy_containers,
    find_instances,
    find_symbolic,
    prepare_substitution,
    value_at_path,
)
from recordmill.compat.tensorflow.ops.specs import TensorSpec

# Prefixes of the names of operations that run user functions or have side effects. A function that calls such an
# operation runs on the elements in order.
_ORDERED = ("control.", "io.write_file")
# Operations that call Python functions. These functions may capture symbolic tensors in closures, where the tracer does
# not find the tensors.
_CLOSURES = frozenset(
    f"control.{name}"
    for name in ("case", "cond", "foldl", "foldr", "map_fn", "scan", "switch_case", "vectorized_map", "while_loop")
)
IMAGE_DECODERS = frozenset(
    f"io.decode_{name}" for name in ("and_crop_jpeg", "bmp", "gif", "image", "jpeg", "png", "webp")
)


class RecordedCall:
    """Recorded call of an operation. `outputs` has (number, path in the result) for each tensor in the result."""

    __slots__ = ("_args", "_kwargs", "args", "inputs", "kwargs", "name", "outputs")

    def __init__(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], outputs: tuple[tuple[int, Path], ...]
    ) -> None:
        self.name, self.args, self.kwargs, self.outputs = name, args, kwargs, outputs
        self.inputs = frozenset(one.number for one in find_symbolic((args, kwargs)))
        self._args = [prepare_substitution(one) for one in args]
        self._kwargs = {key: prepare_substitution(one) for key, one in kwargs.items()}

    def arguments(self, known: Mapping[int, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments with the values in `known` in place of symbolic tensors."""
        return tuple([one(known) for one in self._args]), {key: one(known) for key, one in self._kwargs.items()}

    def run(self, known: dict[int, Any]) -> None:
        """Run the operation on the values in `known`, and add its results to `known`."""
        args, kwargs = self.arguments(known)
        result = call_operation(self.name, *args, **kwargs)
        for number, path in self.outputs:
            known[number] = value_at_path(result, path)


class Trace:
    """Recorded operations of a function. Values are numbered: first the leaves of the argument, then all results."""

    def __init__(self, num_inputs: int, calls: tuple[RecordedCall, ...], result: Any) -> None:
        self.num_inputs, self.calls, self.result = num_inputs, calls, result
        self.in_order = next((call.name for call in calls if call.name.startswith(_ORDERED)), None)
        self.decodes_images = any(call.name in IMAGE_DECODERS for call in calls)

    def __call__(self, value: Any) -> Any:
        """Run the operations on one element."""
        known: dict[int, Any] = dict(enumerate(leaves(value)))
        for call in self.calls:
            call.run(known)
        return map_structure(lambda leaf: known[leaf.number] if isinstance(leaf, SymbolicTensor) else leaf, self.result)

    def known_specs(self) -> Any:
        """Return the specs of the result, with None where a spec is not known."""
        return map_structure(lambda leaf: leaf.spec if isinstance(leaf, SymbolicTensor) else spec_of(leaf), self.result)

    def spec(self) -> Any:
        """Return the specs of the result, or None if some are unknown."""
        specs = self.known_specs()
        return None if any(leaf is None for leaf in leaves(specs)) else specs


class _Tracer:
    """Records the operations of one function, while `core.dispatch.RECORDING` is set to the tracer."""

    def __init__(self, fixed_size: bool) -> None:
        self.calls: list[RecordedCall] = []
        self._count, self._fixed_size = 0, fixed_size

    def create_symbol(self, spec: TensorSpec | None) -> SymbolicTensor:
        value = SymbolicTensor(self._count, spec)
        self._count += 1
        return value

    def owns_value(self, value: Any) -> bool:
        if next(find_instances(value, Variable), None) is not None:
            raise Untraceable("the function uses a tf.Variable, whose value may change")
        symbol = next(find_symbolic(value), None)
        if symbol is not None and symbol.of_graph:
            raise Untraceable("the function uses a symbolic tensor of a TensorFlow 1 graph")
        return symbol is not None

    def handle_call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name.startswith("variable."):
            raise Untraceable("the function uses a tf.Variable, whose value may change")
        if name.startswith("lookup.changing"):
            raise Untraceable("the function uses a table that may change")
        if name in _CLOSURES:
            raise Untraceable(f"{name} calls Python functions, and tensors in their closures cannot be traced")
        outputs: list[tuple[int, Path]] = []
        result = self._make_symbols(infer_specs(name, args, kwargs), (), outputs)
        if name == "image.central_crop":
            args, kwargs = self._round_crop_fraction(*args, **kwargs), {}
        self.calls.append(RecordedCall(name, copy_containers(args), copy_containers(kwargs), tuple(outputs)))
        return result

    def _make_symbols(self, spec: Any, path: Path, outputs: list[tuple[int, Path]]) -> Any:
        """Create one symbolic tensor per inferred spec, and add its number and path to `outputs`."""
        if isinstance(spec, dict):
            return {key: self._make_symbols(one, (*path, key), outputs) for key, one in spec.items()}
        if isinstance(spec, list | tuple):
            rows = [self._make_symbols(one, (*path, key), outputs) for key, one in enumerate(spec)]
            return type(spec)(rows)
        value = self.create_symbol(spec)
        outputs.append((value.number, path))
        return value

    def _round_crop_fraction(self, image: Any, central_fraction: Any) -> tuple[Any, Any]:
        """Return the arguments of central_crop. If the image size is unknown, round to float32 as TensorFlow does."""
        spec = getattr(image, "spec", None)
        is_known = self._fixed_size if spec is None or not spec.shape.rank else None not in list(spec.shape)[-3:-1]
        is_changed = type(central_fraction) is float and not is_known
        return image, np.float32(central_fraction) if is_changed else central_fraction


def trace(function: Callable[[Any], Any], spec: Any) -> Trace:
    """Trace a function for elements with the spec `spec`; raise Untraceable if it cannot be traced."""
    if not all(isinstance(leaf, TensorSpec) for leaf in leaves(spec)):
        raise Untraceable("the elements contain datasets, ragged or sparse tensors")
    tracer = _Tracer(has_fixed_size(spec))
    inputs = list(map(tracer.create_symbol, leaves(spec)))
    token = RECORDING.set(tracer)
    try:
        result = function(pack_structure(spec, inputs))
    except Untraceable:
        raise
    except Exception as error:
        reason = f"called with symbolic tensors, the function raises {type(error).__name__}: {error}"
        raise Untraceable(reason) from error
    finally:
        RECORDING.reset(token)
    for leaf in leaves(result):
        if not isinstance(leaf, (SymbolicTensor, *TENSORS)):
            raise Untraceable(f"the function returns a {type(leaf).__name__}")
    return Trace(len(inputs), tuple(tracer.calls), result)


def converts_to_float32(call: RecordedCall) -> bool:
    """Return whether a call converts its argument to float32."""
    if call.name not in ("array.cast", "image.convert_image_dtype") or call.kwargs.keys() - {"dtype"}:
        return False
    targets = [*call.args[1:], *call.kwargs.values()]
    try:
        return len(targets) == 1 and dtypes.as_dtype(targets[0]) == dtypes.float32
    except TypeError:
        return False


def count_uses(calls: Sequence[RecordedCall], result: Any) -> Counter[int]:
    """Count the uses of each value in the inputs of `calls` and in `result`; the keys are value numbers."""
    uses = Counter(number for call in calls for number in call.inputs)
    uses.update(leaf.number for leaf in leaves(result) if isinstance(leaf, SymbolicTensor))
    return uses


def has_fixed_size(spec: Any) -> bool:
    """Return whether all shapes are known and no leaf is a string. A string may decode to an image of any size."""
    return all(leaf.dtype != dtypes.string and leaf.shape.is_fully_defined() for leaf in leaves(spec))

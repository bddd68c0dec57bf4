"""Nodes of ``interleave``, ``flat_map``, ``zip``, ``concatenate``, ``enumerate`` and ``choose_from_datasets``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set as AbstractSet
from itertools import islice
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.elements import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Element,
    ExecutionOptions,
    FailedElement,
    Node,
    NoElementsError,
    Step,
    require_node,
)
from recordmill.compat.tensorflow.data.functions import UserFunction, to_op_error
from recordmill.compat.tensorflow.data.structures import merge_specs, pack_structure, to_int
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.concurrency.threads import num_cpus

# TensorFlow reserves three threads for each dataset that `interleave` opens: one to read and two to prefetch.
_THREADS_PER_DATASET = 3


class Interleave(Node):
    """Interleaved elements of the datasets that a function returns; for `flat_map`, `cycle_length` is 1."""

    runs_python = True

    def __init__(self, node: Node, function: Callable[..., Any], cycle_length: int, block_length: int) -> None:
        super().__init__(node)
        for name, value in (("cycle_length", cycle_length), ("block_length", block_length)):
            if value < 1:
                raise InvalidArgumentError(f"{name} must be greater than zero.")
        self._function, self._cycle, self._block = UserFunction(function, node), cycle_length, block_length

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Yield elements of the open datasets in turn; open another dataset in place of an exhausted one."""
        inputs = self.input.iterate(execution)
        slots: list[Iterator[Step] | None] = [None] * self._cycle
        has_more, current = True, 0
        while has_more or any(slot is not None for slot in slots):
            if slots[current] is None and has_more:
                element = next(inputs, None)
                if element is None:
                    has_more = False
                    continue
                opened = self._open_dataset(element, execution)
                if isinstance(opened, FailedElement):
                    yield opened
                    continue
                slots[current] = opened
            slot = slots[current]
            if slot is not None:
                count = 0
                for step in islice(slot, self._block):
                    count += 1
                    yield step
                if count < self._block:
                    slots[current] = None
            current = (current + 1) % self._cycle

    def _open_dataset(self, element: Step, execution: ExecutionOptions) -> Iterator[Step] | FailedElement:
        if isinstance(element, FailedElement):
            return element
        try:
            return self._create_inner_node(element.value).iterate(execution)
        except Exception as error:  # noqa: BLE001 (raised where the element is requested)
            return FailedElement(to_op_error(error, element))

    def _create_inner_node(self, value: Any) -> Node:
        return require_node(self._function.call_python(value), "The function must return a `tf.data.Dataset` object")

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        for value in self.input.iterate_sample_values():
            return self._create_inner_node(value).spec()
        raise NoElementsError(
            "element_spec cannot be inferred from the first inner dataset, because the input is empty"
        )

    def iterate_sample_values(self) -> Iterator[Any]:
        for value in self.input.iterate_sample_values():
            yield from self._create_inner_node(value).iterate_sample_values()


def choose_cycle_length(cycle_length: Any, num_parallel_calls: Any) -> int:
    """Check or choose `cycle_length`, the number of datasets that `interleave` opens at the same time."""
    if cycle_length in (None, -1):
        return default_cycle_length(num_parallel_calls)
    cycle = to_int(cycle_length, "cycle_length")
    if num_parallel_calls is not None and cycle > 0 and to_int(num_parallel_calls, "num_parallel_calls") > cycle:
        raise InvalidArgumentError(
            f"num_parallel_calls must be at most cycle_length ({cycle}), got {num_parallel_calls}"
        )
    return cycle


def default_cycle_length(num_parallel_calls: Any = None) -> int:
    """Return the `cycle_length` that TensorFlow would choose for `num_parallel_calls` and the CPUs of this machine."""
    cpus = num_cpus()
    if num_parallel_calls is None:
        return cpus
    calls = to_int(num_parallel_calls, "num_parallel_calls")
    return -(-cpus // _THREADS_PER_DATASET) if calls == -1 else min(max(calls, 1), cpus)


class Zip(Node):
    """Structures with one element of each input dataset; the iteration ends with the shortest dataset."""

    def __init__(self, structure: Any, *inputs: Node) -> None:
        super().__init__(*inputs)
        self._structure = structure

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Yield structures with one element per input; if an input fails, yield the error and not the structure."""
        for steps in zip(*(node.iterate(execution) for node in self.inputs), strict=False):
            failed = next((step for step in steps if isinstance(step, FailedElement)), None)
            if failed is not None:
                yield failed
                continue
            elements = [step for step in steps if isinstance(step, Element)]
            record = next((element.record for element in elements if element.record is not None), None)
            yield Element(pack_structure(self._structure, [element.value for element in elements]), record)

    def cardinality(self) -> int:
        lengths = [node.cardinality() for node in self.inputs]
        if UNKNOWN_CARDINALITY in lengths:
            return UNKNOWN_CARDINALITY
        return min((length for length in lengths if length >= 0), default=INFINITE_CARDINALITY)

    def spec(self) -> Any:
        return pack_structure(self._structure, [node.spec() for node in self.inputs])

    def iterate_sample_values(self) -> Iterator[Any]:
        for values in zip(*(node.iterate_sample_values() for node in self.inputs), strict=False):
            yield pack_structure(self._structure, values)


class Concatenate(Node):
    """Elements of one dataset, followed by the elements of another."""

    def __init__(self, first: Node, second: Node) -> None:
        super().__init__(first, second)
        if not (calls_python(first) or calls_python(second)):
            self.spec()  # This call raises an error if the two datasets have incompatible elements.

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        for node in self.inputs:
            yield from node.iterate(execution)

    def cardinality(self) -> int:
        lengths = [node.cardinality() for node in self.inputs]
        if INFINITE_CARDINALITY in lengths:
            return INFINITE_CARDINALITY
        return UNKNOWN_CARDINALITY if UNKNOWN_CARDINALITY in lengths else sum(lengths)

    def spec(self) -> Any:
        return merge_specs(self.inputs[0].spec(), self.inputs[1].spec())


class Enumerate(Node):
    """Pairs of a number and an element; failed elements are counted, too."""

    def __init__(self, node: Node, start: int) -> None:
        super().__init__(node)
        self._start = start

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        for number, element in enumerate(self.input.iterate(execution), self._start):
            if isinstance(element, FailedElement):
                yield element
            else:
                yield Element((Tensor(np.array(number, np.int64)), element.value), element.record)

    def spec(self) -> Any:
        return TensorSpec([], dtypes.int64), self.input.spec()

    def iterate_sample_values(self) -> Iterator[Any]:
        for number, value in enumerate(self.input.iterate_sample_values(), self._start):
            yield Tensor(np.array(number, np.int64)), value


class ChooseInput(Node):
    """Elements taken from several inputs; for each element, `choices` yields the number of its input."""

    def __init__(self, nodes: list[Node], choices: Node, stop: bool, unused: AbstractSet[int] = frozenset()) -> None:
        super().__init__(*nodes)
        self._choices, self._stop, self._unused = choices, stop, unused

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Yield the chosen elements; end when all inputs are exhausted or, with `stop`, when one input is exhausted."""
        active: list[Iterator[Step] | None] = [
            None if number in self._unused else node.iterate(execution) for number, node in enumerate(self.inputs)
        ]
        for choice in self._choices.iterate(execution):
            if isinstance(choice, FailedElement):
                yield choice
                continue
            number = int(choice.value.values)
            if not 0 <= number < len(active):
                yield FailedElement(InvalidArgumentError(f"Selector index out of range: {number} >= {len(active)}"))
                continue
            chosen = active[number]
            step = None if chosen is None else next(chosen, None)
            if step is not None:
                yield step
                continue
            active[number] = None
            if self._stop or all(one is None for one in active):
                return

    def cardinality(self) -> int:
        is_infinite = any(node.cardinality() == INFINITE_CARDINALITY for node in self.inputs)
        return INFINITE_CARDINALITY if is_infinite else UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        spec = self.inputs[0].spec()
        for node in self.inputs[1:]:
            spec = merge_specs(spec, node.spec())
        return spec


def calls_python(node: Node) -> bool:
    """Return whether a node or one of the nodes before it calls user functions."""
    return node.runs_python or any(map(calls_python, node.inputs))

"""Run a traced function on whole batches: parse all records, decode all images and compute on stacked arrays."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core import random_state
from recordmill.compat.tensorflow.core.dispatch import call_operation
from recordmill.compat.tensorflow.core.rows import StringVector
from recordmill.compat.tensorflow.core.sparse import FullSparseVector, SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.collate import are_stackable, stack_arrays, stack_into_columns
from recordmill.compat.tensorflow.data.decode_step import DecodeStep, plan_decode_step
from recordmill.compat.tensorflow.data.elements import Element
from recordmill.compat.tensorflow.data.rules import RULES, BatchColumn
from recordmill.compat.tensorflow.data.structures import leaves, take_row
from recordmill.compat.tensorflow.data.symbolic import SymbolicTensor, find_symbolic, value_at_path
from recordmill.compat.tensorflow.data.trace import RecordedCall, Trace, count_uses
from recordmill.compat.tensorflow.images.random import (
    check_crop_size,
    crop_window_view,
    draw_crop_offsets,
    draw_flip_number,
    flip_selected,
)
from recordmill.compat.tensorflow.io.features import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature

# One value per sample of a batch: stacked into one array, or a list if the samples differ in shape.
BatchValue = BatchColumn | list[Any]
# Arithmetic runs on chunks of samples of about this size in bytes, so that a chunk stays in the processor's cache.
_CHUNK_BYTES = 1 << 20
# Largest number of bytes of freed memory that a native map keeps and reuses for the results of later batches.
_REUSED_BYTES = 256 << 20
# Operations that a native map runs on each sample separately. Stacking their results afterward is cheap, because the
# results are small.
_PER_SAMPLE = frozenset({"sparse.to_dense", "io.extract_jpeg_shape", "image.sample_distorted_bounding_box"})


class NotNativeError(ValueError):
    """Raised if the samples of a batch cannot be processed together. The caller then processes them one by one."""


class BatchSamples:
    """Samples of a batch, each with its own random state."""

    def __init__(self, positions: Sequence[tuple[int, ...]], contexts: list[contextvars.Context] | None = None) -> None:
        self._positions = positions
        if contexts is not None:
            self.contexts = contexts

    def __len__(self) -> int:
        return len(self._positions)

    @cached_property
    def contexts(self) -> list[contextvars.Context]:
        """One `contextvars` context per sample; it keeps the sample's random state between operations."""
        contexts = [contextvars.copy_context() for _ in self._positions]
        for context, position in zip(contexts, self._positions, strict=True):
            context.run(random_state.set_element_state, *position)
        return contexts

    def generators(self, seed: int | None) -> Iterator[np.random.Generator]:
        """Yield one random generator per sample, for a random operation with the seed `seed`."""
        for context in self.contexts:
            yield context.run(random_state.current_generator, seed)

    def slice(self, start: int, stop: int) -> BatchSamples:
        """Return the samples from `start` to `stop`."""
        return BatchSamples(self._positions[start:stop], self.contexts[start:stop])


class NativeMap:
    """Plan that runs a traced function on whole batches."""

    def __init__(self, trace: Trace, steps: list[RecordedCall | DecodeStep]) -> None:
        self.trace, self._memory = trace, rm.Memory(_REUSED_BYTES)
        last = max((position for position, step in enumerate(steps) if _processes_whole_batch(step)), default=-1)
        self._native_steps, self._arithmetic = steps[: last + 1], steps[last + 1 :]
        self.parses = any(isinstance(step, RecordedCall) and _is_batchable_parse_call(step) for step in steps)
        self.decoders = [step.description for step in steps if isinstance(step, DecodeStep)]
        results = {leaf.number for leaf in leaves(trace.result) if isinstance(leaf, SymbolicTensor)}
        used = results.union(*(step.inputs for step in steps))
        self.used = sorted(number for number in used if number < trace.num_inputs)
        created = {number for step in self._arithmetic for number, _ in step.outputs}
        self._chunk_inputs = set().union(*(step.inputs for step in self._arithmetic)) - created
        self._chunk_outputs = results & created

    @classmethod
    def plan(cls, trace: Trace) -> NativeMap | str:
        """Return the plan for a traced function, or the reason why it runs element by element."""
        if not trace.calls:
            return "the function runs no operations"
        uses = count_uses(trace.calls, trace.result)
        steps: list[RecordedCall | DecodeStep] = []
        skipped: set[int] = set()
        for position, call in enumerate(trace.calls):
            if position in skipped:
                continue
            followers = list(_find_call_chain(position, trace.calls, uses))
            step = plan_decode_step([trace.calls[one] for one in followers])
            if step is not None:
                skipped.update(followers[: len(step.calls)])
                steps.append(step)
            elif (
                _is_batchable_parse_call(call) or call.name in RULES or call.name in _RANDOM or call.name in _PER_SAMPLE
            ):
                steps.append(call)
            else:
                return f"{call.name} has no batch rule for these arguments"
        return cls(trace, steps)

    def run(self, columns: Sequence[BatchValue], positions: Sequence[tuple[int, ...]]) -> list[BatchValue]:
        """Run the function on a whole batch. `columns` has one column per input; the result has one column per leaf."""
        samples, known = BatchSamples(positions), dict(enumerate(columns))
        self._run_plan_steps(self._native_steps, known, samples)
        size = self._chunk_size(known, len(samples))
        if size < len(samples):
            self._run_chunks(known, samples, size)
        else:
            self._run_plan_steps(self._arithmetic, known, samples)
        return [_to_result_column(leaf, known, len(samples)) for leaf in leaves(self.trace.result)]

    def _chunk_size(self, known: Mapping[int, BatchValue], count: int) -> int:
        if len(self._arithmetic) < 2:
            return count
        num_bytes = 1
        for number in self._chunk_inputs:
            column = known[number]
            if isinstance(column, list):
                return count
            if not isinstance(column.tensor, StringVector):
                num_bytes = max(num_bytes, column.array.nbytes // count)
        return max(_CHUNK_BYTES // num_bytes, 1)

    def _run_chunks(self, known: dict[int, BatchValue], samples: BatchSamples, size: int) -> None:
        results: dict[int, NDArray[Any]] = {}
        for start in range(0, len(samples), size):
            stop = min(start + size, len(samples))
            chunk: dict[int, Any] = {
                number: BatchColumn(Tensor(known[number].array[start:stop]))  # type: ignore[union-attr]
                for number in self._chunk_inputs
            }
            self._run_plan_steps(self._arithmetic, chunk, samples.slice(start, stop))
            for number in self._chunk_outputs:
                if isinstance(chunk[number], list):
                    raise NotNativeError("the results of the samples differ in shape")
                part = chunk[number].array
                if number not in results:
                    results[number] = self._memory.empty((len(samples), *part.shape[1:]), part.dtype)
                results[number][start:stop] = part
        known.update({number: BatchColumn(Tensor(array)) for number, array in results.items()})

    def _run_plan_steps(
        self, steps: Sequence[RecordedCall | DecodeStep], known: dict[int, BatchValue], samples: BatchSamples
    ) -> None:
        for step in steps:
            if isinstance(step, DecodeStep):
                column = step.run(known, self._memory.empty)
                if column is None:
                    raise NotNativeError("these images cannot be decoded together")
                known[step.output] = column
            elif _is_batchable_parse_call(step):
                known.update(_parse_records(step, known))
            elif step.name in _PER_SAMPLE or any(isinstance(known[number], list) for number in step.inputs):
                known.update(_run_per_sample(step, known, samples))
            elif step.name in _RANDOM:
                known.update(_run_random_operation(step, known, samples))
            else:
                known.update(_run_with_batch_rule(step, known, samples))


def _processes_whole_batch(step: RecordedCall | DecodeStep) -> bool:
    return isinstance(step, DecodeStep) or _is_batchable_parse_call(step)


def _find_call_chain(position: int, calls: Sequence[RecordedCall], uses: Mapping[int, int]) -> Iterator[int]:
    """Yield the positions of a chain of calls from `position` on. Only the next call uses the result of a call."""
    yield position
    while len(calls[position].outputs) == 1 and uses[number := calls[position].outputs[0][0]] == 1:
        position = next((other for other, call in enumerate(calls) if number in call.inputs), -1)
        if position < 0 or len(calls[position].inputs) > 1:
            return
        yield position


def _to_result_column(leaf: Any, known: Mapping[int, BatchValue], count: int) -> BatchValue:
    if isinstance(leaf, SymbolicTensor):
        return known[leaf.number]
    if type(leaf) is Tensor:
        return BatchColumn(Tensor(np.broadcast_to(leaf.values, (count, *leaf.values.shape))))
    return [leaf] * count


def _run_with_batch_rule(
    call: RecordedCall, known: Mapping[int, BatchValue], samples: BatchSamples
) -> dict[int, BatchValue]:
    """Run an operation once for all samples, with the arguments that its batch rule returns."""
    args, kwargs = RULES[call.name](*call.arguments(known), len(samples))
    result = call_operation(call.name, *args, **kwargs)
    columns: dict[int, BatchValue] = {}
    for number, path in call.outputs:
        tensor = value_at_path(result, path)
        if tensor.values.shape[:1] != (len(samples),):
            raise NotNativeError(f"{call.name} does not return one result per sample")
        columns[number] = BatchColumn(tensor)
    return columns


def _run_per_sample(
    call: RecordedCall, known: Mapping[int, BatchValue], samples: BatchSamples
) -> dict[int, BatchValue]:
    """Run an operation on one sample after another."""
    columns = {number: split_into_rows(known[number]) for number in call.inputs}
    results = []
    for row, context in enumerate(samples.contexts):
        sample = {number: column[row] for number, column in columns.items()}
        context.run(call.run, sample)
        results.append(sample)
    return {number: stack_into_column([sample[number] for sample in results]) for number, _ in call.outputs}


def split_into_rows(values: BatchValue) -> list[Any]:
    """Split a batch value into one value per sample."""
    if isinstance(values, list):
        return values
    return [take_row(values.array, row) for row in range(len(values.array))]


def stack_into_column(rows: Sequence[Any]) -> BatchValue:
    """Stack the values of samples into a column if they have one shape and dtype; else return a list."""
    return BatchColumn(Tensor(stack_arrays([row.values for row in rows]))) if are_stackable(rows) else list(rows)


def to_columns(elements: Sequence[Element], used: Sequence[int] | None = None) -> list[BatchValue]:
    """Return one column per leaf of the elements; the columns that are not in `used` are empty."""
    stacked = stack_into_columns(elements, used)
    if stacked is not None:
        return [[] if array is None else BatchColumn(Tensor(array)) for array in stacked]
    columns = zip(*(leaves(element.value) for element in elements), strict=True)
    return [stack_into_column(rows) if used is None or number in used else [] for number, rows in enumerate(columns)]


# Random operations: each sample has its own generators, so that the results are the same as without batching.


def _run_random_operation(
    call: RecordedCall, known: Mapping[int, BatchValue], samples: BatchSamples
) -> dict[int, BatchValue]:
    (value, *args), kwargs = call.arguments(known)
    if type(value) is not BatchColumn or next(find_symbolic((call.args[1:], call.kwargs)), None) is not None:
        raise NotNativeError(f"an argument of {call.name} differs between samples")
    array = _RANDOM[call.name](samples.generators, value.array, *args, **kwargs)
    return {call.outputs[0][0]: BatchColumn(Tensor(array))}


_Generators = Callable[[int | None], Iterator[np.random.Generator]]


def _crop_samples_randomly(
    generators: _Generators, values: NDArray[Any], size: Any, seed: int | None = None, name: Any = None
) -> NDArray[Any]:
    del name
    lengths = check_crop_size(values[0], size).tolist()
    out = np.empty((len(values), *lengths), values.dtype)
    for target, value, generator in zip(out, values, generators(seed), strict=True):
        target[...] = crop_window_view(value, draw_crop_offsets(generator, value.shape, lengths), lengths)
    return out


def _make_random_flip(axis: int) -> Callable[..., NDArray[Any]]:
    def flip_samples(generators: _Generators, pixels: NDArray[Any], seed: int | None = None) -> NDArray[Any]:
        if pixels.ndim != 4:
            raise NotNativeError("each sample must be a single image")
        is_flipped = np.array([draw_flip_number(generator) < 0.5 for generator in generators(seed)])
        return flip_selected(pixels, axis, is_flipped)

    return flip_samples


_RANDOM: dict[str, Callable[..., NDArray[Any]]] = {
    "image.random_crop": _crop_samples_randomly,
    "image.random_flip_left_right": _make_random_flip(-2),
    "image.random_flip_up_down": _make_random_flip(-3),
}

# Parsing: all records of a batch are parsed in one native call.

_PARSE_ARGUMENTS = {
    "io.parse_single_example": ("serialized", "features"),
    "io.parse_single_sequence_example": ("serialized", "context_features", "sequence_features"),
}


def _bind_parse_arguments(call: RecordedCall) -> dict[str, Any] | None:
    """Return the arguments of a parsing call by name, or None if an argument is not supported for batches."""
    names = _PARSE_ARGUMENTS.get(call.name, ())
    arguments = dict(zip(names, call.args, strict=False)) | call.kwargs
    return arguments if set(arguments) <= set(names) and len(arguments) == len(call.args) + len(call.kwargs) else None


def _is_batchable_parse_call(call: RecordedCall) -> bool:
    """Return whether a call parses a record with features that are supported for many records at once."""
    arguments = _bind_parse_arguments(call)
    if arguments is None or not isinstance(arguments.get("serialized"), SymbolicTensor):
        return False
    is_example = call.name == "io.parse_single_example"
    features = (arguments.get("features" if is_example else "context_features") or {}).values()
    frames = (arguments.get("sequence_features") or {}).values()
    return all(
        isinstance(one, FixedLenFeature) or (is_example and _has_variable_length(one)) for one in features
    ) and all(isinstance(one, FixedLenSequenceFeature) for one in frames)


def _has_variable_length(feature: Any) -> bool:
    is_sequence = isinstance(feature, FixedLenSequenceFeature) and feature.allow_missing
    return is_sequence or isinstance(feature, VarLenFeature)


def _parse_records(call: RecordedCall, known: Mapping[int, BatchValue]) -> dict[int, BatchValue]:
    (number,) = call.inputs
    records = known[number]
    if isinstance(records, list) or records.tensor.ndim != 1:
        raise NotNativeError("each sample must be one serialized record")
    arguments = _bind_parse_arguments(call) or {}
    if "features" in arguments:
        return _parse_example_records(call, arguments["features"], records.tensor)
    context, frames = arguments.get("context_features"), arguments.get("sequence_features")
    *parsed, lengths = call_operation("io.parse_sequence_example", records.tensor, context, frames)
    columns: dict[int, BatchValue] = {}
    for output, path in call.outputs:
        value = value_at_path(parsed, path)
        if path[0] == 0:
            columns[output] = BatchColumn(value)
        else:
            counts = lengths[path[1]].values.tolist()
            columns[output] = [Tensor(row[:count]) for row, count in zip(value.values, counts, strict=True)]
    return columns


def _parse_example_records(call: RecordedCall, features: Mapping[str, Any], records: Tensor) -> dict[int, BatchValue]:
    batched = {key: VarLenFeature(one.dtype) if _has_variable_length(one) else one for key, one in features.items()}
    parsed = call_operation("io.parse_example", records, batched)
    columns: dict[int, BatchValue] = {}
    for number, (key,) in call.outputs:
        value = parsed[key]
        is_sparse = isinstance(value, SparseTensor)
        columns[number] = (
            _split_sparse_by_record(value, len(records), features[key]) if is_sparse else BatchColumn(value)
        )
    return columns


def _split_sparse_by_record(sparse: SparseTensor, count: int, feature: Any) -> list[Any]:
    """Split the sparse tensor of a batch into one sparse tensor per record, as if each record were parsed alone."""
    values = sparse.values.values
    splits = np.searchsorted(sparse.indices.values[:, 0], np.arange(count + 1)).tolist()
    rows = [values[start:stop] for start, stop in pairwise(splits)]
    if isinstance(feature, VarLenFeature):
        return [FullSparseVector(Tensor(row)) for row in rows]
    shape = (-1, *np.atleast_1d(feature.shape).astype(int).tolist())
    return [Tensor(row.reshape(shape)) for row in rows]

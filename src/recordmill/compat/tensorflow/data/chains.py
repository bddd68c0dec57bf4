"""Arithmetic with constants, one operation behind the other, in the memory that its result has in the batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.short_axes import combined
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.data.recorded import Recorded, recorded_in
from recordmill.compat.tensorflow.data.recording import Call
from recordmill.compat.tensorflow.data.records import Column
from recordmill.compat.tensorflow.data.rules import Whole
from recordmill.compat.tensorflow.data.stacking import alike, join

Floats = NDArray[np.float32]
Room = Callable[[tuple[int, ...], Any], NDArray[Any]]
_UFUNCS: dict[str, np.ufunc] = {
    "math.add": np.add,
    "math.subtract": np.subtract,
    "math.multiply": np.multiply,
    "math.truediv": np.divide,
    "math.divide": np.divide,
    "math.maximum": np.maximum,
    "math.minimum": np.minimum,
}
_CLIP = "math.clip_by_value"
# Ufunc, constant, and whether the constant is on the left.
_Link = tuple[np.ufunc, Floats, bool]
# What makes floats of levels, and by how much they are multiplied then.
_BEGINNINGS = {"array.cast": None, "image.convert_image_dtype": np.float32(1 / 255)}
# Bytes of a sample from which on it stays in the processor's cache only by itself.
_LARGE = 64 << 10


class Chain:
    """Operations, each on the result of the one before it."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self.calls = tuple(calls)
        self._begins = calls[0].name if calls[0].name in _BEGINNINGS else None
        self._links = [link for call in calls if call.name not in _BEGINNINGS for link in _links(call)]

    @property
    def inputs(self) -> frozenset[int]:
        """Number of the value that it takes."""
        return self.calls[0].inputs

    @property
    def makes(self) -> frozenset[int]:
        """Number of the value that it gives."""
        return self.calls[-1].makes

    @property
    def output(self) -> int:
        """Number of the value that it gives."""
        return next(iter(self.makes))

    def run(self, known: Mapping[int, Column], room: Room) -> Whole | None:
        """Do it to samples of floats, or of 8-bit levels that become floats."""
        (number,) = self.inputs
        column = known[number]
        rows = column.array if isinstance(column, Whole) else [row.values for row in column] if alike(column) else []
        if not len(rows) or not self._takes(rows[0]):
            return None
        made: Floats = room((len(rows), *rows[0].shape), np.float32)
        with np.errstate(all="ignore"):
            if rows[0].nbytes < _LARGE:
                self._do(rows if isinstance(rows, np.ndarray) else join(rows), made)
            else:
                for row, place in zip(rows, made, strict=True):
                    self._do(row, place)
        return Whole(made)

    def _takes(self, row: NDArray[Any]) -> bool:
        known = row.dtype == np.float32 or (self._begins is not None and row.dtype == np.uint8)
        return known and all(np.broadcast_shapes(row.shape, one.shape) == row.shape for _, one, _ in self._links)

    def _do(self, source: NDArray[Any], made: Floats) -> None:
        factor = _BEGINNINGS[self._begins] if self._begins and source.dtype == np.uint8 else None
        if factor is not None:
            np.copyto(made, source)
            source = np.multiply(made, factor, out=made)
        elif source.dtype != np.float32 or not self._links or not source.flags.c_contiguous:
            np.copyto(made, source)
            source = made
        for ufunc, constant, is_left in self._links:
            one, other = (constant, source) if is_left else (source, constant)
            source = combined(ufunc, one, other, out=made)


def is_link(call: Call) -> bool:
    """Whether a call is arithmetic of one value with constants of 32-bit floats, or begins such."""
    if len(call.inputs) != 1 or len(call.outputs) != 1 or call.outputs[0][1] is not None:
        return False
    return begins(call) if call.name in _BEGINNINGS else bool(_links(call))


def is_arithmetic(call: Call, axes: int) -> bool:
    """Return whether a call is arithmetic with numbers, or with a vector for the channels."""
    return call.name not in _BEGINNINGS and is_link(call) and all(one.ndim <= axes for _, one, _ in _links(call))


def begins(call: Call) -> bool:
    """Whether a call makes floats of a value."""
    if call.name not in _BEGINNINGS or call.kwargs.keys() - {"dtype"} or not isinstance(call.args[0], Recorded):
        return False
    wanted = [*call.args[1:], *call.kwargs.values()]
    try:
        return len(wanted) == 1 and dtypes.as_dtype(wanted[0]) == dtypes.float32
    except TypeError:
        return False


def _links(call: Call) -> list[_Link]:
    """Arithmetic of a call; none where the other arguments are no constants of 32-bit floats."""
    if call.kwargs or not any(isinstance(one, Recorded) for one in call.args):
        return []
    if call.name == _CLIP and len(call.args) == 3 and isinstance(call.args[0], Recorded):
        low, high = map(_constant, call.args[1:])
        return [] if low is None or high is None else [(np.minimum, high, False), (np.maximum, low, False)]
    if call.name not in _UFUNCS or len(call.args) != 2:
        return []
    is_left = not isinstance(call.args[0], Recorded)
    constant = _constant(call.args[0 if is_left else 1])
    return [] if constant is None else [(_UFUNCS[call.name], constant, is_left)]


def _constant(value: Any) -> Floats | None:
    """What arithmetic with 32-bit floats makes of an argument, where it takes it."""
    if next(recorded_in(value), None) is not None:
        return None
    if isinstance(value, Tensor) and value.values.dtype != np.float32:
        return None
    try:
        return array_of(value, dtypes.float32)
    except (TypeError, ValueError):
        return None

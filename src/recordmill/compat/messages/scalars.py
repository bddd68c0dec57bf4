"""Kinds of values that lists in messages hold: what is refused, and how they are stored."""

from __future__ import annotations

import contextlib
import ctypes
import math
import operator
import struct
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.messages import wire

T = TypeVar("T")


class Scalar(Generic[T]):
    """One kind of value."""

    # Wire type of one value by itself.
    wire = wire.BYTES
    # Of arrays of such values, where NumPy would not find it from the values.
    dtype: np.dtype[Any] | None = None

    def __init__(self, name: str) -> None:
        self.name = name

    def check(self, value: Any) -> T:
        """Value as it is stored, or a TypeError or ValueError."""
        raise NotImplementedError

    def check_all(self, values: Any) -> list[T]:
        """Values of an iterable as they are stored."""
        return [self.check(value) for value in _iterable(values)]

    def read(self, data: bytes, start: int, stop: int) -> tuple[T, int]:
        """One value that stands by itself, and where the next byte is."""
        raise NotImplementedError

    def read_packed(self, data: bytes, start: int, stop: int) -> list[T]:
        """Values of a packed list."""
        raise NotImplementedError

    def write_packed(self, values: list[T]) -> bytes:
        """Packed list of values."""
        raise NotImplementedError


class Bytes(Scalar[bytes]):
    """Byte strings; never packed."""

    def check(self, value: Any) -> bytes:
        """Refuse everything but bytes."""
        if type(value) is bytes:
            return value
        if isinstance(value, bytes):
            return bytes(value)
        kind = type(value)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        raise TypeError(f"expected bytes, {name} found")

    def read(self, data: bytes, start: int, stop: int) -> tuple[bytes, int]:
        """One byte string."""
        first, end = wire.read_length(data, start, stop)
        return data[first:end], end


class Integer(Scalar[int]):
    """Whole numbers of 32 or 64 bits."""

    wire = wire.VARINT

    def __init__(self, name: str, bits: int) -> None:
        super().__init__(name)
        self.bits, self.low, self.high = bits, -(1 << bits - 1), (1 << bits - 1) - 1
        self.dtype = np.dtype(f"i{bits // 8}")

    def check(self, value: Any) -> int:
        """Refuse fractions, bool, and what does not fit."""
        if type(value) is not int:
            if isinstance(value, bool):
                raise TypeError("expected an int, got a boolean")
            value = operator.index(value)
        if not self.low <= value <= self.high:
            raise ValueError(f"Value out of range: {value}")
        return int(value)

    def check_all(self, values: Any) -> list[int]:
        """Values of an iterable; arrays of whole numbers are taken at once."""
        if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iu":
            values = values.tolist()
        found = values if type(values) is list else list(_iterable(values))
        if set(map(type, found)) != {int}:
            return [self.check(value) for value in found]
        for extreme in (min(found), max(found)):
            self.check(extreme)
        return list(found)

    def read(self, data: bytes, start: int, stop: int) -> tuple[int, int]:
        """One number, cut to its bits."""
        value, end = wire.read_varint(data, start, stop)
        return self._cut(wire.signed(value)), end

    def read_packed(self, data: bytes, start: int, stop: int) -> list[int]:
        """Numbers, each cut to its bits."""
        values = wire.read_varints(data, start, stop)
        return values if self.bits == 64 else [self._cut(value) for value in values]

    def _cut(self, value: int) -> int:
        return value if self.low <= value <= self.high else (value - self.low) % (1 << self.bits) + self.low

    def write_packed(self, values: list[int]) -> bytes:
        """Varints; negative numbers take ten bytes."""
        return wire.varints(values)


class Float(Scalar[float]):
    """Numbers with a fraction, of 32 or 64 bits."""

    def __init__(self, name: str, bits: int) -> None:
        super().__init__(name)
        self.wire = wire.FIXED32 if bits == 32 else wire.FIXED64
        self._dtype = self.dtype = np.dtype(f"<f{bits // 8}")
        self._code = "f" if bits == 32 else "d"
        self._rounded: Callable[[Any], Any] = ctypes.c_float if bits == 32 else ctypes.c_double

    def check(self, value: Any) -> float:
        """Round to the bits that there are; what is too large becomes infinite."""
        if isinstance(value, np.ndarray):
            raise TypeError(f"{value} has type ndarray, but expected one of: float")
        return float(self._rounded(value).value)

    def check_all(self, values: Any) -> list[float]:
        """Values of an iterable; arrays of numbers are taken at once."""
        if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iuf":
            with np.errstate(over="ignore"):
                found: list[float] = values.astype(self._dtype).tolist()
            return found
        given = values if type(values) is list else list(_iterable(values))
        if {*map(type, given)} == {float} and not any(map(math.isnan, given)):
            with contextlib.suppress(OverflowError):  # what is too large becomes infinite below
                return [*self._unpacked(self._packed(given))]
        return [self.check(value) for value in given]

    def _packed(self, values: list[float]) -> bytes:
        return struct.pack(f"<{len(values)}{self._code}", *values)

    def _unpacked(self, data: bytes) -> tuple[float, ...]:
        return struct.unpack(f"<{len(data) // self._dtype.itemsize}{self._code}", data)

    def read(self, data: bytes, start: int, stop: int) -> tuple[float, int]:
        """One number."""
        end = start + self._dtype.itemsize
        if end > stop:
            raise wire.WireError(start, f"a number of {end - start} bytes has {stop - start}")
        return self.read_packed(data, start, end)[0], end

    def read_packed(self, data: bytes, start: int, stop: int) -> list[float]:
        """Numbers back to back."""
        count, rest = divmod(stop - start, self._dtype.itemsize)
        if rest:
            raise wire.WireError(start, f"{stop - start} bytes are no list of numbers of {self._dtype.itemsize} bytes")
        if count < wire.MANY:
            few = self._unpacked(data[start:stop])
            if not any(map(math.isnan, few)):
                return [*few]
        stored = np.frombuffer(data, self._dtype, count, start)
        found: list[float] = (_widened(stored) if stored.itemsize == 4 else stored).tolist()
        return found

    def write_packed(self, values: list[float]) -> bytes:
        """Numbers back to back."""
        if len(values) < wire.MANY and not any(map(math.isnan, values)):
            return self._packed(values)
        wide = np.array(values, np.float64)
        return (_narrowed(wide) if self._dtype.itemsize == 4 else wide.astype(self._dtype)).tobytes()


def _widened(narrow: NDArray[np.float32]) -> NDArray[np.float64]:
    """Numbers of 64 bits, with the bits of what is no number, which processors change on the way."""
    with np.errstate(invalid="ignore"):
        wide = narrow.astype(np.float64)
    odd = np.isnan(wide)
    if odd.any():
        bits = narrow[odd].view(np.uint32).astype(np.uint64)
        wide.view(np.uint64)[odd] = (bits >> 31 << 63) | (0x7FF << 52) | ((bits & 0x7FFFFF) << 29)
    return wide


def _narrowed(wide: NDArray[np.float64]) -> NDArray[np.float32]:
    """Numbers of 32 bits, the reverse of `_widened`."""
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = wide.astype("<f4")
    odd = np.isnan(wide)
    if odd.any():
        bits = wide[odd].view(np.uint64)
        mantissa = bits >> np.uint64(29) & np.uint64(0x7FFFFF)
        mantissa[mantissa == 0] = 0x400000
        narrow.view(np.uint32)[odd] = ((bits >> 63 << 31) | (0xFF << 23) | mantissa).astype(np.uint32)
    return narrow


def _iterable(values: Any) -> Iterable[Any]:
    if not hasattr(values, "__iter__"):
        raise TypeError("must assign iterable")
    found: Iterable[Any] = values
    return found


BYTES = Bytes("bytes")
FLOAT32 = Float("float", 32)
FLOAT64 = Float("double", 64)
INT32 = Integer("int32", 32)
INT64 = Integer("int64", 64)

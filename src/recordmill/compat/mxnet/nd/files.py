"""Files of arrays: ``mx.nd.save``, ``load`` and ``load_frombuffer``, in MXNet's own form."""

from __future__ import annotations

import io
import math
import os
import secrets
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from recordmill.compat.mxnet.base import MissingFileError, MXNetError, ParameterError, UnsupportedError
from recordmill.compat.mxnet.nd.arrays import NDArray, wrap
from recordmill.compat.mxnet.nd.sparse import CSRNDArray, csr_matrix

Arrays = list[Any] | dict[str, Any]
_LIST, _V1, _V2, _V3 = 0x112, 0xF993FAC8, 0xF993FAC9, 0xF993FACA
_DENSE, _ROWS, _CSR = range(3)
_DTYPES = tuple(map(np.dtype, ("<f4", "<f8", "<f2", "u1", "<i4", "i1", "<i8", "?")))
_INT64 = 6
_HOST = struct.pack("<ii", 1, 0)
# More axes no array has.
_MOST_AXES = 32
_FORM = "Invalid NDArray file format"


def save(fname: str | os.PathLike[str], data: Any) -> None:
    """Write arrays to a file that MXNet reads."""
    if isinstance(data, NDArray | CSRNDArray):
        data = [data]
    if not isinstance(data, list | dict):
        message = "data needs to either be a NDArray, dict of str, NDArray pairs or a list of NDarrays."
        raise ValueError(message)  # noqa: TRY004 (as MXNet)
    names = list(data) if isinstance(data, dict) else []
    arrays = list(data.values()) if isinstance(data, dict) else data
    if not all(isinstance(one, NDArray | CSRNDArray) for one in arrays) or not all(isinstance(n, str) for n in names):
        raise TypeError("save only accept dict str->NDArray or list of NDArray")
    parts = [struct.pack("<QQQ", _LIST, 0, len(arrays)), *(part for one in arrays for part in _parts_of(one))]
    parts.append(struct.pack("<Q", len(names)))
    for name in (name.encode() for name in names):
        parts += [struct.pack("<Q", len(name)), name]
    _write(os.fspath(fname), parts)


def load(fname: str | os.PathLike[str]) -> Arrays:
    """Read the arrays of a file that `save` or MXNet wrote, of any version."""
    path = os.fspath(fname)
    try:
        with Path(path).open("rb") as file:
            return _Reading(file, os.fstat(file.fileno()).st_size, path).arrays()
    except FileNotFoundError as error:
        raise MissingFileError(f'LocalFileSystem: :Open "{path}": No such file or directory', shard=path) from error


def load_frombuffer(buf: bytes) -> Arrays:
    """Read the arrays of a file that is in memory, as `load` does."""
    return _Reading(io.BytesIO(buf), len(buf), None).arrays()


def _write(path: str, parts: Sequence[Any]) -> None:
    temporary = f"{path}.tmp-{secrets.token_hex(6)}"
    try:
        with Path(temporary).open("wb") as file:
            file.writelines(parts)
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _parts_of(one: NDArray | CSRNDArray) -> Iterator[Any]:
    if isinstance(one, CSRNDArray):
        values, aside = one.data.asnumpy(), [np.asarray(part, np.int64) for part in (one.indptr, one.indices)]
        yield struct.pack("<Ii", _V2, _CSR) + _shape_bytes(values.shape) + _shape_bytes(one.shape) + _HOST
        yield struct.pack("<i", _number_of(values.dtype))
        yield b"".join(struct.pack("<i", _INT64) + _shape_bytes(part.shape) for part in aside)
        yield from (part.tobytes() for part in (values, *aside))
        return
    values = np.atleast_1d(one.asnumpy())  # an array without axes MXNet would save as none
    yield struct.pack("<Ii", _V2, _DENSE) + _shape_bytes(values.shape) + _HOST
    yield struct.pack("<i", _number_of(values.dtype)) + values.tobytes()


def _shape_bytes(shape: Sequence[int]) -> bytes:
    return struct.pack(f"<i{len(shape)}q", len(shape), *shape)


def _number_of(dtype: np.dtype[Any]) -> int:
    if dtype not in _DTYPES:
        expected = ", ".join(one.name for one in _DTYPES)
        message = f"arrays of {dtype} have no form in a file"
        raise UnsupportedError(message, kind="unsupported", expected=expected, found=str(dtype))
    return _DTYPES.index(dtype)


class _Reading:
    """A place in the bytes of a file, and what is read from there."""

    def __init__(self, stream: BinaryIO, size: int, path: str | None) -> None:
        self._stream, self._size, self._path, self._place = stream, size, path, 0

    def arrays(self) -> Arrays:
        if (magic := self._one("<Q")) != _LIST:
            raise self._wrong("another file", f"magic number {_LIST:#x}", f"{magic:#x}")
        self._take(8)
        arrays = [self._array() for _ in range(self._counted(4))]
        names = [self._name() for _ in range(self._counted(8))]
        if names and len(names) != len(arrays):
            raise self._wrong("arrays and names differ in number", f"{len(arrays)} names", str(len(names)))
        return dict(zip(names, arrays, strict=True)) if names else arrays

    def _array(self) -> NDArray | CSRNDArray:
        magic = self._one("<I")
        if magic not in (_V2, _V3):
            return self._dense(self._shape("<I", "I", magic) if magic != _V1 else self._shape("<i", "q"))
        kind = self._one("<i")
        if kind == _DENSE:
            return self._dense(self._shape("<i", "q"), scalars=magic == _V3)
        if kind != _CSR or magic == _V3:
            found = "row_sparse" if kind == _ROWS else f"storage type {kind}"
            raise UnsupportedError(f"arrays of {found} are not read", kind="unsupported", shard=self._path, found=found)
        return self._sparse()

    def _dense(self, shape: tuple[int, ...], scalars: bool = False) -> NDArray:
        if not shape and not scalars:
            return wrap(np.empty(0, np.float32))  # an array that was none
        self._take(8)
        return wrap(self._values(self._dtype(), shape))

    def _sparse(self) -> CSRNDArray:
        stored, shape = self._shape("<i", "q"), self._shape("<i", "q")
        self._take(8)
        dtype, aside = self._dtype(), [(self._dtype(), self._shape("<i", "q")) for _ in range(2)]
        values = self._values(dtype, stored)
        indptr, indices = (self._values(*one) for one in aside)
        try:
            return csr_matrix((values, indices, indptr), shape)
        except ParameterError as error:
            raise self._wrong(error.message, "parts of a matrix", str(error.found)) from error

    def _values(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
        self._need(math.prod(shape) * dtype.itemsize)
        try:
            made = np.empty(shape, dtype)
        except ValueError as error:  # lengths beside a 0 that are too large
            raise self._wrong("an array of an impossible shape", "lengths that an array has", str(shape)) from error
        self._fill(made.reshape(-1).view(np.uint8).data)
        return made

    def _dtype(self) -> np.dtype[Any]:
        number = self._one("<i")
        if not 0 <= number < len(_DTYPES):
            raise self._wrong("an array of no known dtype", f"0 to {len(_DTYPES) - 1}", str(number))
        return _DTYPES[number]

    def _shape(self, form: str, letter: str, count: int | None = None) -> tuple[int, ...]:
        number = self._one(form) if count is None else count
        if not 0 <= number <= _MOST_AXES:
            raise self._wrong("an array of an impossible shape", f"at most {_MOST_AXES} axes", str(number))
        lengths = struct.unpack(f"<{number}{letter}", self._take(number * struct.calcsize(f"<{letter}")))
        if min(lengths, default=0) < 0:
            raise self._wrong("an array of an impossible shape", "lengths from 0", str(lengths))
        return lengths

    def _name(self) -> str:
        data = bytes(self._take(self._one("<Q")))
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise self._wrong("a name that is no text", "UTF-8", repr(data[:40])) from error

    def _counted(self, each: int) -> int:
        """Number of things to come, for which there are bytes."""
        number = self._one("<Q")
        self._need(number * each)
        return number

    def _one(self, form: str) -> int:
        return int(struct.unpack(form, self._take(struct.calcsize(form)))[0])

    def _take(self, count: int) -> bytearray:
        self._need(count)
        data = bytearray(count)
        self._fill(memoryview(data))
        return data

    def _need(self, count: int) -> None:
        if count > (left := self._size - self._place):
            raise self._wrong("the file ends before its last array", f"{count} bytes", f"{left} bytes")

    def _fill(self, data: memoryview) -> None:
        done = 0
        while done < len(data):
            if not (more := self._stream.readinto(data[done:])):  # type: ignore[attr-defined]
                raise self._wrong("the file became shorter", f"{len(data)} bytes", f"{done} bytes")
            done += more
        self._place += done

    def _wrong(self, what: str, expected: str, found: str) -> MXNetError:
        message = f"{_FORM}: {what}"
        parts: dict[str, Any] = {"shard": self._path, "offset": self._place}
        return MXNetError(message, kind="bad_arrays", expected=expected, found=found, **parts)

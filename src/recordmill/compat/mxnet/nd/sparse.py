"""``mx.nd.sparse``: matrices of which only the values that are there are kept, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as Array

from recordmill.compat.mxnet.absent import AbsentError, absent
from recordmill.compat.mxnet.base import ParameterError, UnsupportedError
from recordmill.compat.mxnet.context import Context, cpu
from recordmill.compat.mxnet.nd.arrays import NDArray, wrap

Ints = Array[np.int64]
_HINT = "use .asnumpy(), or .data, .indices and .indptr"


class CSRNDArray:
    """A matrix as its values, the column of each, and where each row begins among them."""

    stype, ndim = "csr", 2

    def __init__(self, data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> None:
        self.data, self.indices, self.indptr = wrap(data), wrap(indices), wrap(indptr)
        self.shape = shape

    def __getattr__(self, name: str) -> Any:
        """Refuse what MXNet's arrays have and these have not."""
        if name.startswith("_"):
            raise AttributeError(f"'CSRNDArray' object has no attribute {name!r}", name=name, obj=self)
        message = f"CSRNDArray.{name} is not supported"
        raise AbsentError(message, kind="unsupported", found=name, hint=_HINT)

    def __repr__(self) -> str:
        """As MXNet prints it."""
        return f"\n<CSRNDArray {self.shape[0]}x{self.shape[1]} @{self.context}>"

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __getitem__(self, key: Any) -> CSRNDArray:
        """Rows that follow one another."""
        if isinstance(key, int | np.integer):
            place = range(len(self))[key]
            key = slice(place, place + 1)
        if not isinstance(key, slice) or key.step not in (None, 1):
            message = "CSRNDArray has slices of rows that follow one another"
            raise ParameterError(message, kind="bad_index", found=repr(key), hint=_HINT)
        start, stop, _ = key.indices(len(self))
        return self.take_rows(np.arange(start, max(start, stop)))

    def take_rows(self, rows: Ints) -> CSRNDArray:
        """Matrix of chosen rows."""
        starts: Ints = np.asarray(self.indptr)
        counts = np.diff(starts)[rows]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        places = np.repeat(starts[rows] - indptr[:-1], counts) + np.arange(indptr[-1])
        data, indices = (np.asarray(one)[places] for one in (self.data, self.indices))
        return CSRNDArray(data, indices, indptr, (len(rows), self.shape[1]))

    @property
    def dtype(self) -> Any:
        """Of the values."""
        return self.data.dtype

    @property
    def context(self) -> Context:
        """Host memory."""
        return cpu()

    ctx = context

    def asnumpy(self) -> Array[Any]:
        """Whole matrix, with zeros where no value is."""
        found = np.zeros(self.shape, self.dtype)
        rows = np.repeat(np.arange(len(self)), np.diff(np.asarray(self.indptr)))
        found[rows, np.asarray(self.indices)] = np.asarray(self.data)
        return found

    def tostype(self, stype: str) -> CSRNDArray | NDArray:
        """Return the matrix itself, or the whole one for "default"."""
        if stype == "default":
            return wrap(self.asnumpy())
        if stype != "csr":
            raise UnsupportedError(f"stype {stype!r} is not supported", kind="unsupported", expected="csr or default")
        return self

    todense = asnumpy

    def astype(self, dtype: Any) -> CSRNDArray:
        """Matrix whose values have another dtype."""
        return CSRNDArray(self.data.astype(dtype), self.indices, self.indptr, self.shape)

    def copy(self) -> CSRNDArray:
        """Matrix of its own."""
        return CSRNDArray(self.data.copy(), self.indices.copy(), self.indptr.copy(), self.shape)

    def as_in_context(self, context: Context) -> CSRNDArray:
        """Return the matrix itself: there is no other memory."""
        del context
        return self

    def wait_to_read(self) -> None:
        """Return at once."""


def csr_matrix(arg1: Any, shape: Any = None, ctx: Context | None = None, dtype: Any = None) -> CSRNDArray:
    """Matrix of its parts, or of the values of a whole one."""
    del ctx
    if isinstance(arg1, CSRNDArray):
        return arg1 if dtype is None else arg1.astype(dtype)
    if not isinstance(arg1, tuple):
        whole = np.asarray(arg1, _dtype_of(arg1, dtype))
        _refuse(whole.ndim != 2, "a matrix has two axes", whole.shape)
        rows, columns = np.nonzero(whole)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(whole)))])
        return CSRNDArray(whole[rows, columns], columns, indptr, whole.shape)
    _refuse(len(arg1) != 3, "a matrix is given by data, indices and indptr", len(arg1))
    data = np.asarray(arg1[0], _dtype_of(arg1[0], dtype)).reshape(-1)
    indices, indptr = (np.asarray(one).astype(np.int64).reshape(-1) for one in arg1[1:])
    _refuse(len(indptr) < 1, "indptr has a value at least", 0)
    lengths = tuple(shape or (len(indptr) - 1, int(indices.max(initial=-1)) + 1))
    steps = np.diff(indptr)
    wrong = len(lengths) != 2 or len(indptr) != lengths[0] + 1 or indptr[0] != 0 or (steps < 0).any()
    _refuse(bool(wrong), "indptr rises from 0, with a value more than there are rows", lengths)
    _refuse(not len(data) == len(indices) == indptr[-1], "indptr ends with the number of values", indptr[-1])
    outside = indices.min(initial=0) < 0 or indices.max(initial=-1) >= lengths[1]
    _refuse(bool(outside), "indices are columns of the matrix", lengths)
    return CSRNDArray(data, indices, indptr, lengths)


def _dtype_of(values: Any, dtype: Any) -> Any:
    return dtype or (values.dtype if isinstance(values, np.ndarray) else np.float32)


def _refuse(wrong: bool, message: str, found: Any) -> None:
    if wrong:
        raise ParameterError(message, kind="bad_shape", found=str(found))


__getattr__ = absent(__name__, {"row_sparse_array": _HINT, "RowSparseNDArray": _HINT}, _HINT)

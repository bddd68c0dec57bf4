"""Call Python functions with samples and random generators, check the results, and collect the results in columns."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recordmill.concurrency.processes import PICKLE_HINT
from recordmill.decode.random import Stage
from recordmill.errors import MapError
from recordmill.pipeline.checks import check_seed, is_number
from recordmill.pipeline.samples import Columns
from recordmill.pipeline.stages.base import RunningCall
from recordmill.types import Ragged

if TYPE_CHECKING:
    from recordmill.pipeline.stages.base import StageInput

Function = Callable[..., Any]
# Dtype by scalar type. Strings are missing, because their dtypes depend on their lengths.
_DTYPES: Mapping[type[Any], np.dtype[Any]] = {
    **{kind: np.dtype(kind) for kind in (bool, int, float)},
    **{np.dtype(code).type: np.dtype(code) for code in np.typecodes["AllInteger"] + "?efd"},
}
# (dtype, shape) by scalar type. `int` is missing, because a large `int` does not fit into int64.
_SCALAR_FORMS = {kind: (dtype.str, ()) for kind, dtype in _DTYPES.items() if kind is not int}
_ARRAY_TYPES = (np.ndarray, np.generic, int, float, bool)
_NO_NAMES: Mapping[str, Any] = {}


def check_function(stage: str, function: Any, timeout: Any, seed: Any) -> None:
    """Check the arguments of a map or filter stage; raise TypeError or ValueError if one is invalid."""
    if not callable(function):
        raise TypeError(f"{stage} needs a function, got {type(function).__name__}")
    if timeout is not None and not (is_number(timeout) and timeout > 0):
        raise ValueError(f"timeout must be a positive number of seconds, got {timeout!r}")
    if seed is not None:
        check_seed(seed)


def describe_function(function: Function, options: Mapping[str, Any]) -> str:
    """Format the name of a function and the options that are not None, as in the repr of a stage."""
    texts = {name: repr(value) if isinstance(value, str) else str(value) for name, value in options.items()}
    given = [f"{name}={texts[name]}" for name, value in options.items() if value is not None]
    return ", ".join([_find_function_name(function), *given])


def _find_function_name(function: Function) -> str:
    inner = getattr(function, "func", function)
    return str(getattr(inner, "__qualname__", None) or type(inner).__qualname__)


class FunctionCaller:
    """Calls the function of a `map` or `filter` stage for the rows that the stage receives.

    Parameters
    ----------
    function : callable
    stage : str
        Representation of the stage, for errors.
    stage_input : StageInput
    rng : bool
        Pass a random generator to the function.
    timeout : float, optional
        Seconds after which a call counts as hanging.
    stage_key : int
        Identifies the stage among all stages of a run.
    """

    def __init__(
        self,
        function: Function,
        stage: str,
        stage_input: StageInput,
        *,
        rng: bool,
        timeout: float | None = None,
        stage_key: int = 0,
    ) -> None:
        self._function, self._stage, self._input = function, stage, stage_input
        self._timeout, self._stage_key = timeout, stage_key
        self._first_source = stage_input.context.first_source
        self._name = _find_function_name(function)
        self._generators = RowGenerators(self._generate_keys()) if rng else None

    def _generate_keys(self) -> NDArray[np.uint64]:
        positions = self._input.positions
        keys = np.empty((len(positions), 2), np.uint64)
        stage = int(Stage.FREE) + self._input.number
        for epoch, rows in positions.by_epoch():
            keys[rows] = self._input.draws(epoch).words(positions.array[rows], stage, 2)
        return keys

    def __call__(self, row: int, value: Any) -> Any:
        """Call the function for a row and return its result; raise MapError if it fails."""
        context = self._input.context
        context.begin_call(self._describe_call, row)
        try:
            if self._generators is None:
                return self._function(value)
            return self._function(value, self._generators.generator(row))
        except Exception as error:
            raise self.error(row, f"raised {type(error).__name__}: {error}", error) from error
        finally:
            context.end_call()

    def _describe_call(self, row: int, started: float) -> RunningCall:
        origins = self._input.rows.origins
        source = record = -1
        if row < len(origins):
            source, record = self._first_source + int(origins[row, 0]), int(origins[row, 1])
        position = self._input.requested.epoch_and_position(row)[1]
        return RunningCall(self._stage, self._name, position, source, record, self._timeout, started)

    def error(self, row: int, what: str, cause: Exception | None = None, hint: str | None = None) -> MapError:
        """Create the MapError for a row; the message is the name of the function followed by `what`."""
        writes_input = isinstance(cause, ValueError) and "read-only" in str(cause)
        return MapError(
            f"{self._name} modifies its input" if writes_input else f"{self._name} {what}",
            kind="function_failed",
            stage=self._stage,
            function=self._name,
            position=self._input.requested.epoch_and_position(row)[1],
            cause=cause,
            hint="modify a copy: value = value.copy()" if writes_input else hint,
            **self._input.locate(row),
        )

    def raise_or_skip(self, row: int, error: MapError) -> None:
        """Raise the error of a row, or add it to the skipped samples."""
        self._input.context.raise_or_skip(*self._input.requested.epoch_and_position(row), error)

    def check_sample(self, row: int, result: Any) -> None:
        """Raise MapError unless a sample has the same features, dtypes and shapes as the first result of the run."""
        self._check_names(row, result)
        self._compare_with_first_result(row, {name: _find_dtype_and_shape(value) for name, value in result.items()})

    def check_batch(self, result: Any) -> None:
        """Raise MapError unless a batch has the same features and dtypes as the first result of the run."""
        self._check_names(0, result)
        self._compare_with_first_result(0, {name: _find_batch_dtype(value) for name, value in result.items()})

    def check_picklable(self, row: int, result: Mapping[str, Any]) -> None:
        """Raise MapError if a result cannot be pickled, because a worker process could not send it."""
        for name, value in result.items():
            try:
                pickle.dumps(value, 5, buffer_callback=lambda _: False)
            except Exception as error:
                what = (
                    f"returned {name!r} as {type(value).__name__}, which cannot be sent from a worker process: {error}"
                )
                raise self.error(row, what, error, PICKLE_HINT) from error

    def _check_names(self, row: int, result: Any) -> None:
        first = self._input.context.first_results.get(self._stage_key, _NO_NAMES)
        if type(result) is dict and result.keys() == first.keys():
            return
        if not isinstance(result, Mapping):
            raise self.error(row, f"returned {type(result).__name__}, expected a dict of features")
        if other := [name for name in result if not isinstance(name, str)]:
            what = f"returned a dict with the key {other[0]!r:.60} of type {type(other[0]).__name__}"
            raise self.error(row, what, hint="names of features must be strings")

    def _compare_with_first_result(self, row: int, forms: dict[str, Any]) -> None:
        first = self._input.context.first_results.setdefault(self._stage_key, forms)
        if forms == first:
            return
        if forms.keys() != first.keys():
            what = (
                f"must always return the same features, expected {', '.join(first)}, got {', '.join(forms) or 'none'}"
            )
            raise self.error(row, what)
        for name, form in forms.items():
            if form != first[name] and form is not None and first[name] is not None:
                what = (
                    f"must always return {name!r} in the form of the first result, "
                    f"expected {_format_dtype_and_shape(first[name])}, got {_format_dtype_and_shape(form)}"
                )
                raise self.error(row, what)


def _find_dtype_and_shape(value: Any) -> Any:
    """Return the dtype and number of dimensions that all samples must share."""
    if (known := _SCALAR_FORMS.get(type(value))) is not None:
        return known
    if isinstance(value, np.ndarray | np.generic):
        return _format_dtype(value.dtype), (None,) * value.ndim
    if isinstance(value, bool | int | float):
        return np.asarray(value).dtype.str, ()
    return "Ragged" if isinstance(value, Ragged) else type(value).__name__


def _find_batch_dtype(value: Any) -> str | None:
    """Return the dtype of a batch column; None for a list, whose dtype is not checked."""
    while isinstance(value, Ragged):
        value = value.data
    return str(np.dtype(_format_dtype(value.dtype))) if isinstance(value, np.ndarray | np.generic) else None


def _format_dtype(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype. The name of a string dtype has no length: "U", not "<U5"."""
    return dtype.kind if dtype.kind in "SU" else dtype.str


def _format_dtype_and_shape(form: Any) -> str:
    if isinstance(form, str):
        return form
    dtype, shape = form
    return f"{np.dtype(dtype)} of shape ({', '.join('any' if size is None else str(size) for size in shape)})"


class RowGenerators:
    """NumPy random generators, with one stream per row.

    The same generator object is reused with another key, unless the user's function has kept a reference to it.
    Creating a generator takes several times as long as setting its key.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n, 2)
    """

    def __init__(self, keys: NDArray[np.uint64]) -> None:
        self._keys = keys
        self._bits: Any = None
        self._generator: Any = None
        self._state: Any = None

    def generator(self, row: int) -> np.random.Generator:
        """Return a Philox generator for a row. The object is reused unless the user's function has kept it."""
        if self._generator is None or self._is_referenced():
            self._bits = np.random.Philox(key=self._keys[row])
            self._state, self._generator = self._bits.state, np.random.Generator(self._bits)
        else:
            self._state["state"]["key"] = self._keys[row]
            self._bits.state = self._state
        return self._generator  # type: ignore[no-any-return]

    def _is_referenced(self) -> bool:
        """Return True if the user function still holds the generator or its bit generator."""
        return getrefcount(self._generator) > 2 or getrefcount(self._bits) > 3


class ColumnsBuilder:
    """Builds columns from copies of samples, so that functions may reuse the memory of a sample after `add`.

    Parameters
    ----------
    max_rows : int
    """

    def __init__(self, max_rows: int) -> None:
        self._max_rows = max_rows
        self._columns: dict[str, _ColumnBuilder] = {}

    def add(self, sample: Mapping[str, Any]) -> None:
        """Add a sample."""
        if not self._columns:
            self._columns = {name: _ColumnBuilder(self._max_rows) for name in sample}
        for name, column in self._columns.items():
            column.add(sample[name])

    def columns(self) -> Columns:
        """Return the columns: arrays if all rows of a feature have the same dtype and shape, otherwise lists."""
        return {name: column.build() for name, column in self._columns.items()}


class _ColumnBuilder:
    """Builds the column of one feature as scalars, as rows of an array, or as a list of any values."""

    __slots__ = ("_array", "_count", "_dtype", "_max_rows", "_scalar_type", "_scalars", "_values")

    def __init__(self, max_rows: int) -> None:
        self._max_rows, self._count = max_rows, 0
        # As long as all values are scalars of the same type, they are collected in `_scalars`. The list is converted to
        # an array when a value of another type arrives or when the column is complete.
        self._scalar_type: type[Any] | None = None
        self._scalars: list[Any] = []
        self._array: NDArray[Any] | None = None
        self._dtype: np.dtype[Any] | None = None
        self._values: list[Any] | None = None

    def add(self, value: Any) -> None:
        kind = type(value)
        if kind is self._scalar_type:
            self._scalars.append(value)
        elif not self._count and kind in _DTYPES:
            self._scalar_type, self._scalars = kind, [value]
        else:
            self._convert_scalars()
            self._add_row(value)
        self._count += 1

    def _convert_scalars(self) -> None:
        if self._scalar_type is None:
            return
        dtype, self._scalar_type = _DTYPES[self._scalar_type], None
        try:
            self._array, self._dtype = np.array(self._scalars, dtype), dtype
        except OverflowError:  # Some integers have more than 64 bits.
            self._count = 0
            for scalar in self._scalars:
                self._add_row(scalar)
                self._count += 1

    def _add_row(self, value: Any) -> None:
        if self._values is None and not (isinstance(value, _ARRAY_TYPES) and self._store_if_it_fits(np.asarray(value))):
            self._values = [] if self._array is None else list(self._array[: self._count].copy())
            self._array = None
        if self._values is not None:
            self._values.append(_copy_writable_view(value))

    def _store_if_it_fits(self, row: NDArray[Any]) -> bool:
        """Store a row in the array and return True, unless its shape or dtype differs from that of the first row."""
        if self._array is None:
            self._dtype = row.dtype
            self._array = np.array(row[None], np.result_type(row))
            return True
        if row.shape != self._array.shape[1:] or row.dtype != self._dtype:
            return False
        if len(self._array) < self._max_rows:  # Allocate memory for all rows when the second row arrives.
            first, self._array = self._array, np.empty((self._max_rows, *row.shape), self._array.dtype)
            self._array[: len(first)] = first
        self._array[self._count] = row
        return True

    def build(self) -> Any:
        self._convert_scalars()
        if self._values is not None:
            return self._values
        return [] if self._array is None else self._array[: self._count]


def _copy_writable_view(value: Any) -> Any:
    """Copy an array that is a view of writable memory, because the user function may change the memory later."""
    is_view = isinstance(value, np.ndarray) and value.base is not None and value.flags.writeable
    return value.copy() if is_view else value

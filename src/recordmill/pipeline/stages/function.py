"""Generators of random numbers for one sample after the other."""

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
from recordmill.pipeline.checks import is_number, seed_of
from recordmill.pipeline.context import Calling
from recordmill.pipeline.rows import Columns
from recordmill.types import Ragged

if TYPE_CHECKING:
    from recordmill.pipeline.stages.base import Work


class Generators:
    """Gives the generator of a row: the same object again, with another key, as long as nobody has kept it.

    Making a generator takes several times as long as giving one another key.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n, 2)
    """

    def __init__(self, keys: NDArray[np.uint64]) -> None:
        self._keys = keys
        self._bits: Any = None
        self._generator: Any = None
        self._state: Any = None

    def of(self, row: int) -> np.random.Generator:
        """Philox generator with the key of a row, at its beginning."""
        if self._generator is None or self._is_kept():
            self._bits = np.random.Philox(key=self._keys[row])
            self._state, self._generator = self._bits.state, np.random.Generator(self._bits)
        else:
            self._state["state"]["key"] = self._keys[row]
            self._bits.state = self._state
        return self._generator  # type: ignore[no-any-return]

    def _is_kept(self) -> bool:
        """Whether somebody else has the generator, or its bits: here are two references each, and one of the call."""
        return getrefcount(self._generator) > 2 or getrefcount(self._bits) > 3


# Types of single numbers that tell their dtype.
NUMBERS: Mapping[type[Any], np.dtype[Any]] = {
    **{kind: np.dtype(kind) for kind in (bool, int, float)},
    **{np.dtype(code).type: np.dtype(code) for code in np.typecodes["AllInteger"] + "?efd"},
}
_SHAPED = (np.ndarray, np.generic, int, float, bool)


class Gathering:
    """Columns that grow; what is added may be changed or used again by whoever made it.

    Parameters
    ----------
    most : int
        Samples that there may be.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._columns: dict[str, _Column] = {}

    def add(self, sample: Mapping[str, Any]) -> None:
        """Add a sample."""
        if not self._columns:
            self._columns = {name: _Column(self._most) for name in sample}
        for name, column in self._columns.items():
            column.add(sample[name])

    def columns(self) -> Columns:
        """All that was added: arrays where all rows are numbers of one shape, lists otherwise."""
        return {name: column.whole() for name, column in self._columns.items()}


class _Column:
    """Values of one feature: rows of an array, or a list from the first one on that is of another form."""

    __slots__ = ("_array", "_count", "_dtype", "_most", "_number", "_numbers", "_values")

    def __init__(self, most: int) -> None:
        self._most, self._count = most, 0
        self._array: NDArray[Any] | None = None
        self._dtype: np.dtype[Any] | None = None
        self._values: list[Any] | None = None
        # Numbers by themselves, while all are of one type: an array is made of them in the end.
        self._number: type[Any] | None = None
        self._numbers: list[Any] = []

    def add(self, value: Any) -> None:
        kind = type(value)
        if kind is self._number:
            self._numbers.append(value)
        elif not self._count and kind in NUMBERS:
            self._number, self._numbers = kind, [value]
        else:
            self._settle()
            self._add_other(value)
        self._count += 1

    def _settle(self) -> None:
        """Make an array of numbers by themselves; of those that fit none, what they are by the rules for all others."""
        if self._number is None:
            return
        dtype, self._number = NUMBERS[self._number], None
        try:
            self._array, self._dtype = np.array(self._numbers, dtype), dtype
        except OverflowError:
            self._count = 0
            for number in self._numbers:
                self._add_other(number)
                self._count += 1

    def _add_other(self, value: Any) -> None:
        if self._values is None and not (isinstance(value, _SHAPED) and self._takes(np.asarray(value))):
            self._values = [] if self._array is None else list(self._array[: self._count].copy())
            self._array = None
        if self._values is not None:
            self._values.append(_kept(value))

    def _takes(self, row: NDArray[Any]) -> bool:
        if self._array is None:
            self._dtype = row.dtype
            self._array = np.array(row[None], np.result_type(row))
            return True
        if row.shape != self._array.shape[1:] or row.dtype != self._dtype:
            return False
        if len(self._array) < self._most:  # memory for all rows follows when there is a second one of its shape
            first, self._array = self._array, np.empty((self._most, *row.shape), self._array.dtype)
            self._array[: len(first)] = first
        self._array[self._count] = row
        return True

    def whole(self) -> Any:
        self._settle()
        if self._values is not None:
            return self._values
        return [] if self._array is None else self._array[: self._count]


def _kept(value: Any) -> Any:
    """A value that nobody else writes to: views of memory that can be written are copied."""
    shared = isinstance(value, np.ndarray) and value.base is not None and value.flags.writeable
    return value.copy() if shared else value


Function = Callable[..., Any]
# Forms of single numbers whose types tell them; an `int` may be too large for the dtype of the others.
_FORMS = {kind: (dtype.str, ()) for kind, dtype in NUMBERS.items() if kind is not int}
_NONE: Mapping[str, Any] = {}


def function_name(function: Function) -> str:
    """Name of a function as it is shown."""
    inner = getattr(function, "func", function)
    return str(getattr(inner, "__qualname__", None) or type(inner).__qualname__)


def check_function(kind: str, function: Any, timeout: Any, seed: Any) -> None:
    """Refuse what cannot be called, and options that make no sense."""
    if not callable(function):
        raise TypeError(f"{kind} needs a function, not {type(function).__name__}")
    if timeout is not None and not (is_number(timeout) and timeout > 0):
        raise ValueError(f"timeout is a number of seconds, not {timeout!r}")
    if seed is not None:
        seed_of(seed)


class Caller:
    """Calls a function for the rows of one piece of work.

    Parameters
    ----------
    function : callable
    stage : str
        As it prints.
    work : Work
    rng : bool
        Whether the function is handed a generator of randomness.
    timeout : float, optional
        Seconds after which a call counts as hanging.
    key : int
        What tells the stage from all others of a run; a number does not, as parts of a mixture have their own.
    """

    def __init__(
        self, function: Function, stage: str, work: Work, *, rng: bool, timeout: float | None = None, key: int = 0
    ) -> None:
        self._function, self._stage, self._work = function, stage, work
        self._timeout, self._key, self._first = timeout, key, work.context.first_source
        self._name = function_name(function)
        self._generators = Generators(self._drawn()) if rng else None

    def _drawn(self) -> Any:
        positions = self._work.places.array
        words = np.empty((len(positions), 2), np.uint64)
        stage = int(Stage.FREE) + self._work.number
        for epoch, rows in self._work.places.by_epoch():
            words[rows] = self._work.draws(epoch).words(positions[rows], stage, 2)
        return words

    def __call__(self, row: int, value: Any) -> Any:
        """Result for a row."""
        context = self._work.context
        context.begin(self, row)
        try:
            if self._generators is None:
                return self._function(value)
            return self._function(value, self._generators.of(row))
        except Exception as error:
            raise self.error(row, f"raised {type(error).__name__}: {error}", error) from error
        finally:
            context.end()

    def calling(self, row: int, begun: float) -> Calling:
        """Name the call for a row."""
        origins = self._work.rows.origins
        source, record = (self._first + int(origins[row, 0]), int(origins[row, 1])) if row < len(origins) else (-1, -1)
        position = self._work.asked.at(row)[1]
        return Calling(self._stage, self._name, position, source, record, self._timeout, begun)

    def error(self, row: int, what: str, cause: Exception | None = None, hint: str | None = None) -> MapError:
        """Error of a row."""
        changes = isinstance(cause, ValueError) and "read-only" in str(cause)
        return MapError(
            f"{self._name} changes its input" if changes else f"{self._name} {what}",
            kind="function_failed",
            stage=self._stage,
            function=self._name,
            position=self._work.asked.at(row)[1],
            cause=cause,
            hint="work on a copy: value = value.copy()" if changes else hint,
            **self._work.where(row),
        )

    def fail(self, row: int, error: MapError) -> None:
        """Raise an error of a row, or note it."""
        self._work.context.fail(*self._work.asked.at(row), error)

    def check(self, row: int, result: Any) -> None:
        """Hold a result against the first one of the run."""
        self._check_names(row, result)
        self._compare(row, {name: _form(value) for name, value in result.items()})

    def hands_over(self, stage: object) -> bool:
        """Whether what a stage returns goes to another process."""
        return stage in self._work.context.handed_over

    def check_portable(self, row: int, result: Mapping[str, Any]) -> None:
        """Raise MapError if a worker process cannot send a result."""
        for name, value in result.items():
            try:
                pickle.dumps(value, 5, buffer_callback=lambda _: False)
            except Exception as error:
                what = f"returned {name!r} as {type(value).__name__}, which a worker process cannot send: {error}"
                raise self.error(row, what, error, PICKLE_HINT) from error

    def check_batch(self, result: Any) -> None:
        """Hold a batch against the first one of the run; sizes may differ, features and their dtypes may not."""
        self._check_names(0, result)
        self._compare(0, {name: _dtype(value) for name, value in result.items()})

    def _check_names(self, row: int, result: Any) -> None:
        if type(result) is dict and result.keys() == self._work.context.returned.get(self._key, _NONE).keys():
            return
        if not isinstance(result, Mapping):
            raise self.error(row, f"returned {type(result).__name__}, not a dict of features")
        if other := [name for name in result if not isinstance(name, str)]:
            what = f"returned a dict with the name {other[0]!r:.60}, which is {type(other[0]).__name__}"
            raise self.error(row, what, hint="names of features are strings")

    def _compare(self, row: int, forms: dict[str, Any]) -> None:
        first = self._work.context.returned.setdefault(self._key, forms)
        if forms == first:
            return
        if forms.keys() != first.keys():
            raise self.error(row, f"returned the features {', '.join(forms)}; before: {', '.join(first)}")
        for name, form in forms.items():
            if form != first[name] and form is not None and first[name] is not None:
                raise self.error(row, f"returned {name!r} as {_told(form)}; before: {_told(first[name])}")


def _form(value: Any) -> Any:
    """What stays the same from sample to sample: pictures have one shape, sequences may differ in length."""
    if (known := _FORMS.get(type(value))) is not None:
        return known
    if isinstance(value, np.ndarray | np.generic):
        free = 1 <= value.ndim <= 2
        return _kind(value.dtype), (None, *value.shape[1:]) if free else value.shape
    if isinstance(value, bool | int | float):
        return np.asarray(value).dtype.str, ()
    return "Ragged" if isinstance(value, Ragged) else type(value).__name__


def _dtype(value: Any) -> str | None:
    """Dtype of a feature of a batch; none of a list, which is an array where all rows happen to have one shape."""
    while isinstance(value, Ragged):
        value = value.data
    return str(np.dtype(_kind(value.dtype))) if isinstance(value, np.ndarray | np.generic) else None


def _kind(dtype: np.dtype[Any]) -> str:
    """Dtype in a word; strings are of one kind however long they are."""
    return dtype.kind if dtype.kind in "SU" else dtype.str


def _told(form: Any) -> str:
    if isinstance(form, str):
        return form
    dtype, shape = form
    return f"{np.dtype(dtype)} of shape ({', '.join('any' if size is None else str(size) for size in shape)})"

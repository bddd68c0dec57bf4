"""A map function called once with values that note what is done to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from recordmill.compat.tensorflow.core.dispatch import RECORDING, run
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.operators import Operators
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.data.inferring import inferred
from recordmill.compat.tensorflow.data.specs import spec_of
from recordmill.compat.tensorflow.data.structures import TENSORS, filled, leaves, mapped
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.dataclass import dataclass

# Operations that are given functions, in which recorded values may be out of sight.
_CLOSURES = tuple(
    f"control.{name}" for name in ("case", "cond", "map_fn", "switch_case", "vectorized_map", "while_loop")
)


class Untraceable(Exception):  # noqa: N818 (no error: the function then runs as Python)
    """The function asks for something that only values have."""


class Recorded(Operators):
    """Stands for a value while a function is recorded.

    Parameters
    ----------
    number : int
        Of the value in the program.
    spec : TensorSpec, optional
        What is known of it.
    """

    __slots__ = ("number", "spec")

    def __init__(self, number: int, spec: TensorSpec | None) -> None:
        self.number, self.spec = number, spec

    @property
    def dtype(self) -> DType:
        """Dtype, where it is known."""
        if self.spec is None:
            raise Untraceable("it asks for the dtype of a value")
        return self.spec.dtype

    @property
    def shape(self) -> TensorShape:
        """Shape, where it is known."""
        if self.spec is None:
            raise Untraceable("it asks for the shape of a value")
        return self.spec.shape

    def get_shape(self) -> TensorShape:
        """Shape, where it is known."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Note what the caller knows of the shape; nothing is done to the value, as in TensorFlow's graphs."""
        if self.spec is not None:
            self.spec = TensorSpec(shape, self.spec.dtype)

    def __getattr__(self, name: str) -> NoReturn:
        """Whatever else a value has."""
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        raise Untraceable(f"it asks for .{name} of a value")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        """Refused: NumPy does not wait."""
        raise Untraceable("it gives a value to NumPy")

    def __bool__(self) -> NoReturn:
        """Refused."""
        raise Untraceable("what it does depends on a value (if, while, and, or)")

    def __iter__(self) -> NoReturn:
        """Refused."""
        raise Untraceable("it iterates over a value")

    def __len__(self) -> NoReturn:
        """Refused."""
        raise Untraceable("it asks for the len of a value")

    def __int__(self) -> NoReturn:
        """Refused."""
        raise Untraceable("it makes a Python number of a value")

    __float__ = __index__ = __int__

    def __repr__(self) -> str:
        """Readable form."""
        return f"<value {self.number} of a recorded function>"


@dataclass(frozen=True, eq=False, slots=True)
class Call:
    """One call of an operation.

    Parameters
    ----------
    name : str
    args : tuple
    kwargs : dict
        Values of the program in them are Recorded.
    outputs : tuple
        Pairs of a value's number and its key in the result; None for a result that is one value.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: tuple[tuple[int, Any], ...]

    def inputs(self) -> set[int]:
        """Numbers of the values that it takes.

        Returns
        -------
        set of int
        """
        return {one.number for one in recorded_in((self.args, self.kwargs))}


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    """What a function does.

    Parameters
    ----------
    num_inputs : int
        Leaves of an element.
    calls : tuple of Call
    result : structure
        Of Recorded values and constants.
    """

    num_inputs: int
    calls: tuple[Call, ...]
    result: Any

    def replay(self, value: Any) -> Any:
        """Do it to an element.

        Parameters
        ----------
        value : structure of Tensor

        Returns
        -------
        structure of Tensor
        """
        known: dict[int, Any] = dict(enumerate(leaves(value)))
        for call in self.calls:
            made = run(call.name, *put(call.args, known), **put(call.kwargs, known))
            for number, key in call.outputs:
                known[number] = made if key is None else made[key]
        return mapped(lambda leaf: known[leaf.number] if isinstance(leaf, Recorded) else leaf, self.result)

    def spec(self) -> Any:
        """Specs of the result; None unless all are known.

        Returns
        -------
        structure of TensorSpec or None
        """
        found = mapped(lambda leaf: leaf.spec if isinstance(leaf, Recorded) else spec_of(leaf), self.result)
        return None if any(leaf is None for leaf in leaves(found)) else found


def recorded_in(value: Any) -> Iterator[Recorded]:
    """Recorded values in an argument.

    Parameters
    ----------
    value : object

    Yields
    ------
    Recorded
    """
    if isinstance(value, Recorded):
        yield value
    elif isinstance(value, slice):
        yield from recorded_in((value.start, value.stop, value.step))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from recorded_in(one)
    elif isinstance(value, Mapping):
        yield from recorded_in(list(value.values()))


def put(value: Any, known: Mapping[int, Any]) -> Any:
    """Argument with values in the places of recorded ones.

    Parameters
    ----------
    value : object
    known : mapping of int to value

    Returns
    -------
    object
    """
    if isinstance(value, Recorded):
        return known[value.number]
    if next(recorded_in(value), None) is None:
        return value
    if isinstance(value, slice):
        return slice(put(value.start, known), put(value.stop, known), put(value.step, known))
    if isinstance(value, Mapping):
        return {key: put(one, known) for key, one in value.items()}
    rows = [put(one, known) for one in value]
    return rows if isinstance(value, list) else type(value)(*rows) if hasattr(value, "_fields") else tuple(rows)


class _Notes:
    """The recording of one function."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.count = 0

    def new(self, spec: TensorSpec | None) -> Recorded:
        made = Recorded(self.count, spec)
        self.count += 1
        return made

    def touches(self, value: Any) -> bool:
        return next(recorded_in(value), None) is not None

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name in _CLOSURES:
            raise Untraceable(f"{name} calls functions, which may hold values")
        spec = inferred(name, args, kwargs)
        if isinstance(spec, dict):
            result: Any = {key: self.new(one) for key, one in spec.items()}
            outputs = tuple((one.number, key) for key, one in result.items())
        elif isinstance(spec, list):
            result = [self.new(one) for one in spec]
            outputs = tuple((one.number, key) for key, one in enumerate(result))
        else:
            result = self.new(spec)
            outputs = ((result.number, None),)
        frozen = _frozen(args), _frozen(kwargs)
        self.calls.append(Call(name, *frozen, outputs))
        return result


def _frozen(value: Any) -> Any:
    """Copy of the containers of an argument, which the function may change after the call."""
    if isinstance(value, list | dict):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        made = [(key, _frozen(one)) for key, one in items]
        return dict(made) if isinstance(value, dict) else [one for _, one in made]
    return tuple(_frozen(one) for one in value) if type(value) is tuple else value


def record(function: Callable[[Any], Any], spec: Any) -> Program:
    """Call a function once and note what it does.

    Parameters
    ----------
    function : callable
        Takes an element.
    spec : structure of TensorSpec
        Of the elements.

    Returns
    -------
    Program

    Raises
    ------
    Untraceable
        It cannot be noted.
    """
    notes = _Notes()
    if not all(isinstance(leaf, TensorSpec) for leaf in leaves(spec)):
        raise Untraceable("its elements hold data sets")
    numbered = list(map(notes.new, leaves(spec)))
    token = RECORDING.set(notes)
    try:
        result = function(filled(spec, iter(numbered)))
    except Untraceable:
        raise
    except Exception as error:
        raise Untraceable(f"without values it raises {type(error).__name__}: {error}") from error
    finally:
        RECORDING.reset(token)
    for leaf in leaves(result):
        if not isinstance(leaf, (Recorded, *TENSORS)):
            raise Untraceable(f"it returns a {type(leaf).__name__}")
    return Program(len(numbered), tuple(notes.calls), result)

"""``tf.Session``: fetches values of the graph."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self

from recordmill.compat.tensorflow.core.errors import OutOfRangeError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.core.variable import Variable
from recordmill.compat.tensorflow.graphs.at_once import refuse_given
from recordmill.compat.tensorflow.graphs.graph import GRAPH
from recordmill.compat.tensorflow.graphs.symbols import Operation, Symbol

_RUNNING = threading.RLock()  # programs may run a session in several threads
_OPEN: list[Session] = []  # those that are default, the innermost last


class SparseTensorValue(NamedTuple):
    """Parts of a sparse tensor that was fetched."""

    indices: Any
    values: Any
    dense_shape: Any


class Session:
    """Fetches values."""

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        del target, config
        self.graph = graph
        self._closed = False
        self._passes: dict[Any, Any] = {}

    def run(
        self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Values at one moment: every reader and iterator gives one element, however often it is asked for."""
        del options, run_metadata
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        known = dict(_fed(key, value) for key, value in (feed_dict or {}).items())
        wanted = list(_leaves(fetches))
        refuse_given(wanted)
        numbers = [leaf.number for leaf in wanted if isinstance(leaf, Symbol)]
        with _RUNNING, self._current():
            found = GRAPH.values(numbers, known)
            _act([leaf for leaf in wanted if isinstance(leaf, Operation)], known)
        return _filled(fetches, found)

    @contextlib.contextmanager
    def _current(self) -> Iterator[None]:
        """Let iterators go on where this session is."""
        before, GRAPH.passes = GRAPH.passes, self._passes
        try:
            yield
        finally:
            GRAPH.passes = before

    def close(self) -> None:
        """Fetch nothing more, and end what runs ahead."""
        self._closed = True
        for one in self._passes.values():
            one.close()
        self._passes.clear()
        if self in _OPEN:
            _OPEN.remove(self)

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Self]:
        """Be the default session inside ``with``, and stay open behind it."""
        _OPEN.append(self)
        try:
            yield self
        finally:
            _OPEN.remove(self)

    def __enter__(self) -> Self:
        """Be the default session."""
        _OPEN.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Close the session."""
        self.close()
        return None


class InteractiveSession(Session):
    """Session that is the default one until it is closed."""

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        _OPEN.append(self)


class MonitoredSession(Session):
    """Session whose block ends without an error when there are no more elements."""

    def __init__(self, *given: Any, **named: Any) -> None:
        del given, named
        super().__init__()

    def should_stop(self) -> bool:
        """Whether it is closed."""
        return self._closed

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Close the session."""
        super().__exit__(kind, error, trace)
        return isinstance(error, OutOfRangeError) or None


def default_session() -> Session:
    """Session of the innermost ``with``."""
    if not _OPEN:
        raise ValueError(
            "Cannot evaluate tensor using `eval()`: No default session is registered. Use `with sess.as_default()` or "
            "pass an explicit session to `eval(session=sess)`"
        )
    return _OPEN[-1]


def get_default_session() -> Session | None:
    """Session of the innermost ``with``, if there is one."""
    return _OPEN[-1] if _OPEN else None


def _act(operations: list[Operation], known: dict[int, Any]) -> None:
    GRAPH.fed = known
    try:
        for one in operations:
            one.act()
    finally:
        GRAPH.fed = {}


def _fed(key: Any, value: Any) -> tuple[int, Any]:
    if not isinstance(key, Symbol):
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {key!r} is no value of a graph")
    dtype = None if key.spec is None else key.spec.dtype
    tensor = value if isinstance(value, SparseTensor | RaggedTensor) else as_tensor(value, dtype)
    if not key.shape.is_compatible_with(tensor.shape):
        raise ValueError(f"Cannot feed value of shape {tensor.shape} for {key!r}, which has shape {key.shape}")
    return key.number, tensor


def _leaves(fetches: Any) -> list[Any]:
    if isinstance(fetches, list | tuple):
        return [leaf for one in fetches for leaf in _leaves(one)]
    if isinstance(fetches, Mapping):
        return [leaf for one in fetches.values() for leaf in _leaves(one)]
    return [fetches]


def _filled(fetches: Any, found: Mapping[int, Any]) -> Any:
    if isinstance(fetches, Mapping):
        return type(fetches)((key, _filled(one, found)) for key, one in fetches.items())  # type: ignore[call-arg]
    if isinstance(fetches, list | tuple):
        rows = [_filled(one, found) for one in fetches]
        return (
            rows if isinstance(fetches, list) else type(fetches)(*rows) if hasattr(fetches, "_fields") else tuple(rows)
        )
    return _fetched(found[fetches.number] if isinstance(fetches, Symbol) else fetches)


def _fetched(value: Any) -> Any:
    if value is None or isinstance(value, Operation):
        return None
    if isinstance(value, SparseTensor):
        return SparseTensorValue(*(one.numpy() for one in (value.indices, value.values, value.dense_shape)))
    if isinstance(value, Variable):
        value = value.read_value()
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, RaggedTensor):
        return value
    raise TypeError(f"Fetch argument {value!r} has invalid type {type(value).__name__}, must be a Tensor or Operation")

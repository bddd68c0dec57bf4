"""``tf.Session``: runs operations and fetches values of the graph."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.core.variable import Variable
from recordmill.compat.tensorflow.graphs.graph import DEFAULT_SESSIONS, GRAPH, Operation, Symbol
from recordmill.compat.tensorflow.graphs.iterators import check_not_eager

# Programs may run sessions in several threads, but only one session can use the graph at a time.
_LOCK = threading.RLock()


class SparseTensorValue(NamedTuple):
    """``tf.SparseTensorValue``: components of a fetched sparse tensor."""

    indices: Any
    values: Any
    dense_shape: Any


class Session:
    """``tf.Session``: computes values of the graph."""

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        del target, config
        self.graph = graph
        self._is_closed = False
        self._iterators: dict[Any, Any] = {}

    def run(
        self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Compute and return the values of `fetches`; each reader and iterator advances by one element per run."""
        del options, run_metadata
        if self._is_closed:
            raise RuntimeError("Attempted to use a closed Session.")
        known = dict(_convert_fed_value(key, value) for key, value in (feed_dict or {}).items())
        fetched = list(_flatten_fetches(fetches))
        check_not_eager(fetched)
        with _LOCK, self._use_graph(known):
            found = GRAPH.compute_values([one.number for one in fetched if isinstance(one, Symbol)], known)
            for one in fetched:
                if isinstance(one, Operation):
                    one.execute()
        return _replace_symbols(fetches, found)

    @contextlib.contextmanager
    def _use_graph(self, fed: dict[int, Any]) -> Iterator[None]:
        """Within a ``with`` block, make the graph use this session's iterators and the values in `fed`."""
        before = GRAPH.iterators, GRAPH.fed
        GRAPH.iterators, GRAPH.fed = self._iterators, fed
        try:
            yield
        finally:
            GRAPH.iterators, GRAPH.fed = before

    def close(self) -> None:
        """Close the session: stop its iterators, and reject further runs."""
        self._is_closed = True
        for one in self._iterators.values():
            one.close()
        self._iterators.clear()
        if self in DEFAULT_SESSIONS:
            DEFAULT_SESSIONS.remove(self)

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Self]:
        """Return a context manager in which this is the default session."""
        DEFAULT_SESSIONS.append(self)
        try:
            yield self
        finally:
            DEFAULT_SESSIONS.remove(self)

    def __enter__(self) -> Self:
        """Make this the default session in the ``with`` block; the end of the block closes the session."""
        DEFAULT_SESSIONS.append(self)
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()


def get_default_session() -> Session | None:
    """``tf.get_default_session``: return the session of the innermost ``with`` block, or None."""
    return DEFAULT_SESSIONS[-1] if DEFAULT_SESSIONS else None


def _convert_fed_value(key: Any, value: Any) -> tuple[int, Any]:
    if not isinstance(key, Symbol):
        raise TypeError(f"the keys of feed_dict must be symbolic tensors, got {key!r}")
    dtype = None if key.spec is None else key.spec.dtype
    tensor = value if isinstance(value, SparseTensor | RaggedTensor) else as_tensor(value, dtype)
    if not key.shape.is_compatible_with(tensor.shape):
        raise ValueError(f"Cannot feed value of shape {tensor.shape} for {key!r}, which has shape {key.shape}")
    return key.number, tensor


def _flatten_fetches(fetches: Any) -> Iterator[Any]:
    if isinstance(fetches, list | tuple | Mapping):
        for one in fetches.values() if isinstance(fetches, Mapping) else fetches:
            yield from _flatten_fetches(one)
    else:
        yield fetches


def _replace_symbols(fetches: Any, found: Mapping[int, Any]) -> Any:
    """Replace the symbolic tensors in nested fetches by their values, converted to NumPy arrays."""
    if isinstance(fetches, Mapping):
        return type(fetches)((key, _replace_symbols(one, found)) for key, one in fetches.items())  # type: ignore[call-arg]
    if isinstance(fetches, list | tuple):
        values = [_replace_symbols(one, found) for one in fetches]
        return type(fetches)(*values) if hasattr(fetches, "_fields") else type(fetches)(values)
    return _convert_fetched_value(found[fetches.number] if isinstance(fetches, Symbol) else fetches)


def _convert_fetched_value(value: Any) -> Any:
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

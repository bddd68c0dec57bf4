"""Values that a session will know, and what it does to know them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from recordmill.compat.tensorflow.core.dispatch import op, run
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.data.recorded import Recorded

# Parts of sparse and ragged tensors, which are values of the graph too.
_PARTS = frozenset({"values", "indices", "dense_shape", "flat_values", "row_splits"})


class Step(Protocol):
    """What a session does to know some values."""

    def inputs(self) -> set[int]:
        """Numbers of the values that it needs."""

    def make(self, known: dict[int, Any]) -> None:
        """Put values to the known ones."""


class Symbol(Recorded):
    """Stands for a value until a session fetches it."""

    __slots__ = ()
    of_graph = True

    @property
    def dtype(self) -> DType:
        """Dtype, where it is known."""
        if self.spec is None:
            raise self._lacks("known dtype")
        return self.spec.dtype

    @property
    def shape(self) -> TensorShape:
        """Shape, as far as it is known."""
        return TensorShape(None) if self.spec is None else self.spec.shape

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Value, fetched by a session or by the default one."""
        from recordmill.compat.tensorflow.graphs.sessions import default_session

        return (session or default_session()).run(self, feed_dict)

    def _lacks(self, name: str) -> AttributeError:
        return AttributeError(f"a value of a graph has no {name}: fetch it with tf.Session().run", name=name, obj=self)

    def __getattr__(self, name: str) -> Any:
        """Part of a sparse or ragged tensor; whatever else a value has, it has when it is fetched."""
        if name in _PARTS:
            return run("graph.part", self, name)
        raise self._lacks(f"attribute {name!r}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        """Refused: NumPy does not wait."""
        raise NotImplementedError(
            "a value of a graph is asked for before a session has fetched it: fetch it with tf.Session().run, or do it "
            "in the function that is given to Dataset.map"
        )

    def __bool__(self) -> NoReturn:
        """Refused, as TensorFlow does it."""
        raise TypeError("Using a `tf.Tensor` as a Python `bool` is not allowed: fetch it with tf.Session().run")

    def __iter__(self) -> NoReturn:
        """Refused, as TensorFlow does it."""
        raise TypeError("Iterating over a symbolic `tf.Tensor` is not allowed: fetch it with tf.Session().run")

    def __len__(self) -> NoReturn:
        """Refused, as TensorFlow does it."""
        raise TypeError("len is not well defined for a symbolic Tensor. Please call `x.shape` rather than `len(x)`")

    def __int__(self) -> NoReturn:
        """Refused."""
        raise TypeError("a value of a graph is no Python number: fetch it with tf.Session().run")

    __float__ = __index__ = __int__

    def __eq__(self, other: object) -> bool:
        """Whether it is the same value, as in TensorFlow 1."""
        return self is other

    def __ne__(self, other: object) -> bool:
        """Whether it is another value."""
        return self is not other

    def __hash__(self) -> int:  # type: ignore[override]
        """Hash, so that it can be a key of ``feed_dict``."""
        return hash((Symbol, self.number))

    def __repr__(self) -> str:
        """Readable form."""
        told = "unknown" if self.spec is None else f"shape={self.spec.shape}, dtype={self.spec.dtype.name}"
        return f"<tf.Tensor 'value_{self.number}:0' {told}>"


class Operation:
    """Something that a session does for its effect."""

    def __init__(self, act: Callable[[], Any] | None = None) -> None:
        self.act = act or (lambda: None)

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Do it in a session, or in the default one."""
        from recordmill.compat.tensorflow.graphs.sessions import default_session

        (session or default_session()).run(self, feed_dict)


@op("graph.part")
def part(value: Any, name: str) -> Any:
    """Part of a sparse or ragged tensor."""
    return getattr(value, name)

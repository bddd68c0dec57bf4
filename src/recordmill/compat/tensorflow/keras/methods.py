"""What methods of Keras's models learn about: our tensors, and checkpoints to go on from."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.train.checkpoints import Checkpoint

ON_BATCH = ("train_on_batch", "test_on_batch", "predict_on_batch")


def register_methods(library: Any) -> None:
    """Let Keras's models take our tensors and checkpoints; they do everything else as before."""
    model = library.Model
    for name in ON_BATCH:
        setattr(model, name, _taking_tensors(getattr(model, name)))
    model.load_weights = _restoring(model.load_weights)
    model.get_metrics_result = _giving_values(model.get_metrics_result, library)


def _taking_tensors(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(self, *(_plain(one) for one in args), **{name: _plain(one) for name, one in kwargs.items()})

    return call


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.values
    if type(value) in (tuple, list):
        return type(value)(_plain(one) for one in value)
    return {key: _plain(one) for key, one in value.items()} if type(value) is dict else value


def _restoring(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def load_weights(self: Any, filepath: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(filepath, Checkpoint) and self.built:
            optimizer = getattr(self, "optimizer", None)
            # Keras leaves out the state of an optimizer that has no variables yet.
            if optimizer is not None and not optimizer.built:
                optimizer.build(self.trainable_variables)
        return method(self, filepath, *args, **kwargs)

    return load_weights


def _giving_values(method: Callable[..., Any], library: Any) -> Callable[..., Any]:
    """A metric whose result is one of its variables, as TensorFlow's may have, gives the value."""

    @functools.wraps(method)
    def get_metrics_result(self: Any) -> Any:
        return library.tree.map_structure(_value, method(self))

    def _value(one: Any) -> Any:
        return one.value if isinstance(one, library.Variable) else one

    return get_metrics_result

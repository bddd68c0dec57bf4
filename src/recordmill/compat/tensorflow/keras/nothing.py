"""``fit`` and ``evaluate`` on a data set without batches: TensorFlow's answers, where Keras's other backends break.

A trained model that then gets a data set of unknown length without batches is Keras's own affair.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow.keras.feeding import is_dataset


def register_nothing(library: Any) -> None:
    """Let Keras's models take data sets of ours that turn out to be empty."""
    model = library.Model
    model.fit = _answering(model.fit, lambda self, _: _no_epochs(library, self))
    model.evaluate = _answering(model.evaluate, lambda _, kwargs: {} if kwargs.get("return_dict") else [])


def _answering(method: Callable[..., Any], answer: Callable[[Any, dict[str, Any]], Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        data: Any = args[0] if args else kwargs.get("x")
        if not is_dataset(data):
            return method(self, *args, **kwargs)
        if int(data.cardinality()) == 0:
            return answer(self, kwargs)
        try:
            return method(self, *args, **kwargs)
        except StopIteration:
            # A model that is not built yet counts on a first batch.
            return answer(self, kwargs)

    return call


def _no_epochs(library: Any, model: Any) -> Any:
    """History of a training that saw nothing."""
    history = library.callbacks.History()
    history.set_model(model)
    history.on_train_begin()
    model.history = history
    return history

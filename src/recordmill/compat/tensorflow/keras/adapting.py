"""``adapt`` of Keras's layers on a data set of this package."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow.keras.feeding import is_dataset

_LAYERS = ("Normalization", "Discretization")


def register_adapt(library: Any) -> None:
    """Let layers that measure data take data sets of ours; they do everything else as before."""
    for name in _LAYERS:
        layer = getattr(library.layers, name)
        layer.adapt = _taking_datasets(layer.adapt)


def _taking_datasets(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def adapt(self: Any, data: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_dataset(data):
            return method(self, data, *args, **kwargs)
        from recordmill.compat.tensorflow.keras.folders import ours_in

        with ours_in(sys.modules[method.__module__]):
            return method(self, data, *args, **kwargs)

    return adapt

"""Operations as methods of the array, which NumPy calls with options of its own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from recordmill.compat.mxnet.nd.arithmetic import plain
from recordmill.compat.mxnet.nd.arrays import NDArray

# Operations that are methods of the array too, in the module where they are.
_METHODS = {
    "elementwise": "abs sqrt square exp log floor ceil sign sin cos round clip take pick one_hot dot tanh log2 log10 "
    "log1p expm1 cbrt trunc fix reciprocal rsqrt relu sigmoid",
    "reducing": "sum nansum prod mean max min norm argmax argmin argsort sort topk",
    "shaping": "reshape reshape_like transpose flatten expand_dims squeeze swapaxes flip tile repeat slice slice_axis "
    "slice_like split broadcast_to broadcast_like",
}


def attach(*modules: ModuleType) -> None:
    """Make methods of the array of the operations of some modules."""
    for module in modules:
        for name in _METHODS[module.__name__.rpartition(".")[2]].split():
            setattr(NDArray, name, as_method(name, getattr(module, name)))


def as_method(name: str, operation: Callable[..., Any]) -> Callable[..., Any]:
    """Method for an operation whose first argument is the array."""
    numpys: Any = getattr(np.ndarray, name, None)
    if numpys is None:
        return operation
    known = set(inspect.signature(operation).parameters)

    @functools.wraps(operation)
    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        if options.keys() <= known:
            return operation(self, *arguments, **options)
        return numpys(plain(self), *plain(arguments), **plain(options))

    return method

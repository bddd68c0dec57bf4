"""``mx.nd``: arrays in host memory and the operations on them that data programs use."""

from __future__ import annotations

from recordmill.compat.mxnet.base import create_module_getattr
from recordmill.compat.mxnet.nd.arrays import NDArray, wrap
from recordmill.compat.mxnet.nd.operations import OPERATIONS, array, flip, full, stack, zeros

# Most operations are generated from a table and cannot be imported by name.
globals().update(OPERATIONS)

__getattr__ = create_module_getattr(
    __name__,
    {
        "random": "use numpy.random",
        "sparse": "use scipy.sparse",
        "save": "use numpy.savez on .asnumpy()",
        "load": "use numpy.load",
    },
    "use NumPy's operation on .asnumpy()",
)

__all__ = ["NDArray", "array", "flip", "full", "stack", "wrap", "zeros"]

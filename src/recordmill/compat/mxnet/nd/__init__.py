"""``mx.nd``: arrays in host memory, and the operations that input pipelines use."""

from __future__ import annotations

from recordmill.compat.mxnet.base import create_module_getattr
from recordmill.compat.mxnet.nd.arrays import NDArray, as_ndarray
from recordmill.compat.mxnet.nd.operations import OPERATIONS, array, flip, full, stack, zeros

# The import statement above names only some operations. The dict OPERATIONS contains all of them.
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

__all__ = ["NDArray", "array", "as_ndarray", "flip", "full", "stack", "zeros"]

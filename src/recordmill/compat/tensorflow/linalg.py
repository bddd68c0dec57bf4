"""``tf.linalg``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

# module: the names that come from it
MEMBERS = table(
    {
        "ops.decompositions": "cholesky eigh eigvalsh logdet lstsq pinv qr set_diag slogdet solve svd tensor_diag "
        "tensor_diag_part",
        "ops.making": "eye",
        "ops.matrices": "diag diag_part einsum l2_normalize matmul matvec norm tensordot",
        "ops.ratios": "global_norm",
        "ops.shaping": "matrix_transpose",
        "ops.squares": "adjoint band_part cross det inv normalize trace",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)

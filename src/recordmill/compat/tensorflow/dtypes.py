"""``tf.dtypes``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

# module: the names that come from it
MEMBERS = table(
    {
        "core.dtypes": "DType as_dtype bool:bool_ complex64 complex128 double float16 float32 float64 half int16 int32 "
        "int64 int8 string uint16 uint32 uint64 uint8",
        "ops.casting": "cast saturate_cast",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)

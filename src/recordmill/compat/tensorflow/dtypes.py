"""``tf.dtypes``: dtypes and ``cast``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes, map_names_to_sources

MEMBERS = map_names_to_sources(
    {
        "@array": "cast saturate_cast",
        "core.dtypes": "DType as_dtype bfloat16 bool:bool_ complex64 complex128 double float16 float32 float64 half "
        "int8 int16 int32 int64 string uint8 uint16 uint32 uint64",
    }
)
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS)

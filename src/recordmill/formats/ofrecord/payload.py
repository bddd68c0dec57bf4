"""OneFlow's ``OFRecord`` message: one map of features with five kinds of lists."""

from __future__ import annotations

from recordmill import _core
from recordmill.formats.native import NativeCodec

OFRECORD_MESSAGE = NativeCodec(
    "ofrecord", _core.PayloadKind.OFRECORD, ("bytes", "float32", "float64", "int32", "int64")
)

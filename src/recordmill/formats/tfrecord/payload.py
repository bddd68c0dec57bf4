"""``tf.train.Example`` and ``tf.train.SequenceExample``."""

from __future__ import annotations

from recordmill import _core
from recordmill.formats.native import NativeCodec

EXAMPLE = NativeCodec("example", _core.PayloadKind.EXAMPLE, ("bytes", "float32", "int64"))
SEQUENCE_EXAMPLE = NativeCodec("sequence_example", _core.PayloadKind.SEQUENCE_EXAMPLE, ("bytes", "float32", "int64"))

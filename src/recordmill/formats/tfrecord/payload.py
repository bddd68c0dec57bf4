"""Payload codecs of ``tf.train.Example`` and ``tf.train.SequenceExample``."""

from __future__ import annotations

from dataclasses import dataclass

from recordmill import _core
from recordmill.formats.native import NativeCodec
from recordmill.types import Ragged


@dataclass(frozen=True, slots=True)
class ExampleCodec(NativeCodec):
    """Codec of ``tf.train.Example``."""

    def accepts(self, payloads: Ragged) -> bool:
        """Return True if all payloads can be parsed and none has feature lists, which only a SequenceExample has."""
        return NativeCodec.accepts(self, payloads) and not any(map(_core.has_feature_lists, payloads))


EXAMPLE = ExampleCodec("example", _core.PayloadKind.EXAMPLE, ("bytes", "float32", "int64"))
SEQUENCE_EXAMPLE = NativeCodec("sequence_example", _core.PayloadKind.SEQUENCE_EXAMPLE, ("bytes", "float32", "int64"))

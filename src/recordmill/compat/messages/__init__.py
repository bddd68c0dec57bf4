"""Protobuf messages as Python scripts use them, declared field by field: what the frameworks' message classes share."""

from recordmill.compat.messages.fields import Mapped, Nested, Repeated, RepeatedMessages
from recordmill.compat.messages.message import Message
from recordmill.compat.messages.scalars import BYTES, FLOAT32, FLOAT64, INT32, INT64

__all__ = [
    "BYTES",
    "FLOAT32",
    "FLOAT64",
    "INT32",
    "INT64",
    "Mapped",
    "Message",
    "Nested",
    "Repeated",
    "RepeatedMessages",
]

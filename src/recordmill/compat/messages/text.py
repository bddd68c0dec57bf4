"""Protobuf's text form of messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from recordmill.compat.messages import scalars
from recordmill.compat.messages.fields.mapped import Mapped
from recordmill.compat.messages.fields.repeated import Repeated

if TYPE_CHECKING:
    from recordmill.compat.messages.message import Message

_NAMED = {0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t", 0x22: '\\"', 0x27: "\\'", 0x5C: "\\\\"}
_ESCAPED = [_NAMED.get(byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in range(256)]


def text_of(message: Message) -> str:
    """Fields in the order of their numbers, map entries in that of their names, one value a line."""
    return "".join(f"{line}\n" for line in _lines(message))


def _lines(message: Message) -> Iterator[str]:
    for field, value in message.ListFields():
        if isinstance(field, Repeated):
            yield from (f"{field.name}: {_scalar(field.scalar, item)}" for item in value)
        elif isinstance(field, Mapped):
            for key in sorted(value):
                yield from _block(field.name, [f'key: "{_key(key)}"', *_block("value", _lines(value[key]))])
        else:
            for inner in (value,) if field.has_presence else value:
                yield from _block(field.name, _lines(inner))


def _block(name: str, lines: Any) -> Iterator[str]:
    yield f"{name} {{"
    yield from (f"  {line}" for line in lines)
    yield "}"


def _scalar(scalar: Any, value: Any) -> str:
    if scalar is scalars.BYTES:
        return '"' + "".join([_ESCAPED[byte] for byte in value]) + '"'
    if scalar is scalars.FLOAT32:
        short = f"{value:.6g}"
        return short if np.float32(short) == value or value != value else f"{value:.9g}"  # noqa: PLR0124 (NaN)
    if scalar is scalars.FLOAT64:
        short = f"{value:.15g}"
        return short if float(short) == value or value != value else f"{value:.17g}"  # noqa: PLR0124 (NaN)
    return str(value)


def _key(key: str) -> str:
    escaped = []
    for character in key:
        code = ord(character)
        if 0xDC80 <= code <= 0xDCFF:
            code -= 0xDC00
            escaped.append(f"\\{code:03o}")
        else:
            escaped.append(_ESCAPED[code] if code < 128 else character)
    return "".join(escaped)

"""JSON spellings of bytes, floats and protobuf messages that lose nothing.

bytes    lower-case hexadecimal
floats   the IEEE bits in hexadecimal, most significant digit first: 8 digits are a float32, 16 a float64
feature  {"kind": "bytes_list" | "float_list" | ... | null, "values": [...]}; null is a Feature without a list
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any


def float32_bits(value: float) -> str:
    """Return the bits of `value` as a float32; beyond its range the value is infinite, as in protobuf."""
    try:
        return struct.pack(">f", value).hex()
    except OverflowError:
        return "7f800000" if value > 0 else "ff800000"


def float64_bits(value: float) -> str:
    """Return the bits of `value` as a float64."""
    return struct.pack(">d", value).hex()


def float_of(bits: str) -> float:
    """Return the float whose bits `float32_bits` or `float64_bits` wrote."""
    return float(struct.unpack(">f" if len(bits) == 8 else ">d", bytes.fromhex(bits))[0])


def spell(kind: str | None, values: Any) -> list[Any]:
    """Return the values of a list of that kind as JSON values."""
    if kind == "bytes_list":
        return [bytes(value).hex() for value in values]
    if kind == "float_list":
        return [float32_bits(value) for value in values]
    if kind == "double_list":
        return [float64_bits(value) for value in values]
    return [int(value) for value in values]


def unspell(feature: dict[str, Any]) -> list[Any]:
    """Return the values behind a feature's JSON form."""
    if feature["kind"] == "bytes_list":
        return [bytes.fromhex(value) for value in feature["values"]]
    if feature["kind"] in ("float_list", "double_list"):
        return [float_of(value) for value in feature["values"]]
    return list(feature["values"])


def feature_json(message: Any) -> dict[str, Any]:
    """Return the JSON form of a Feature message of TensorFlow or OneFlow."""
    kind = message.WhichOneof("kind")
    return {"kind": kind, "values": spell(kind, getattr(message, kind).value) if kind else []}


def features_json(entries: Any) -> dict[str, Any]:
    """Return the JSON form of a map of Feature messages, sorted by key."""
    return {key: feature_json(entries[key]) for key in sorted(entries)}


def sequence_json(message: Any) -> dict[str, Any]:
    """Return the JSON form of a SequenceExample message."""
    lists = message.feature_lists.feature_list
    frames = {key: [feature_json(frame) for frame in lists[key].feature] for key in sorted(lists)}
    return {"context": features_json(message.context.feature), "feature_lists": frames}


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a JSON object with one line per element of its lists, so that differences stay readable."""
    parts = []
    for name, value in document.items():
        if isinstance(value, list) and value:
            rows = ",\n  ".join(json.dumps(row, sort_keys=False) for row in value)
            parts.append(f'"{name}": [\n  {rows}\n ]')
        else:
            parts.append(f'"{name}": {json.dumps(value)}')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{\n " + ",\n ".join(parts) + "\n}\n", encoding="utf-8", newline="\n")

"""Values at the edges of their types, keys of every sort, and the JSON form of a feature."""

from __future__ import annotations

from typing import Any

INT_EDGES = [0, 1, -1, 127, 128, -128, 16383, 16384, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63)]
FLOAT_EDGES = ["00000000", "80000000", "3f800000", "bf800000", "7f7fffff", "00800000", "00000001", "7f800000"]
FLOAT_EDGES += ["ff800000", "7fc00000", "ffc00000", "7fc00123", "3dcccccd", "4b800001"]
KEYS = [
    "",
    "a",
    "b",
    "image",
    "image/encoded",
    "label",
    "z",
    "Z",
    "\0",
    "a\0b",
    "ключ",
    "画像",
    "\U0001f600",
    "aa",
    "k" * 130,
]


def feature(kind: str | None, values: list[Any]) -> dict[str, Any]:
    """Return a feature in JSON form from JSON values."""
    return {"kind": kind, "values": values}

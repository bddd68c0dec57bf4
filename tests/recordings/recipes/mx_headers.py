"""IRHeader records as mx.recordio.pack makes them and unpack reads them, and what both refuse."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as np

from recipes.mx_records import error_json, write
from recipes.values import float32_bits, write_json

MAKERS = {
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "tuple": tuple,
    "none": lambda value: None,
    "text": str,
    "float32": np.float32,
    "float64": np.float64,
    "int64": np.int64,
    "uint8": np.uint8,
    "array float32": lambda value: np.array(value, np.float32),
    "array float64": lambda value: np.array(value, np.float64),
    "array int64": lambda value: np.array(value, np.int64),
}
Case = tuple[str, int, tuple[str, Any], int, int, bytes]


def cases() -> list[Case]:
    """Return name, flag, label (how it is made, from what), id, id2, data."""
    photo, nan = b"\xff\xd8 not a photo", math.nan
    labels: dict[str, tuple[str, Any]] = {
        "integer": ("int", 3),
        "float": ("float", 0.1),
        "negative float": ("float", -2.5),
        "integer above 2**24": ("int", 16777217),
        "bool": ("bool", True),
        "float32": ("float32", 0.1),
        "float64": ("float64", 0.1),
        "int64": ("int64", -7),
        "uint8": ("uint8", 255),
        "float beyond float32": ("float", 1e-50),
        "not a number": ("float", nan),
        "infinity": ("float", math.inf),
        "list": ("list", [1, 2, 3]),
        "list of one": ("list", [5]),
        "empty list": ("list", []),
        "tuple": ("tuple", [0.5, 0.25]),
        "list with rounding": ("list", [16777217, 0.1]),
        "list with not a number": ("list", [nan, math.inf]),
        "nested list": ("list", [[1, 2], [3, 4]]),
        "vector": ("array float32", [1.5, 2.5]),
        "vector of float64": ("array float64", [0.1, 0.2, 0.3]),
        "vector of int64": ("array int64", [1, 2, 2**53 + 1]),
        "matrix": ("array float32", [[1, 2, 3], [4, 5, 6]]),
        "0-d array": ("array float32", 7),
        "empty array": ("array float32", []),
        "none": ("none", None),
    }
    rows: list[Case] = [(f"label: {name}", 0, label, 1, 0, photo) for name, label in labels.items()]
    rows += [(f"flag {flag} with a scalar", flag, ("float", 4.0), 2, 0, photo) for flag in (1, 3, 2**32 - 1)]
    rows += [(f"flag {flag} with a vector", flag, ("list", [4.0, 5.0]), 2, 0, photo) for flag in (0, 1, 9)]
    rows += [("no data", 0, ("int", 1), 0, 0, b""), ("no data, vector", 0, ("list", [1, 2]), 0, 0, b"")]
    rows += [
        ("large ids", 0, ("int", 1), 2**64 - 1, 2**63, b"x"),
        ("many labels", 0, ("list", list(range(64))), 5, 6, b"x"),
    ]
    rows += [("id of -1", 0, ("int", 1), -1, 0, b"x"), ("id of 2**64", 0, ("int", 1), 2**64, 0, b"x")]
    rows += [("flag of -1 with a scalar", -1, ("int", 1), 0, 0, b"x"), ("label: text", 0, ("text", "cat"), 0, 0, b"x")]
    return [*rows, ("label: list of text", 0, ("list", ["cat"]), 0, 0, b"x")]


def header_json(header: Any, data: bytes) -> dict[str, Any]:
    """Return the fields of an unpacked record; the label as the bits of its float32 values."""
    label = header.label
    bits = [float32_bits(value) for value in label] if isinstance(label, np.ndarray) else float32_bits(label)
    return {"flag": header.flag, "label": bits, "id": header.id, "id2": header.id2, "data": bytes(data).hex()}


def summary_json(raw: bytes) -> dict[str, Any]:
    """Return the fields of a packed record; of its data, the last bytes of the record, the length alone."""
    fields = header_json(*mx.recordio.unpack(raw))
    return {**fields, "data": len(fields["data"]) // 2}


def unpack(raw: bytes) -> dict[str, Any]:
    """Return what mx.recordio.unpack reads, or its error."""
    try:
        return header_json(*mx.recordio.unpack(raw))
    except Exception as error:  # which class it is belongs to the recording
        return {"error": error_json(error)}


def _spell(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return [_spell(item) for item in value] if isinstance(value, list) else value


def _pack(case: Case) -> dict[str, Any]:
    name, flag, (made, value), id_, id2, data = case
    row = {
        "name": name,
        "flag": flag,
        "label": {"as": made, "values": _spell(value)},
        "id": id_,
        "id2": id2,
        "data": data.hex(),
    }
    try:
        packed = mx.recordio.pack(mx.recordio.IRHeader(flag, MAKERS[made](value), id_, id2), data)
    except Exception as error:  # as above
        return {**row, "error": error_json(error)}
    return {**row, "packed": packed.hex(), "unpacked": unpack(packed)}


def broken() -> dict[str, bytes]:
    """Return records that are no IRHeader records, or only half of one."""
    whole = mx.recordio.pack(mx.recordio.IRHeader(0, [1.0, 2.0], 3, 0), b"data")
    return {
        "empty": b"",
        "23 bytes": whole[:23],
        "header only, two labels stated": whole[:24],
        "one label of two": whole[:28],
        "half a label": whole[:30],
        "labels, no data": whole[:32],
        "flag of 2**32 - 1": b"\xff" * 4 + whole[4:],
        "scalar header, label bits of NaN": bytes(4) + b"\x23\x01\xc0\x7f" + bytes(16) + b"z",
    }


def record(out: Path) -> None:
    """Write OUT/headers: headers.rec with every record that packs, and expected.json."""
    folder = out / "headers"
    folder.mkdir(parents=True, exist_ok=True)
    rows = [_pack(case) for case in cases()]
    packed = [bytes.fromhex(row["packed"]) for row in rows if "packed" in row]
    write(folder / "headers.rec", packed)
    file = {
        "path": "headers.rec",
        "records": [raw.hex() for raw in packed],
        "headers": [summary_json(raw) for raw in packed],
    }
    odd = [{"name": name, "packed": raw.hex(), "unpacked": unpack(raw)} for name, raw in broken().items()]
    write_json(folder / "expected.json", {"files": [file], "packs": rows, "broken": odd})

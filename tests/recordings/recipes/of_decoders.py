"""What OFRecordRawDecoder and OFRecordBytesDecoder make of values, types and shapes that do not match."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from recipes import isolate
from recipes.edges import feature
from recipes.frames import ofrecord
from recipes.of_messages import message_of
from recipes.of_reading import decode, outcome
from recipes.values import float32_bits, float64_bits, write_json

INT32, INT64, FLOATS, DOUBLES, RAW = "int32_list", "int64_list", "float_list", "double_list", "bytes_list"


def forms() -> dict[str, dict[str, Any]]:
    """Return the stored features by name."""
    floats = [1.75, -2.5, 100.99, 0.0]
    return {
        "small": feature(INT64, [1, -2, 127, 100]),
        "wide": feature(INT64, [300, -129, 2**31 + 5, 2**33 + 5]),
        "ints": feature(INT32, [300, -1, 2**31 - 1, -(2**31)]),
        "floats": feature(FLOATS, [float32_bits(value) for value in floats]),
        "doubles": feature(DOUBLES, [float64_bits(value) for value in [*floats[:3], 0.1]]),
        "raw": feature(RAW, [bytes([0, 1, 127, 128, 255, 200]).hex()]),
        "empty": feature(INT64, []),
        "no_kind": feature(None, []),
        "two_strings": feature(RAW, ["01", "02"]),
        "no_string": feature(RAW, []),
    }


def cases() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return by name the feature asked for and the decoder's settings."""
    rows: dict[str, tuple[str, dict[str, Any]]] = {}
    for stored in ("small", "wide", "ints", "floats", "doubles"):
        for dtype in ("int8", "uint8", "int32", "int64", "float32", "float64"):
            rows[f"{stored} as {dtype}"] = (stored, {"decoder": "raw", "dtype": dtype, "shape": [4]})
    for dtype in ("int8", "uint8", "int32", "int64", "float32", "float64"):
        rows[f"raw as {dtype}"] = ("raw", {"decoder": "raw", "dtype": dtype, "shape": [6]})
    base = {"decoder": "raw", "dtype": "int64"}
    shapes = {"a matrix": [2, 2], "one more dimension": [1, 4, 1], "too short": [3], "too long": [5], "a scalar": []}
    rows |= {f"small in {name}": ("small", {**base, "shape": shape}) for name, shape in shapes.items()}
    truncated = {
        "cut": ("small", [3]),
        "padded": ("small", [6]),
        "exact": ("small", [4]),
        "padded from nothing": ("empty", [2]),
    }
    rows |= {
        f"truncate: {name}": (key, {**base, "shape": shape, "truncate": True})
        for name, (key, shape) in truncated.items()
    }
    rows |= {f"{key} as values": (key, {**base, "shape": [1]}) for key in ("empty", "no_kind", "two_strings", "absent")}
    rows["raw, its first four bytes"] = ("raw", {"decoder": "raw", "dtype": "uint8", "shape": [4]})
    return rows | {
        f"{key} as bytes": (key, {"decoder": "bytes"}) for key in ("raw", "two_strings", "no_string", "small", "absent")
    }


def look(name: str) -> dict[str, Any]:
    """Return what the decoder of a case gives."""
    key, settings = cases()[name]
    raw = message_of(forms()).SerializeToString(deterministic=True)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "part-0").write_bytes(ofrecord(raw))
        return {"decoded": decode(Path(folder), {"num_parts": 1, "fields": {key: settings}}, 1)[key][0]}


def record(out: Path, script: Path) -> None:
    """Write OUT/decoders.json."""
    names = [f"decoder:{name}" for name in cases()]
    crashing = {"too short", "too long", "a scalar"}
    alone = [
        name
        for name in names
        if any(name.endswith(end) for end in crashing) or name.split(" as ")[-1] in ("values", "bytes")
    ]
    found = isolate.run_cases(script, [name for name in names if name not in alone], out)
    found |= isolate.run_cases(script, alone, out, at_once=1)
    rows = []
    for name, (key, settings) in cases().items():
        rows.append({"name": name, "feature": key, **settings, "found": outcome(found[f"decoder:{name}"])})
    serialized = message_of(forms()).SerializeToString(deterministic=True).hex()
    write_json(out / "decoders.json", {"serialized": serialized, "features": forms(), "cases": rows})

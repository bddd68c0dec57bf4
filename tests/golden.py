"""What the real frameworks recorded: where it lies, and its values as ours would tell them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

RECORDINGS = Path(__file__).parent / "recordings"
KINDS = {
    "bytes_list": "bytes",
    "float_list": "float32",
    "double_list": "float64",
    "int32_list": "int32",
    "int64_list": "int64",
}


def load(name: str) -> Any:
    """Content of a recorded JSON file; a missing one is an error, never a skip."""
    return json.loads((RECORDINGS / name).read_text("utf-8"))


def cases(name: str, key: str) -> list[Any]:
    """Rows of a recorded JSON file, to be parametrized over; none if it is missing, which another test tells."""
    return load(name)[key] if (RECORDINGS / name).exists() else []


def copied(folder: str, destination: Path) -> Path:
    """Copy a folder of recordings to where sidecars may be written."""
    return Path(shutil.copytree(RECORDINGS / folder, destination / "recordings"))


def bits(values: list[str], width: int = 32) -> np.ndarray[Any, Any]:
    """Floats of which the bits are recorded, most significant first."""
    return np.array([int(value, 16) for value in values], f"u{width // 8}").view(f"f{width // 8}")


def recorded_values(feature: dict[str, Any]) -> list[Any]:
    """Values of a recorded feature: byte strings, the bits of floats, integers."""
    if feature["kind"] == "bytes_list":
        return [bytes.fromhex(value) for value in feature["values"]]
    if feature["kind"] in ("float_list", "double_list"):
        return [int(value, 16) for value in feature["values"]]
    return list(feature["values"])


def recorded(features: dict[str, Any]) -> dict[str, tuple[str, list[Any]]]:
    """Recorded features that have a kind, as `told` tells ours."""
    return {
        name: (KINDS[feature["kind"]], recorded_values(feature))
        for name, feature in features.items()
        if feature["kind"]
    }


def told(kind: str, row: Any) -> list[Any]:
    """Values of one of our rows: byte strings, the bits of floats, integers."""
    if kind == "bytes":
        return list(row)
    array = np.asarray(row)
    assert array.dtype == kind
    return (array.view(f"u{array.itemsize}") if array.dtype.kind == "f" else array).tolist()


def writable(feature: dict[str, Any]) -> Any:
    """Values of a recorded feature as a caller would write them."""
    kind, values = KINDS[feature["kind"]], recorded_values(feature)
    if kind == "bytes":
        return values
    return bits(feature["values"], 8 * np.dtype(kind).itemsize) if kind.startswith("float") else np.array(values, kind)

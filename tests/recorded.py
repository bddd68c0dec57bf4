"""Load recordings of the original frameworks, and convert values for comparison."""

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


def load_recording(name: str) -> Any:
    """Return the content of a recorded JSON file."""
    return json.loads((RECORDINGS / name).read_text("utf-8"))


def load_cases(name: str, key: str) -> list[Any]:
    """Return test cases of a recorded JSON file, or none if it is missing, which another test reports."""
    return load_recording(name)[key] if (RECORDINGS / name).exists() else []


def copy_recordings(folder: str, destination: Path) -> Path:
    """Copy a folder of recordings to a folder in which sidecars can be written."""
    return Path(shutil.copytree(RECORDINGS / folder, destination / "recordings"))


def floats_from_bits(values: list[str], width: int = 32) -> np.ndarray[Any, Any]:
    """Return the floats whose bits are recorded as hexadecimal numbers."""
    return np.array([int(value, 16) for value in values], f"u{width // 8}").view(f"f{width // 8}")


def decode_values(feature: dict[str, Any]) -> list[Any]:
    """Return the values of a recorded feature: byte strings, the bits of floats, or integers."""
    if feature["kind"] == "bytes_list":
        return [bytes.fromhex(value) for value in feature["values"]]
    if feature["kind"] in ("float_list", "double_list"):
        return [int(value, 16) for value in feature["values"]]
    return list(feature["values"])


def decode_features(features: dict[str, Any]) -> dict[str, tuple[str, list[Any]]]:
    """Return the kind and the values of each recorded feature that has a kind."""
    return {
        name: (KINDS[feature["kind"]], decode_values(feature)) for name, feature in features.items() if feature["kind"]
    }


def to_comparable(kind: str, row: Any) -> list[Any]:
    """Return the values of a parsed row in the form of `decode_values`."""
    if kind == "bytes":
        return list(row)
    array = np.asarray(row)
    assert array.dtype == kind
    return (array.view(f"u{array.itemsize}") if array.dtype.kind == "f" else array).tolist()


def to_writable(feature: dict[str, Any]) -> Any:
    """Return the values of a recorded feature in a form that a writer accepts."""
    kind, values = KINDS[feature["kind"]], decode_values(feature)
    if kind == "bytes":
        return values
    if kind.startswith("float"):
        return floats_from_bits(feature["values"], 8 * np.dtype(kind).itemsize)
    return np.array(values, kind)

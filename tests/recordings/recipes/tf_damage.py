"""What TensorFlow's reader delivers from damaged files, each read where a crash can be survived."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recipes import isolate
from recipes.tf_framing import read
from recipes.tfrecord_damage import PAYLOADS, STARTS, damaged
from recipes.values import write_json

MEMORY_GB = 16  # with it, an absurd length ends the process in the same way on every machine


def look(folder: Path, name: str) -> dict[str, Any]:
    """Return the records that TensorFlow delivers from a damaged file, and the error that follows."""
    compression = damaged()[name][0] if name != "missing" else ""
    records, error = read(folder / f"{name}.tfrecord", compression)
    if error:
        error["message"] = error["message"].replace(f"{folder}/", "")
    return {"records": [record.hex() for record in records], "error": error}


def record(out: Path, script: Path) -> None:
    """Write OUT/damage: the files and expected.json."""
    folder = out / "damage"
    folder.mkdir(parents=True, exist_ok=True)
    cases = damaged()
    for name, (_, data) in cases.items():
        (folder / f"{name}.tfrecord").write_bytes(data)
    names = [*cases, "missing"]
    found = isolate.run_cases(script, names, folder, memory_gb=MEMORY_GB)
    rows = []
    for name in names:
        outcome = found[name]
        outcome.pop("log", None)  # addresses and times
        rows.append({"path": f"{name}.tfrecord", "compression": cases.get(name, ("",))[0], **outcome})
    whole = {"payloads": [payload.hex() for payload in PAYLOADS], "offsets": STARTS}
    write_json(folder / "expected.json", {**whole, "memory_gb": MEMORY_GB, "cases": rows})

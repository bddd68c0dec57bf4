"""Writes PROVENANCE.json: for every recorded file the tool, its versions, the script and the SHA-256."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from environments import PACKAGES

HERE = Path(__file__).resolve().parent
SCRIPTS = {"tensorflow": "make_tensorflow.py", "mxnet": "make_mxnet.py", "oneflow": "make_oneflow.py"}
# Recordings of a framework's programs, one folder a framework, each with scripts of its own.
COMPAT = "compat"


def entry(path: Path) -> dict[str, object]:
    """Return what is known of one recorded file."""
    parts = path.relative_to(HERE).parts
    tool = parts[parts[0] == COMPAT]
    script = nearest(path) if parts[0] == COMPAT else SCRIPTS[tool]
    if path.suffix == ".tfindex":
        tool, script = "tfrecord", "make_tfrecord_index.py"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"tool": PACKAGES[tool][0], "with": PACKAGES[tool][1:], "script": script, "sha256": digest}


def nearest(path: Path) -> str:
    """Return the script beside a recorded file, or beside a folder that it lies in."""
    return next(str((folder / "make.py").relative_to(HERE)) for folder in path.parents if (folder / "make.py").exists())


def main() -> None:
    """Write the table of all recorded files, sorted by path."""
    found = sorted(path for tool in (*SCRIPTS, COMPAT) for path in (HERE / tool).rglob("*") if path.is_file())
    paths = [path for path in found if path.suffix not in (".py", ".pyc")]
    table = {str(path.relative_to(HERE)): entry(path) for path in paths}
    rows = ",\n ".join(f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in table.items())
    (HERE / "PROVENANCE.json").write_text("{\n " + rows + "\n}\n", encoding="utf-8")
    print(f"{len(table)} files")


if __name__ == "__main__":
    main()

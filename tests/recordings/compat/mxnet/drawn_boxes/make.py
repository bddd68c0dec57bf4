"""Records pictures and boxes that MXNet 1.9.1 drew in one thread: make.py [FOLDER] in environments.py's mxnet.

Writes expected.json with what the programs of tests/compat/mxnet/detection_augmentation_programs.py found.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import mxnet as mx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[4]))

from tests.compat.mxnet import detection_augmentation_programs  # noqa: E402


def main() -> None:
    """Run every program and write what it found."""
    found = {}
    for name, program in detection_augmentation_programs.PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            found[name] = program(mx, folder)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
    folder = Path(sys.argv[1]) if sys.argv[1:] else HERE
    (folder / "expected.json").write_text("{\n" + rows + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Records pictures and boxes of MXNet 1.9.1, drawn in one thread: python make.py in the mxnet of environments.py.

Writes expected.json with what the programs of tests/compat/mxnet/box_record_programs.py found.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import mxnet as mx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[4]))

from tests.compat.mxnet import box_record_programs  # noqa: E402


def main() -> None:
    """Run every program and write what it found."""
    found = {}
    for name, program in box_record_programs.PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            found[name] = program(mx, folder)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
    (HERE / "expected.json").write_text("{\n" + rows + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Records what TensorFlow 2.21.0 makes of small pipelines: python make.py, in the tensorflow of environments.py.

Writes expected.json with what the programs of tests/compat/tensorflow/data_programs.py found: elements in order, specs,
cardinalities, classes and first lines of errors.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}

import numpy as np
import tensorflow as tf

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[4]))

from tests.compat.tensorflow.data_programs import PROGRAMS, drop_types  # noqa: E402


def main() -> None:
    """Run every program and write what it found."""
    found = {"versions": {"tensorflow": tf.__version__, "numpy": np.__version__}}
    for name, program in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            made = program(tf, folder)
            found[name] = drop_types(made) if name == "errors" else made
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
    (HERE / "expected.json").write_text("{\n" + rows + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

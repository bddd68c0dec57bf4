"""Records what programs of TensorFlow 1 find in TensorFlow 2.21.0: python make.py in the tensorflow of environments.py.

Writes expected.json with what the programs of tests/compat/tensorflow/graph_programs.py found.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}

import numpy as np
import tensorflow.compat.v1 as tf

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[4]))

from tests.compat.tensorflow.graph_programs import PROGRAMS  # noqa: E402


def main() -> None:
    """Run every program, in a graph of its own, and write what it found."""
    tf.disable_eager_execution()
    found = {"versions": {"tensorflow": tf.__version__, "numpy": np.__version__}}
    for name, program in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
            found[name] = program(tf, folder)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
    (HERE / "expected.json").write_text("{\n" + rows + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Records what people's programs find in TensorFlow 2.21.0: python make.py in the tensorflow of environments.py."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[5]))

from tests.compat.tensorflow.transformation_programs import PROGRAMS
from tests.recordings.compat.tensorflow.recording import record

if __name__ == "__main__":
    record(PROGRAMS, Path(__file__).resolve().parent)

"""Runs programs under TensorFlow and writes what they found; the make.py of each folder names its programs."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}


def record(programs: Mapping[str, Callable[[Any, str], Any]], folder: Path) -> None:
    """Write ``expected.json``: versions, and what each program found.

    Parameters
    ----------
    programs : mapping of str to callable
        Each takes TensorFlow and a folder of its own.
    folder : Path
    """
    import numpy as np
    import tensorflow as tf

    found: dict[str, Any] = {"versions": {"tensorflow": tf.__version__, "numpy": np.__version__}}
    for name, program in programs.items():
        with tempfile.TemporaryDirectory() as own:
            found[name] = program(tf, own)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
    (folder / "expected.json").write_text("{\n" + rows + "\n}\n", encoding="utf-8")

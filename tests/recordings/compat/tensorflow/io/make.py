"""Records what TensorFlow 2.21.0 returns and raises in the cases beside this script: python make.py [FOLDER].

Environment: that of ``../../../make_tensorflow.py``. Writes one JSON file per module of cases, beside this script or
into FOLDER.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}

import composing_cases  # noqa: E402
import file_cases  # noqa: E402
import parsing_cases  # noqa: E402
import raw_cases  # noqa: E402
import sequence_cases  # noqa: E402
import spelling  # noqa: E402
import tensorflow as tf  # noqa: E402

MODULES = (composing_cases, file_cases, parsing_cases, raw_cases, sequence_cases)


def main() -> None:
    """Run all cases, each module in an empty folder."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else HERE).resolve()
    for module in MODULES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            found = {name: spelling.outcome(act) for name, act in module.cases(tf)}
            os.chdir(target)
        rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in found.items())
        (target / f"{module.__name__}.json").write_text("{\n" + rows + "\n}\n")
        print(module.__name__, len(found))


if __name__ == "__main__":
    main()

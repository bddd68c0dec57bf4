"""Records what TensorFlow 2.21.0 gives for the expressions beside this script: python make.py [folder].

Environment: that of ``../../../make_tensorflow.py``. Writes ``expected.json``, one line for each expression.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
os.environ.update(CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="3")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from describe import describe  # noqa: E402
from expressions import CLOSE, EXACT, names_for  # noqa: E402


def main(folder: Path) -> None:
    """Write the results of all expressions."""
    lines = []
    for expression in [*EXACT, *CLOSE]:
        found: Any = describe(lambda expression=expression: eval(expression, names_for(tf, np)))
        lines.append(f"{json.dumps(expression)}: {json.dumps(found, separators=(',', ':'))}")
    versions = {"tensorflow": tf.__version__, "numpy": np.__version__}
    text = '{"versions": ' + json.dumps(versions) + ',\n"results": {\n' + ",\n".join(lines) + "\n}}\n"
    (folder / "expected.json").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)

"""Records what TensorFlow 2.21.0 makes of strings of many lengths: python make.py."""

from __future__ import annotations

import json
import os
from pathlib import Path

os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}

import numpy as np
import tensorflow as tf

LENGTHS = [*range(140), 191, 192, 193, 255, 256, 257, 1000]


def main() -> None:
    """Write ``expected.json``: strings as hexadecimal digits, and their numbers."""
    rng = np.random.default_rng(0)
    strings = [rng.integers(0, 256, length).astype(np.uint8).tobytes() for length in LENGTHS]
    found = {
        "versions": {"tensorflow": tf.__version__},
        "strings": [one.hex() for one in strings],
        "fingerprint": tf.fingerprint(strings).numpy().view("<u8")[:, 0].tolist(),
    }
    rows = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items())
    (Path(__file__).parent / "expected.json").write_text("{\n" + rows + "\n}\n")


if __name__ == "__main__":
    main()

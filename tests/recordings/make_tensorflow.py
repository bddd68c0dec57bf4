"""Records what TensorFlow 2.21.0 writes and reads: python make_tensorflow.py OUTDIR [PART ...].

Environment (CPython 3.10 to 3.13):
    pip install tensorflow-cpu==2.21.0 protobuf==7.36.2 numpy==2.4.6
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

from recipes import isolate, tf_columns, tf_damage, tf_encodings, tf_examples, tf_framing, tf_sequence

PARTS = {
    "framing": tf_framing.record,
    "examples": tf_examples.record,
    "encodings": tf_encodings.record,
    "columns": tf_columns.record,
    "sequence": tf_sequence.record,
    "damage": lambda out: tf_damage.record(out, Path(__file__).resolve()),
}


def main(arguments: list[str]) -> None:
    """Record the parts named, or all of them."""
    if arguments[0] == isolate.CHILD:
        isolate.child_main(tf_damage.look, arguments[1:])
        return
    for part in arguments[1:] or PARTS:
        PARTS[part](Path(arguments[0]))
        print(f"{part}: recorded", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Parses batches of records with TensorFlow: reads jobs from standard input, writes outcomes to standard output.

A job is ``{"call", "payloads", "context", "lists"}``: payloads in hexadecimal, features as
``{key: [class, arguments by name]}``. An outcome is spelled as in the recordings.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
sys.path.insert(0, str(Path(__file__).parents[1] / "recordings" / "compat" / "tensorflow" / "io"))

import spelling
import tensorflow as tf
from jobs import run


def main() -> None:
    """One line a job."""
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(spelling.outcome(lambda job=job: run(tf, job))), flush=True)


if __name__ == "__main__":
    main()

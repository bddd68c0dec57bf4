"""Records random augmentations and orders of MXNet 1.9.1: python make.py [FOLDER], in the mxnet of environments.py.

Reads the record files in the folder above, and writes expected.json with what the programs of
tests/compat/mxnet/augmentation_programs.py found.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import cv2
import mxnet as mx
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[4]))

from tests.compat.mxnet import augmentation_programs as programs  # noqa: E402


def main() -> None:
    """Make the recording in the folder named, or beside this script."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else HERE).resolve()
    os.chdir(HERE.parent)
    found = {"drawn": {name: programs.drawn_iterations(mx, name) for name in programs.DRAWN}}
    found["means"] = {}
    for name in programs.MEANS:
        with tempfile.TemporaryDirectory() as folder:
            found["means"][name] = programs.mean_images(mx, name, folder)
    slope = np.arange(6 * 7 * 3, dtype=np.uint8).reshape(6, 7, 3)
    image = cv2.imencode(".png", slope)[1].tobytes()
    found["image"] = image.hex()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        programs.write_long(mx, image)
        found["orders"] = [programs.long_orders(mx, number) for number in range(len(programs.ORDERS))]
        found["across chunks"] = programs.seeded_across_chunks(mx)
        os.chdir(HERE)
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
    (target / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()

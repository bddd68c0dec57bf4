"""Records what MXNet 1.9.1 makes of small images: python make.py [FOLDER], in the mxnet of environments.py.

Writes the record files, their lists and pictures, and expected.json with what the programs of
tests/compat/mxnet/programs.py found: digests of arrays, labels, pads, orders; pixels where digests are no judge.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import cv2
import mxnet as mx
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[3]))

from tests.compat.mxnet import programs  # noqa: E402

ORIENTED = bytes.fromhex("ffe1002245786966000049492a000800000001001201030001000000060000000000000000000000")[:36]


def scene(height: int, width: int, number: int) -> np.ndarray:
    """Return a picture with soft and hard edges, blue first."""
    y, x = np.mgrid[:height, :width].astype(np.float64)
    soft = [np.sin(x / (5 + number) + y / 7 + c) * 60 + 128 + (x * c - y) % 40 for c in range(3)]
    picture = np.stack(soft, axis=-1)
    picture[(x - width / 2) ** 2 + (y - height / 3) ** 2 < (6 + number) ** 2] = (30 * number % 255, 200, 90)
    return np.clip(picture, 0, 255).astype(np.uint8)


def encode(picture: np.ndarray, suffix: str, quality: int = 92) -> bytes:
    """Return an encoded picture."""
    options = [cv2.IMWRITE_JPEG_QUALITY, quality] if suffix == ".jpg" else []
    return cv2.imencode(suffix, picture, options)[1].tobytes()


def images() -> list[bytes]:
    """Return the encoded images: sizes around those asked for, colour and grey, JPEG and PNG, one to be turned."""
    sizes = [(60, 80), (80, 61), (48, 48), (33, 57), (30, 30), (100, 41), (32, 40), (31, 90), (65, 49), (72, 96)]
    made = [encode(scene(*size, number), ".jpg") for number, size in enumerate(sizes)]
    made[3] = encode(cv2.cvtColor(scene(33, 57, 3), cv2.COLOR_BGR2GRAY), ".jpg")
    made[4] = encode(scene(30, 30, 4), ".png")
    made[8] = encode(cv2.cvtColor(scene(65, 49, 8), cv2.COLOR_BGR2GRAY), ".png")
    turned = encode(scene(50, 70, 9), ".jpg")
    return [*made, turned[:2] + ORIENTED + turned[2:]]


def write(name: str, payloads: list[tuple[object, bytes]]) -> None:
    """Write records with these labels, numbered, and their index."""
    record = mx.recordio.MXIndexedRecordIO(f"{name}.idx", f"{name}.rec", "w")
    for key, (label, data) in enumerate(payloads):
        record.write_idx(key, mx.recordio.pack(mx.recordio.IRHeader(0, label, key, 0), data))
    record.close()


def make_files() -> None:
    """Write all files that the programs read."""
    encoded = images()
    write("images", [(float(number), data) for number, data in enumerate(encoded)])
    lines = [f"{key}\t{key * 2}\t0.5\t{-key}\tpictures/{key}.jpg\n" for key in range(len(encoded))]
    Path("images.lst").write_text("".join(lines))
    alpha = [cv2.cvtColor(scene(20 + n, 24, n), cv2.COLOR_BGR2BGRA) for n in range(3)]
    for number, picture in enumerate(alpha):
        picture[..., 3] = np.arange(24) * (10 - number)
    write("alpha", [(float(number), encode(picture, ".png")) for number, picture in enumerate(alpha)])
    write("vectors", [([n, n / 4], encode(scene(20, 20, n), ".png")) for n in range(5)])
    tiny = encode(np.zeros((4, 4, 3), np.uint8), ".png")
    write("shuffle", [(float(number), tiny) for number in range(23)])
    boxes = [[2, 5, 0, 0.1, 0.2, 0.3, 0.4], [2, 5, 1, 0.1, 0.2, 0.3, 0.4, 2, 0.5, 0.5, 0.9, 0.9]]
    boxes.append([4, 5, 9, 8, 3, 0, 0, 1, 1])
    write("boxes", [(boxes[n % 3], encode(scene(20 + n, 30, n), ".png")) for n in range(7)])
    folder = Path("pictures")
    folder.mkdir(exist_ok=True)
    (folder / "a.jpg").write_bytes(encoded[0])
    (folder / "exif_first.jpg").write_bytes(encoded[10])
    plain = encode(scene(50, 70, 9), ".jpg")
    jfif = 4 + int.from_bytes(plain[4:6], "big")
    (folder / "jfif_first.jpg").write_bytes(plain[:jfif] + ORIENTED + plain[jfif:])
    (folder / "b.png").write_bytes(encoded[4])
    Path("pictures.lst").write_text("5\t1\t2\ta.jpg\n7\t3\t4.5\tb.png\n9\t0\t0\ta.jpg\n")


def record() -> dict[str, object]:
    """Run all programs."""
    picture = mx.image.imdecode(Path("pictures/a.jpg").read_bytes())
    close = {}
    for name, parameters in programs.CLOSE.items():
        found = programs.batches_of(mx, count=programs.NUM_IMAGES, **parameters)
        np.savez_compressed(f"{name.replace(' ', '_')}.npz", found[0][0])
        close[name] = [label.tolist() for _, label, _ in found]
    return {
        "versions": {"mxnet": mx.__version__, "numpy": np.__version__, "opencv": cv2.__version__},
        "exact": {name: programs.exact_iterations(mx, name) for name in programs.EXACT},
        "close": close,
        "parts": [[n, programs.parts(mx, n, False)] for n in (1, 2, 3, 8)],
        "parts with index": [[n, programs.parts(mx, n, True)] for n in (1, 2, 3)],
        "shuffled": [
            [*case, programs.shuffled(mx, *case)]
            for case in [(0, False, 5), (5, False, 23), (9, True, 4), (7, False, 7)]
        ],
        "detections": {name: programs.detections(mx, **options) for name, options in programs.DETECTIONS.items()},
        "steps": programs.image_steps(mx, picture),
        "augmented": {name: programs.augmented(mx, picture, name) for name in programs.AUGMENTERS},
        "color augmented": {name: programs.nearly_augmented(mx, picture, name) for name in programs.CLOSE_AUGMENTERS},
        "orientations": programs.orientations(mx),
        "iterations": {name: programs.python_iterations(mx, name) for name in programs.ITERATIONS},
    }


def main() -> None:
    """Write everything to the folder named on the command line, or beside this script."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else HERE)
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    make_files()
    Path("expected.json").write_text(json.dumps(record(), separators=(",", ":")).replace('],"', '],\n"') + "\n")


if __name__ == "__main__":
    main()

"""Records what TensorFlow 2.21.0 makes of JPEG files that are cut: python make.py [FOLDER [N]].

Environment: that of ``make_tensorflow.py``. Reads ``files.npz`` in FOLDER, by default beside this script, and writes
``expected.npz`` there: for each file and set of options the places of the cut and a checksum of the pixels, ``FAILED``
for an error. TensorFlow does not return from some cuts behind a byte 0xff: a process of its own is asked, and ended
when it is silent (``SILENT``). With N every N-th call is made. ``python make.py files [FOLDER [SEED]]`` writes the
files with Pillow, and those of unusual sampling with OpenCV where that is installed.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import sys
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
FAILED, SILENT = -1, -2
PATIENCE_S = 3
RECOVERED, ROWS = {"try_recover_truncated": True}, {"acceptable_fraction": 0.001}
PLAIN, ACCURATE = {"fancy_upscaling": False}, {"dct_method": "INTEGER_ACCURATE"}
OPTIONS = {
    "recover": RECOVERED,
    "rows": ROWS,
    "default": {},
    "enough": {"acceptable_fraction": 0.4},
    "both": RECOVERED | {"acceptable_fraction": 0.4},
    "none needed": {"acceptable_fraction": 0.0},
    "recover plain accurate": RECOVERED | PLAIN | ACCURATE,
    "rows plain": ROWS | PLAIN,
    "recover half": RECOVERED | {"ratio": 2},
    "rows half": ROWS | {"ratio": 2},
    "rows quarter": ROWS | {"ratio": 4},
    "recover eighth": RECOVERED | {"ratio": 8},
    "recover grey": RECOVERED | {"channels": 1},
    "rows colours": ROWS | {"channels": 3},
    "recover window": RECOVERED | PLAIN | {"crop_window": [11, 3, 9, 14]},
    "rows window": ROWS | PLAIN | {"crop_window": [2, 0, 15, 11]},
}


def make_files(folder, seed):
    """Small files of each sampling, with and without restart markers."""
    from PIL import Image

    rng = np.random.default_rng(seed)

    def picture(width, height, noise=60):
        y, x = np.mgrid[:height, :width]
        base = np.stack([x * 5 % 256, y * 6 % 256, (x + y) * 4 % 256], 2)
        return np.clip(base + rng.integers(-noise, noise, (height, width, 3)), 0, 255).astype(np.uint8)

    def jpeg(pixels, mode="RGB", **options):
        out = io.BytesIO()
        Image.fromarray(pixels).convert(mode).save(out, "JPEG", **options)
        return np.frombuffer(out.getvalue(), np.uint8)

    files = {
        "grey": jpeg(picture(40, 37), "L", quality=95),
        "grey restarts": jpeg(picture(40, 24), "L", quality=70, restart_marker_blocks=1),
        "420": jpeg(picture(45, 50), quality=80, subsampling=2),
        "420 flat": jpeg(picture(60, 60, 1), quality=50, subsampling=2),
        "420 own tables": jpeg(picture(30, 40, 20), quality=85, subsampling=2, optimize=True),
        "420 restarts": jpeg(picture(45, 50), quality=80, subsampling=2, restart_marker_rows=1),
        "420 large": jpeg(picture(120, 100), quality=95, subsampling=2),
        "422": jpeg(picture(37, 20), quality=80, subsampling=1),
        "444": jpeg(picture(20, 35), quality=80, subsampling=0),
        "444 restarts": jpeg(picture(35, 24), quality=70, subsampling=0, restart_marker_blocks=2),
        "progressive": jpeg(picture(45, 50), quality=80, subsampling=2, progressive=True),
    }
    files |= unusual(picture)
    files |= {
        "progressive grey": jpeg(picture(30, 37), "L", quality=90, progressive=True),
        "progressive 444": jpeg(picture(41, 30, 20), quality=75, subsampling=0, progressive=True),
        "progressive 422 restarts": jpeg(
            picture(50, 33), quality=60, subsampling=1, progressive=True, restart_marker_blocks=3
        ),
        "progressive narrow": jpeg(picture(12, 70, 10), quality=85, subsampling=2, progressive=True),
        "progressive large": jpeg(picture(120, 100, 10), quality=80, subsampling=2, progressive=True),
    }
    np.savez_compressed(folder / "files.npz", **files)


def unusual(picture):
    """Halved height alone, and a quarter of the width."""
    try:
        import cv2
    except ImportError:
        return {}
    factors = {"440": 0x121111, "411": 0x411111}
    wanted = [cv2.IMWRITE_JPEG_QUALITY, 80, cv2.IMWRITE_JPEG_SAMPLING_FACTOR]
    return {name: cv2.imencode(".jpg", picture(50, 40), [*wanted, factor])[1] for name, factor in factors.items()}


def load_files(folder):
    with np.load(folder / "files.npz") as saved:
        return {name: saved[name].tobytes() for name in saved.files}


def cuts(name, data, label):
    """Where a file is cut: behind its headers, for the first options closely."""
    start = data.index(b"\xff\xda")
    start += 2 + int.from_bytes(data[start + 2 : start + 4], "big")
    fine = 1 if name in ("grey", "grey restarts", "422", "444 restarts", "420 own tables") else 3
    step = fine if label in ("recover", "rows") else 13
    if name == "420 large":
        return [*range(start, len(data) - 200, 29 * step), *range(len(data) - 200, len(data), step)]
    if name.startswith("progressive"):
        # A window of what libjpeg estimates is not a part of the whole picture.
        skipped = label == "recover window"
        return [] if skipped else [*range(start, len(data), 5 if label == "recover" else 97), len(data) - 2]
    return [*range(start, len(data), step), len(data) - 2, len(data) - 1]


def cases(files):
    """File, options and cut of each call."""
    for name, data in files.items():
        for label in OPTIONS:
            for cut in cuts(name, data, label):
                yield name, label, cut


def checksum(tf, data, label):
    """What a call gives: shape and pixels in 31 bits, or `FAILED`."""
    options = OPTIONS[label]
    decode = tf.io.decode_and_crop_jpeg if "crop_window" in options else tf.io.decode_jpeg
    try:
        pixels = decode(data, **options).numpy()
    except tf.errors.OpError:
        return FAILED
    return zlib.crc32(pixels.tobytes(), zlib.crc32(repr(pixels.shape).encode())) & 0x7FFFFFFF


def ask(folder, calls, answers):
    """Send the checksums of some calls."""
    os.environ["CUDA_VISIBLE_DEVICES"], os.environ["TF_CPP_MIN_LOG_LEVEL"] = "", "3"
    import tensorflow as tf

    answers.send(None)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # a line for each cut
    files = load_files(folder)
    for name, label, cut in calls:
        answers.send(checksum(tf, files[name][:cut], label))


def recorded(folder, calls):
    """Checksums of calls, or `SILENT`."""
    context, found = multiprocessing.get_context("spawn"), []
    while len(found) < len(calls):
        answers, sender = context.Pipe(duplex=False)
        process = context.Process(target=ask, args=(folder, calls[len(found) :], sender))
        process.start()
        answers.recv()
        while len(found) < len(calls) and answers.poll(PATIENCE_S):
            found.append(answers.recv())
        if len(found) < len(calls):
            found.append(SILENT)
        process.kill()
        process.join()
    return found


def main():
    if sys.argv[1:2] == ["files"]:
        folder = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE
        make_files(folder, int(sys.argv[3]) if len(sys.argv) > 3 else 3)
        return
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    step = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    keys = list(cases(load_files(folder)))[::step]
    table = {}
    for (name, label, cut), found in zip(keys, recorded(folder, keys), strict=True):
        table.setdefault(f"{name}: {label}", []).append((cut, found))
    np.savez_compressed(folder / "expected.npz", **{key: np.array(rows, np.int32) for key, rows in table.items()})


if __name__ == "__main__":
    main()

"""Records what TensorFlow 2.21.0 makes of small images: python make.py [FOLDER [SEED]].

Environment: that of ``make_tensorflow.py``. Writes ``expected.json`` (errors; dtype, shape and hash of results that
are equal) and ``expected.npz`` (results within a tolerance) to FOLDER, by default beside this script. The files decoded
are in ``tests/decode/recordings/pictures.npz`` and ``files.npz``, which ``python make.py files`` writes with Pillow.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
PICTURES = HERE.parents[3] / "decode" / "recordings" / "pictures.npz"
sys.path.insert(0, str(HERE))

from programs import programs, result  # noqa: E402


def load_files():
    """Encoded images by name."""
    found = {}
    for path in (PICTURES, HERE / "files.npz"):
        with np.load(path) as saved:
            found |= {name: saved[name].tobytes() for name in saved.files if name not in ("version", "pixels")}
    turned = [name for name in found if name.startswith("jpeg_turned") and name[-1] != "6"]
    return {name: data for name, data in found.items() if name not in turned}


def make_files():
    """Animations, transparency, and BMP of every kind."""
    from PIL import Image, __version__

    with np.load(PICTURES) as saved:
        image = Image.fromarray(saved["pixels"])
    found = {}

    def save(name, picture, encoding, **options):
        out = io.BytesIO()
        picture.save(out, encoding, **options)
        found[name] = np.frombuffer(out.getvalue(), np.uint8)

    frames = [image.rotate(angle) for angle in (0, 90, 180)]
    save("gif", image, "GIF")
    save("gif_frames", frames[0], "GIF", save_all=True, append_images=frames[1:])
    for mode in ("L", "P", "1", "RGBA"):
        save(f"bmp_{mode}", image.convert(mode), "BMP")
    clear = image.convert("RGBA")
    clear.putalpha(Image.fromarray((np.arange(117) * 2).astype(np.uint8).reshape(9, 13)))
    save("webp_clear", clear, "WEBP", lossless=True)
    save("webp_frames", frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True)
    save("png_clear", clear, "PNG")
    np.savez_compressed(HERE / "files.npz", version=np.array(__version__), **found)


def told(found):
    """Form of a result in the table."""
    if isinstance(found, bytes):
        return ["bytes", len(found), hashlib.sha256(found).hexdigest()[:10]]
    if isinstance(found, tuple):
        return ["error", *found]
    return [found.dtype.name, list(found.shape), hashlib.sha256(np.ascontiguousarray(found).tobytes()).hexdigest()[:10]]


def main():
    if sys.argv[1:] == ["files"]:
        make_files()
        return
    os.environ["CUDA_VISIBLE_DEVICES"], os.environ["TF_CPP_MIN_LOG_LEVEL"] = "", "3"
    import tensorflow as tf

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    table, arrays = {"version": tf.__version__}, {}
    for name, program in programs(tf, load_files(), int(sys.argv[2]) if len(sys.argv) > 2 else 0):
        found = result(program)
        if name[0] == "~" and isinstance(found, np.ndarray):
            arrays[name] = found
        else:
            table[name] = told(found)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in table.items())
    (folder / "expected.json").write_text("{\n" + rows + "\n}\n", encoding="utf-8")
    np.savez_compressed(folder / "expected.npz", **arrays)


if __name__ == "__main__":
    main()

"""Decodes the PNG files of this folder with a framework and writes one line per file and request.

``python judge.py pillow|opencv|tensorflow`` replaces ``pillow.txt`` (and so on) here; run it where the framework is.
A line holds the file's name, the request, height, width, channels, bits per sample, and the CRC-32 of the samples
(16-bit ones low byte first). A request that the framework refuses has no line.
"""

import io
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
Decode = Callable[[bytes], np.ndarray]


def pillow() -> tuple[str, dict[str, Decode]]:
    """Return Pillow's version, and its decoding functions by the name of the request."""
    import PIL
    from PIL import Image

    def stored(data: bytes) -> np.ndarray:
        pixels = np.asarray(Image.open(io.BytesIO(data)))
        return pixels.astype(np.uint8) * 255 if pixels.dtype == bool else pixels

    def converted(mode: str) -> Decode:
        return lambda data: np.asarray(Image.open(io.BytesIO(data)).convert(mode))

    return PIL.__version__, {"stored": stored} | {mode: converted(mode) for mode in ("L", "RGB", "RGBA")}


def opencv() -> tuple[str, dict[str, Decode]]:
    """Return OpenCV's version, and its decoding functions by the name of the request."""
    import cv2

    def read(flag: int) -> Decode:
        return lambda data: cv2.imdecode(np.frombuffer(data, np.uint8), flag)

    return cv2.__version__, {"unchanged": read(-1), "grey": read(0), "colour": read(1)}


def tensorflow() -> tuple[str, dict[str, Decode]]:
    """Return TensorFlow's version, and its decoding functions by the name of the request."""
    import tensorflow as tf

    def read(channels: int, dtype: object) -> Decode:
        return lambda data: tf.io.decode_png(data, channels=channels, dtype=dtype).numpy()

    narrow = {f"uint8_{channels}": read(channels, tf.uint8) for channels in (0, 1, 3, 4)}
    return tf.__version__, narrow | {"uint16_0": read(0, tf.uint16), "uint16_4": read(4, tf.uint16)}


def lines(requests: dict[str, Decode]) -> Iterator[str]:
    """Yield a line per file and request."""
    for path in sorted(HERE.glob("*.png")):
        for name, decode in requests.items():
            pixels = np.atleast_3d(decode(path.read_bytes()))
            samples = pixels.astype(pixels.dtype.newbyteorder("<")).tobytes()
            height, width, channels = pixels.shape
            bits = pixels.dtype.itemsize * 8
            yield f"{path.name} {name} {height} {width} {channels} {bits} {zlib.crc32(samples):08x}"


if __name__ == "__main__":
    framework = sys.argv[1]
    version, requests = {"pillow": pillow, "opencv": opencv, "tensorflow": tensorflow}[framework]()
    text = "\n".join([f"# {framework} {version}", *lines(requests), ""])
    (HERE / f"{framework}.txt").write_text(text)

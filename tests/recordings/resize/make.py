"""Records what real libraries make of small images: python make.py pillow|opencv|tensorflow|mxnet [OUTDIR].

Environments (CPython 3.11): pillow==13.0.0 | opencv-python-headless==4.14.0.94 | tensorflow-cpu==2.21.0 |
mxnet==1.9.1 numpy==1.23.5. Writes NAME.bin, little-endian arrays one after the other, and NAME.txt, one line for each:

    operation type image width height channels offset arguments ...

`type` is u8, u16 or f32, `image` the number of the source in images.txt ("width height channels offset" of
images.bin; the source of u16, and of Pillow's f32 results, is the u8 source times 257), `offset` a byte
of NAME.bin. Lines that begin with # name the versions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

SIZES = [(21, 17, 3), (13, 10, 1), (9, 12, 4), (1, 1, 3), (1, 7, 1), (16, 12, 3), (11, 64, 3)]
TARGETS = [
    [(11, 9), (9, 17), (7, 22)],
    [(6, 5), (13, 17), (1, 1)],
    [(4, 5), (13, 7)],
    [(3, 4)],
    [(1, 3), (4, 9)],
    [(8, 6), (4, 4), (16, 12)],
    [(9, 7)],
]


def images() -> list[Array]:
    """Return the sources, uint8 of shape (height, width, channels): waves with noise, noise, and hard edges."""
    draw = np.random.RandomState(20)
    made = []
    for index, (width, height, channels) in enumerate(SIZES):
        y, x, c = np.mgrid[0:height, 0:width, 0:channels]
        waves = 128 + 90 * np.sin(x / (2.5 + c)) * np.cos(y / 3.0 + c) + draw.normal(0, 12, x.shape)
        noise = draw.randint(0, 256, x.shape)
        edges = draw.randint(0, 2, x.shape) * 255
        made.append(np.clip([waves, noise, edges][index % 3], 0, 255).astype(np.uint8))
    return made


class Recorder:
    """Collects arrays and the lines that tell what they are."""

    def __init__(self, versions: dict[str, str]) -> None:
        self.lines = [f"# {name} {version}" for name, version in versions.items()]
        self.data = bytearray()

    def add(self, operation: str, image: int, result: Array, *arguments: object) -> None:
        """Add one result of shape (height, width) or (height, width, channels)."""
        result = result.reshape(result.shape[0], result.shape[1], -1)
        kind = {"uint8": "u8", "uint16": "u16", "float32": "f32"}[result.dtype.name]
        height, width, channels = result.shape
        words = [operation, kind, image, width, height, channels, len(self.data), *arguments]
        self.lines.append(" ".join(str(word) for word in words))
        self.data += result.astype(result.dtype.newbyteorder("<")).tobytes()

    def write(self, folder: Path, name: str) -> None:
        """Write both files."""
        (folder / f"{name}.txt").write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        (folder / f"{name}.bin").write_bytes(bytes(self.data))


def jobs() -> Iterator[tuple[int, Array, tuple[int, int]]]:
    """Yield the number of each image, the image, and each size that it is brought to."""
    for index, image in enumerate(images()):
        for size in TARGETS[index]:
            yield index, image, size


def pillow() -> Recorder:
    """Record resizes, affine maps and colour changes of Pillow."""
    import PIL
    from PIL import Image

    recorder = Recorder({"Pillow": PIL.__version__, "numpy": np.__version__})
    modes = {1: "L", 3: "RGB", 4: "CMYK"}

    def opened(image: Array) -> Any:
        height, width, channels = image.shape
        return Image.frombytes(modes[channels], (width, height), image.tobytes())

    for index, image, size in jobs():
        whole, deep = opened(image), image.astype(np.uint16) * 257
        for kernel in Image.Resampling:
            recorder.add(f"pillow_{kernel.name.lower()}", index, np.asarray(whole.resize(size, kernel)))
            if image.shape[2] == 1:
                fractions = Image.fromarray(deep[:, :, 0].astype(np.float32))
                recorder.add(f"pillow_{kernel.name.lower()}", index, np.asarray(fractions.resize(size, kernel)))
    record_maps(recorder, opened)
    record_colours(recorder, opened)
    return recorder


def record_maps(recorder: Recorder, opened: Callable[[Array], Any]) -> None:
    """Record affine maps: turned, sheared, stretched, moved out of the image."""
    from PIL import Image

    maps = [
        (0.9, 0.3, -2.0, -0.25, 1.1, 1.5),
        (1.3, 0.0, -1.25, 0.0, 0.7, 2.0),
        (0.5, -0.5, 4.0, 0.5, 0.5, -3.0),
        (-1.0, 0.0, 12.0, 0.1, 1.0, 0.0),
    ]
    for index, image in enumerate(images()[:3]):
        for data in maps:
            for name in ("NEAREST", "BILINEAR"):
                result = opened(image).transform((14, 11), Image.Transform.AFFINE, data, Image.Resampling[name])
                recorder.add(f"affine_{name.lower()}", index, np.asarray(result), *data)


def record_colours(recorder: Recorder, opened: Callable[[Array], Any]) -> None:
    """Record brightness, contrast, saturation, grey and hue on every value that matters."""
    from PIL import Image, ImageEnhance

    enhancers = {
        "brightness": ImageEnhance.Brightness,
        "contrast": ImageEnhance.Contrast,
        "saturation": ImageEnhance.Color,
    }
    for index in (0, 1, 5):
        picture = opened(images()[index])
        for name, enhancer in enhancers.items():
            for factor in (0.0, 0.37, 1.0, 1.8):
                recorder.add(name, index, np.asarray(enhancer(picture).enhance(factor)), factor)
        if picture.mode == "RGB":
            recorder.add("grey", index, np.asarray(picture.convert("L")))
            for steps in (0, 40, 130, 255):
                hsv = np.array(picture.convert("HSV"))
                hsv[..., 0] += np.uint8(steps)
                recorder.add("hue", index, np.asarray(Image.fromarray(hsv, "HSV").convert("RGB")), steps)


def opencv() -> Recorder:
    """Record resizes of OpenCV without Intel's closed kernels."""
    import cv2

    cv2.ipp.setUseIPP(False)
    recorder = Recorder({"opencv-python-headless": cv2.__version__, "numpy": np.__version__})
    kernels = {"nearest": 0, "linear": 1, "cubic": 2, "area": 3, "lanczos4": 4}
    for index, image, size in jobs():
        for name, kernel in kernels.items():
            recorder.add(f"opencv_{name}", index, cv2.resize(image, size, interpolation=kernel))
            deep = cv2.resize(image.astype(np.uint16) * 257, size, interpolation=kernel)
            recorder.add(f"opencv_{name}", index, deep)
    return recorder


def tensorflow() -> Recorder:
    """Record tf.image.resize."""
    import tensorflow as tf

    recorder = Recorder({"tensorflow": tf.__version__, "numpy": np.__version__})
    methods = ["bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]
    for index, image, (width, height) in jobs():
        nearest = tf.image.resize(image, (height, width), "nearest").numpy()
        recorder.add("tensorflow_nearest", index, nearest)
        for method in methods:
            for antialias in (False, True):
                if (method == "area" and antialias) or (method in methods[3:] and index % 2):
                    continue
                result = tf.image.resize(image, (height, width), method, antialias=antialias).numpy()
                recorder.add(f"tensorflow_{method}", index, result, int(antialias))
    return recorder


def mxnet() -> Recorder:
    """Record mx.image.imresize."""
    import mxnet as mx

    recorder = Recorder({"mxnet": mx.__version__, "numpy": np.__version__})
    kernels = {"nearest": 0, "linear": 1, "cubic": 2, "area": 3, "lanczos4": 4}
    for index, image, (width, height) in jobs():
        for name, kernel in kernels.items():
            result = mx.image.imresize(mx.nd.array(image, dtype="uint8"), width, height, interp=kernel).asnumpy()
            recorder.add(f"mxnet_{name}", index, result)
    return recorder


def write_images(folder: Path) -> None:
    """Write the sources."""
    lines, data = [], bytearray()
    for image in images():
        height, width, channels = image.shape
        lines.append(f"{width} {height} {channels} {len(data)}")
        data += image.tobytes()
    (folder / "images.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "images.bin").write_bytes(bytes(data))


def main(arguments: list[str]) -> None:
    """Record the library named."""
    folder = Path(arguments[1]) if len(arguments) > 1 else Path(__file__).resolve().parent
    if not hasattr(np, "bool"):
        np.bool = np.bool_  # mxnet 1.9 asks for the old name
    recorders = {"pillow": pillow, "opencv": opencv, "tensorflow": tensorflow, "mxnet": mxnet}
    recorders[arguments[0]]().write(folder, arguments[0])
    write_images(folder)
    print(f"{arguments[0]}: recorded")


if __name__ == "__main__":
    main(sys.argv[1:])

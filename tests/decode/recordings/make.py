"""Records what other libraries make of small pictures: run with an interpreter that has the library named.

``python make.py pictures`` (Pillow) writes ``pictures.npz``; ``opencv``, ``tensorflow``, ``mxnet``, ``torchvision``
in its place write ``NAME.npz`` beside it, with the library's version.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SIZES = ((7, 5), (13, 9), (26, 18), (31, 40))


def pictures():
    from PIL import Image, __version__

    rng = np.random.default_rng(4)
    y, x = np.mgrid[:9, :13]
    pixels = np.stack([x * 19, y * 27, (x * 11 + y * 13) % 256], -1) + rng.integers(0, 27, (9, 13, 3))
    image = Image.fromarray(pixels.astype(np.uint8))
    grey = np.asarray(image.convert("L")).astype(np.uint16)
    saved = {}

    def save(name, picture, encoding, **options):
        out = io.BytesIO()
        picture.save(out, encoding, **options)
        saved[name] = np.frombuffer(out.getvalue(), np.uint8)

    for subsampling in (0, 1, 2):
        save(f"jpeg_{subsampling}", image, "JPEG", quality=90, subsampling=subsampling)
    save("jpeg_grey", image.convert("L"), "JPEG", quality=90)
    save("jpeg_cmyk", image.convert("CMYK"), "JPEG", quality=90)
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        save(f"jpeg_turned_{orientation}", image, "JPEG", quality=90, exif=exif)
    for mode in ("RGB", "RGBA", "L", "LA", "P", "1"):
        save(f"png_{mode}", image.convert(mode), "PNG")
    save("png_deep", Image.fromarray((grey * 257 - 128 * (grey > 0)).astype(np.uint16)), "PNG")
    save("bmp", image, "BMP")
    save("webp", image, "WEBP", lossless=True)
    np.savez_compressed(HERE / "pictures.npz", version=np.array(__version__), pixels=np.asarray(image), **saved)


def opencv(files, pixels):
    import cv2

    yield "version", np.array(cv2.__version__)
    for name, data in files.items():
        yield f"rgb_{name}", cv2.imdecode(data, cv2.IMREAD_COLOR)[:, :, ::-1]
        yield f"grey_{name}", cv2.imdecode(data, cv2.IMREAD_GRAYSCALE)
    for height, width in SIZES:
        for kernel, flag in (("nearest", cv2.INTER_NEAREST), ("bilinear", cv2.INTER_LINEAR)):
            yield f"resize_{kernel}_{height}_{width}", cv2.resize(pixels, (width, height), interpolation=flag)
    yield "halved", cv2.resize(pixels[:8, :12], (6, 4), interpolation=cv2.INTER_LINEAR)


def tensorflow(files, pixels):
    import tensorflow as tf

    yield "version", np.array(tf.__version__)
    for name, data in files.items():
        if name == "webp":
            continue
        for channels, word in ((3, "rgb"), (1, "grey")):
            try:
                yield f"{word}_{name}", _tensorflow_decode(tf, name, data.tobytes(), channels)
            except tf.errors.InvalidArgumentError:
                continue
        if name.startswith("jpeg"):
            yield from _tensorflow_modes(tf, name, data.tobytes())
    for height, width in SIZES:
        for kernel in ("nearest", "bilinear"):
            yield f"resize_{kernel}_{height}_{width}", tf.image.resize(pixels, (height, width), method=kernel).numpy()


def _tensorflow_modes(tf, name, data):
    """TensorFlow's own choice of transform, with and without fancy upsampling, and reduced sizes."""
    yield f"fast_{name}", tf.io.decode_jpeg(data, channels=3).numpy()
    yield f"plain_{name}", tf.io.decode_jpeg(data, channels=3, fancy_upscaling=False).numpy()
    for ratio in (2, 4, 8):
        yield f"scale{ratio}_{name}", tf.io.decode_jpeg(data, channels=3, ratio=ratio).numpy()


def _tensorflow_decode(tf, name, data, channels):
    if name.startswith("jpeg"):
        decoded = tf.io.decode_jpeg(data, channels=channels, dct_method="INTEGER_ACCURATE")
    elif name == "bmp":
        decoded = tf.io.decode_bmp(data, channels=channels)
    else:
        decoded = tf.io.decode_png(data, channels=channels)
    return decoded.numpy() if channels == 3 else decoded.numpy()[:, :, 0]


def mxnet(files, pixels):
    import mxnet as mx

    yield "version", np.array(mx.__version__)
    lying = {f"jpeg_turned_{orientation}" for orientation in (5, 6, 7, 8)}
    for name, data in files.items():
        for channels, word in ((3, "rgb"), (1, "grey")):
            try:
                yield f"{word}_{name}", _mxnet_decode(mx, data.tobytes(), channels, turned=name in lying)
            except mx.base.MXNetError:
                continue
    for name in ("jpeg_1", "jpeg_turned_6", "png_RGB"):
        yield f"iterated_{name}", _mxnet_iterated(mx, files[name].tobytes())
    for height, width in SIZES:
        resized = mx.image.imresize(mx.nd.array(pixels, dtype="uint8"), width, height, interp=1)
        yield f"resize_bilinear_{height}_{width}", resized.asnumpy()


def _mxnet_iterated(mx, data):
    """Shorter side to 11, middle 8 x 10, mean and deviation."""
    means = {"mean_r": 123.68, "mean_g": 116.28, "mean_b": 103.53}
    deviations = {"std_r": 58.395, "std_g": 57.12, "std_b": 57.375}
    return _mxnet_one(mx, data, data_shape=(3, 8, 10), resize=11, **means, **deviations)


def _mxnet_one(mx, data, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/one.rec"
        record = mx.recordio.MXRecordIO(path, "w")
        record.write(mx.recordio.pack(mx.recordio.IRHeader(0, 1.0, 0, 0), data))
        record.close()
        batch = next(iter(mx.io.ImageRecordIter(path_imgrec=path, batch_size=1, **options)))
        return batch.data[0].asnumpy()[0]


def _mxnet_decode(mx, data, channels, turned):
    shape = (channels, 13, 9) if turned else (channels, 9, 13)
    decoded = _mxnet_one(mx, data, data_shape=shape, dtype="uint8")
    return decoded.transpose(1, 2, 0) if channels == 3 else decoded[0]


def torchvision(files, pixels):
    """Affine maps of a Pillow image: angle, shifts, enlargement, shear, and what comes of them."""
    import torchvision as library
    from PIL import Image
    from torchvision.transforms import InterpolationMode, functional

    yield "version", np.array(library.__version__)
    rng, image = np.random.default_rng(7), Image.fromarray(pixels)
    width, height = image.size
    for number in range(24):
        angle, shear = rng.uniform(-180, 180), rng.uniform(-30, 30) * (number % 3 > 0)
        shifts, scale = rng.integers(-4, 5, 2).tolist(), rng.uniform(0.4, 2.5)
        numbers = (angle, shifts, scale, [shear, 0.0])
        matrix = functional._get_inverse_affine_matrix([width * 0.5, height * 0.5], *numbers)
        yield f"numbers_{number}", np.array([angle, *shifts, scale, shear])
        yield f"matrix_{number}", np.array(matrix).reshape(2, 3)
        for mode in ("nearest", "bilinear"):
            moved = functional.affine(image, *numbers, InterpolationMode(mode), fill=(9, 8, 7))
            yield f"{mode}_{number}", np.asarray(moved)


def main():
    which = sys.argv[1]
    if which == "pictures":
        return pictures()
    with np.load(HERE / "pictures.npz") as saved:
        files = {name: saved[name] for name in saved.files if name not in ("version", "pixels")}
        pixels = saved["pixels"]
    record = {"opencv": opencv, "tensorflow": tensorflow, "mxnet": mxnet, "torchvision": torchvision}[which]
    return np.savez_compressed(HERE / f"{which}.npz", **dict(record(files, pixels)))


if __name__ == "__main__":
    main()

"""Short programs on images that run with TensorFlow and with ours: ``programs(tf, files, seed)`` names them all."""

from __future__ import annotations

import numpy as np

KERNELS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
DTYPES = ("uint8", "int8", "uint16", "int16", "int32", "float16", "float32", "float64")


def programs(tf, files, seed):
    """Names and functions; a name that begins with ``~`` is compared within a tolerance."""
    rng = np.random.default_rng(seed)
    for family in (decoded, truncated, encoded, resized, windows, moved, levels, colours, stateless):
        for name, function in family(tf, files, rng):
            mark, family_name = ("~", name[1:]) if name[0] == "~" else ("", name)
            yield f"{mark}{family.__name__} {family_name}", function


def result(function):
    """What a program gives, or the class and the first line of its error."""
    try:
        found = function()
    except Exception as error:
        text = str(error).split("device:CPU:0}} ")[-1].split(" [Op:")[0].split("\n")[0]
        return type(error).__name__, text
    return found.numpy()


def _image(rng, dtype=np.uint8, batch=(), channels=3):
    height, width = (int(side) for side in rng.integers(4, 11, 2))
    unit = rng.random((*batch, height, width, channels), dtype=np.float32)
    if np.dtype(dtype).kind == "f":
        return unit.astype(dtype)
    limits = np.iinfo(dtype)
    return (limits.min + unit.astype(np.float64) * (limits.max - limits.min)).astype(dtype)


def decoded(tf, files, rng):
    for name, data in files.items():
        if name == "jpeg_cmyk":
            continue  # with the accurate transform alone, below
        for channels in (0, 1, 3, 4):
            for dtype in (tf.uint8, tf.uint16, tf.float32) if channels in (0, 4) else (tf.uint8,):
                if name == "png_1" and channels == 4:
                    continue  # TensorFlow's alpha of opaque pixels is 1 there, not 255
                options = {"channels": channels, "dtype": dtype}
                yield f"image {name} {channels} {dtype.name}", lambda d=data, o=options: tf.io.decode_image(d, **o)
        yield f"still {name}", lambda d=data: tf.io.decode_image(d, expand_animations=False)
        yield f"int32 {name}", lambda d=data: tf.io.decode_image(d, dtype=tf.int32)
        for decoder in ("decode_jpeg", "decode_png", "extract_jpeg_shape", "is_jpeg"):
            yield f"{decoder} {name}", lambda d=data, f=decoder: getattr(tf.io, f)(d)
        yield f"png16 {name}", lambda d=data: tf.io.decode_png(d, dtype=tf.uint16)
        if name.startswith("jpeg"):
            yield from _jpeg(tf, name, data, rng)
    accurate = {"dct_method": "INTEGER_ACCURATE"}
    for channels in (0, 3):
        yield f"cmyk {channels}", lambda n=channels: tf.io.decode_jpeg(files["jpeg_cmyk"], n, **accurate)
    yield "cmyk shape", lambda: tf.io.extract_jpeg_shape(files["jpeg_cmyk"])
    for bad in (b"", b"neither this nor that", b"\xff\xd8\xff", b"\xff\xd8\xff" + b"a" * 50, files["jpeg_0"][:-30]):
        yield f"bad {len(bad)}", lambda d=bad: tf.io.decode_image(d)
    yield "several", lambda: tf.io.decode_jpeg([files["jpeg_0"]])
    yield "are jpeg", lambda: tf.io.is_jpeg([files["jpeg_0"], files["bmp"], b""])


def _jpeg(tf, name, data, rng):
    yield f"{name} method", lambda: tf.io.decode_jpeg(data, dct_method="FLOAT")
    yield f"{name} ratio", lambda: tf.io.decode_jpeg(data, ratio=3)
    for method in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        for fancy in (True, False):
            for ratio in (1, 2, 4, 8):
                options = {"dct_method": method, "fancy_upscaling": fancy, "ratio": ratio}
                yield f"{name} {method} {fancy} {ratio}", lambda o=options: tf.io.decode_jpeg(data, **o)
    for number in range(4):
        window = [int(edge) for edge in rng.integers((0, 0, 1, 1), (4, 5, 7, 9))]
        for ratio in (1, 2):
            # With fancy upsampling TensorFlow's windows end the colours at their edges; ours are parts of the image.
            yield (
                f"{name} window {number} {ratio}",
                lambda w=window, r=ratio: tf.io.decode_and_crop_jpeg(
                    data, w, channels=3, ratio=r, fancy_upscaling=False
                ),
            )


def truncated(tf, files, rng):
    data = files["jpeg_0"]
    for options in ({}, {"acceptable_fraction": 1.0}):
        yield f"refused {options}", lambda o=options: tf.io.decode_jpeg(data[:-40], **o)
    for options in ({"acceptable_fraction": 0.5}, {"try_recover_truncated": True}):
        yield f"whole {options}", lambda o=options: tf.io.decode_jpeg(data, **o)


def encoded(tf, files, rng):
    colours, grey = _image(rng), _image(rng, channels=1)
    for name, image in (("colours", colours), ("grey", grey)):
        for quality in (0, 1, 60, 95, 100, 101):
            yield f"jpeg {name} {quality}", lambda i=image, q=quality: tf.io.encode_jpeg(i, quality=q)
        for option in ("progressive", "optimize_size"):
            yield f"jpeg {name} {option}", lambda i=image, o=option: tf.io.encode_jpeg(i, **{o: True})
        for word in ("", "grayscale", "rgb"):
            yield f"jpeg {name} as {word}", lambda i=image, w=word: tf.io.encode_jpeg(i, format=w)
    yield "jpeg full colour", lambda: tf.io.encode_jpeg(colours, chroma_downsampling=False)
    yield "jpeg density", lambda: tf.io.encode_jpeg(colours, density_unit="cm", x_density=5, y_density=70)
    yield "jpeg xmp", lambda: tf.io.encode_jpeg(colours, xmp_metadata="<x/>")
    for channels in (1, 2, 3, 4, 5):
        for dtype in ("uint8", "uint16", "float32"):
            image = tf.constant(_image(rng, dtype, channels=channels))
            yield f"jpeg {channels} {dtype}", lambda i=image: tf.io.encode_jpeg(i)
            if channels == 5 or dtype == "float32":  # refused; files of others differ from TensorFlow's in their bytes
                yield f"png {channels} {dtype}", lambda i=image: tf.io.encode_png(i)
    for level in (-2, 10):
        yield f"png level {level}", lambda n=level: tf.io.encode_png(colours, compression=n)


def resized(tf, files, rng):
    for kernel in KERNELS:
        mark = "~" if kernel in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic") else ""
        for dtype in DTYPES if not mark else ("uint8", "float32"):
            image = _image(rng, dtype, channels=int(rng.integers(1, 7)))
            size = [int(side) for side in rng.integers(1, 17, 2)]
            yield f"{mark}{kernel} {dtype}", lambda i=image, s=size, k=kernel: tf.image.resize(i, s, method=k)
        image, batch = _image(rng), _image(rng, batch=(2,))
        for antialias in (False, True):
            options = {"method": kernel, "antialias": antialias}
            yield (
                f"{mark}{kernel} {antialias} fit",
                lambda i=image, o=options: tf.image.resize(i, [6, 15], preserve_aspect_ratio=True, **o),
            )
            if not mark:  # the others are not applied to images that have the size
                yield f"{kernel} {antialias} same", lambda i=image, o=options: tf.image.resize(i, i.shape[:2], **o)
            yield f"{mark}{kernel} {antialias} pad", lambda i=batch, o=options: tf.image.resize_with_pad(i, 7, 11, **o)
    image = _image(rng)
    for size in ([0, 3], [3], [3, 4, 5], 3):
        yield f"size {size}", lambda s=size: tf.image.resize(image, s)
    yield "kernel", lambda: tf.image.resize(image, [3, 3], method="cubic")
    yield "axes", lambda: tf.image.resize(image[0], [3, 3])


def windows(tf, files, rng):
    for name, image in (("image", _image(rng)), ("batch", _image(rng, np.float32, (3,)))):
        for numbers in ((0, 0, 3, 4), (2, 1, 3, 4), (-1, 0, 2, 2), (0, 0, 0, 2), (0, 0, 50, 2), (1, 2, 30, 40)):
            yield f"crop {name} {numbers}", lambda i=image, n=numbers: tf.image.crop_to_bounding_box(i, *n)
            yield f"pad {name} {numbers}", lambda i=image, n=numbers: tf.image.pad_to_bounding_box(i, *n)
        for fraction in (0.0, 0.2, 0.5, 0.875, 1.0, 1.5):
            yield f"middle {name} {fraction}", lambda i=image, f=fraction: tf.image.central_crop(i, f)
        for size in ((4, 4), (30, 40), (4, 40), (7, 3), (0, 3)):
            yield f"crop or pad {name} {size}", lambda i=image, s=size: tf.image.resize_with_crop_or_pad(i, *s)


def moved(tf, files, rng):
    for name, image in (("image", _image(rng)), ("batch", _image(rng, np.float32, (3,))), ("row", _image(rng)[0])):
        for move in ("flip_left_right", "flip_up_down", "transpose"):
            yield f"{move} {name}", lambda i=image, m=move: getattr(tf.image, m)(i)
        for quarters in (-1, 0, 1, 2, 3, 5):
            yield f"turn {name} {quarters}", lambda i=image, q=quarters: tf.image.rot90(i, q)


def levels(tf, files, rng):
    for source in DTYPES:
        image = _image(rng, source)
        for target in (*DTYPES, "string"):
            for saturate in (False, True):
                if (source, target, saturate) == ("float16", "int16", False):
                    continue  # 1.0 is beyond the dtype, and becomes what the processor makes of it
                yield (
                    f"{source} {target} {saturate}",
                    lambda i=image, t=target, s=saturate: tf.image.convert_image_dtype(i, getattr(tf, t), saturate=s),
                )
        if source in ("uint8", "float32"):
            yield f"~{source} standard", lambda i=image: tf.image.per_image_standardization(i)
    bright = rng.uniform(-2, 3, (4, 5, 3)).astype(np.float32)
    for target in DTYPES:
        yield f"beyond {target}", lambda t=target: tf.image.convert_image_dtype(bright, getattr(tf, t), saturate=True)


def colours(tf, files, rng):
    for dtype in ("uint8", "uint16", "float32"):
        mark = "~" if dtype == "float32" else ""
        image = _image(rng, dtype, (2,))
        for number in (-0.5, 0.0, 0.3, 1.0, 1.5):
            yield f"{dtype} brightness {number}", lambda i=image, n=number: tf.image.adjust_brightness(i, n)
            yield f"{dtype} contrast {number}", lambda i=image, n=number: tf.image.adjust_contrast(i, n)
            yield f"{mark}{dtype} hue {number}", lambda i=image, n=number: tf.image.adjust_hue(i, n)
            if number >= 0:
                yield f"~{dtype} saturation {number}", lambda i=image, n=number: tf.image.adjust_saturation(i, n)
        yield f"{dtype} grey", lambda i=image: tf.image.rgb_to_grayscale(i)
        if dtype != "uint16":  # TensorFlow cannot repeat it
            yield f"{dtype} colours", lambda i=image: tf.image.grayscale_to_rgb(tf.constant(i[..., :1]))
    unit = _image(rng, np.float32)
    yield "~gamma", lambda: tf.image.adjust_gamma(unit, 0.7, 0.9)
    yield "~to hsv", lambda: tf.image.rgb_to_hsv(unit)
    yield "~to rgb", lambda: tf.image.hsv_to_rgb(unit)


def stateless(tf, files, rng):
    image, batch = _image(rng), _image(rng, batch=(6,))
    for number in range(6):
        pair = [int(one) for one in rng.integers(-(2**31), 2**31, 2)]
        for name, pixels in (("image", image), ("batch", batch)):
            for move in ("left_right", "up_down"):
                flip = getattr(tf.image, f"stateless_random_flip_{move}")
                yield f"{move} {name} {number}", lambda f=flip, i=pixels, s=pair: f(i, s)
            for change, limits in (
                ("brightness", [0.4]),
                ("hue", [0.2]),
                ("contrast", [0.2, 2]),
                ("saturation", [0.2, 2]),
            ):
                function = getattr(tf.image, f"stateless_random_{change}")
                yield f"{change} {name} {number}", lambda f=function, i=pixels, a=limits, s=pair: f(i, *a, s)
        yield f"crop {number}", lambda s=pair: tf.image.stateless_random_crop(image, [3, 4, 2], s)
        boxes = np.sort(rng.random((1, 2, 2, 2), dtype=np.float32), axis=2).reshape(1, 2, 4)
        for part in (0, 1, 2):
            yield (
                f"window {number} {part}",
                lambda s=pair, b=boxes, p=part: tf.image.stateless_sample_distorted_bounding_box(
                    [211, 173, 3], b, s, 0.2, area_range=[0.08, 0.9]
                )[p],
            )

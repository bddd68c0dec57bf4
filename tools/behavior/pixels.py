"""Outputs of `decode_batch` for each spec and option, and the random parameters behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from tools.behavior.digest import Results, round_floats
from tools.behavior.images import COLOR_JPEGS, JPEGS, MASKED, PNGS, read_image, read_images

LIBRARIES = ("pillow", "opencv", "tensorflow", "mxnet")
KERNELS = {
    "pillow": ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos", "mks2013", "mks2021"),
    "opencv": ("nearest", "bilinear", "cubic", "area", "lanczos4", "auto", "area_or_bilinear"),
    "tensorflow": (
        *("nearest", "area", "bilinear", "bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"),
        *("antialiased_bilinear", "antialiased_bicubic", "antialiased_lanczos3", "antialiased_lanczos5"),
        *("antialiased_gaussian", "antialiased_mitchellcubic"),
    ),
}
DRAWS = ((0, 0), (7, 0), (7, 3), (2**64 - 1, 1))  # seed and epoch
ERASE_OPTIONS: dict[str, Any] = {"probability": 0.9, "scale": (0.1, 0.4), "ratio": (0.5, 2.0), "fill": (9, 99, 199)}

RANDOM_IMAGES: dict[str, dict[str, Any]] = {
    "random_crop": {"crop": rm.RandomCrop(40)},
    "random_crop/pair": {"crop": rm.RandomCrop((30, 44))},
    "random_crop/padding": {"crop": rm.RandomCrop(48, padding=6, fill=(1, 2, 3))},
    "random_crop/padding_sides": {"crop": rm.RandomCrop(50, padding=(1, 5, 9, 3), fill=77)},
    "random_crop/edge": {"crop": rm.RandomCrop(48, padding=8, mode="edge")},
    "random_crop/reflect": {"crop": rm.RandomCrop(48, padding=8, mode="reflect")},
    "random_crop/small_pad": {"crop": rm.RandomCrop(100, small="pad", fill=50)},
    "random_crop/small_enlarge": {"crop": rm.RandomCrop(80, small="enlarge")},
    "random_resized_crop": {"crop": rm.RandomResizedCrop(32)},
    "random_resized_crop/pair": {"crop": rm.RandomResizedCrop((24, 40))},
    "random_resized_crop/scale_ratio": {"crop": rm.RandomResizedCrop(32, scale=(0.3, 0.6), ratio=(0.5, 2.0))},
    "random_resized_crop/full": {"crop": rm.RandomResizedCrop(16, scale=(1.0, 1.0), ratio=(4.0, 5.0))},
    "random_resized_crop/reduce": {"crop": rm.RandomResizedCrop(16), "reduce": "auto"},
    "flip": {"crop": rm.CenterCrop(40), "flip": True},
    "flip/probability": {"crop": rm.CenterCrop(40), "flip": 0.8},
    "flip/vertical": {"crop": rm.CenterCrop(40), "flip": rm.Flip(horizontal=0.3, vertical=0.6)},
    "affine/degrees": {"crop": rm.CenterCrop(40), "affine": rm.RandomAffine(degrees=30)},
    "affine/translate": {"crop": rm.CenterCrop(40), "affine": rm.RandomAffine(translate=(0.2, 0.1), fill=40)},
    "affine/scale": {"crop": rm.CenterCrop(40), "affine": rm.RandomAffine(scale=(0.5, 1.5), kernel="bilinear")},
    "affine/shear": {"crop": rm.CenterCrop(40), "affine": rm.RandomAffine(shear=(-10, 25), fill=(1, 2, 3))},
    "affine/all": {
        "crop": rm.RandomResizedCrop(32),
        "flip": True,
        "affine": rm.RandomAffine((-20, 45), (0.1, 0.2), (0.8, 1.2), 12, "bilinear", 128),
    },
    "jitter/brightness": {"resize": (32, 40), "color": [rm.ColorJitter(brightness=0.4)]},
    "jitter/contrast": {"resize": (32, 40), "color": [rm.ColorJitter(contrast=(0.5, 2.0))]},
    "jitter/saturation": {"resize": (32, 40), "color": [rm.ColorJitter(saturation=0.9)]},
    "jitter/hue": {"resize": (32, 40), "color": [rm.ColorJitter(hue=0.3)]},
    "jitter/all": {"resize": (32, 40), "color": [rm.ColorJitter(0.4, 0.4, 0.4, 0.1, probability=0.8)]},
    "gray": {"resize": (32, 40), "color": [rm.RandomGrayscale(0.5)]},
    "pca_noise": {"resize": (32, 40), "color": [rm.PCANoise(0.3)]},
    "erasing": {"resize": (32, 40), "color": [rm.RandomErasing(**ERASE_OPTIONS)]},
    "erasing/default": {"resize": (32, 40), "color": [rm.RandomErasing()]},
    "color/several": {
        "crop": rm.RandomResizedCrop(32),
        "color": [rm.ColorJitter(0.2, 0.2, 0.2, 0.2), rm.RandomGrayscale(), rm.PCANoise(), rm.RandomErasing()],
    },
    "color/twice": {"resize": 32, "stack": False, "color": [rm.ColorJitter(0.5), rm.ColorJitter(0.5)]},
    "training": {
        "crop": rm.RandomResizedCrop(32),
        "flip": True,
        "mean": rm.IMAGENET_MEAN,
        "std": rm.IMAGENET_STD,
    },
    "training/hwc_float16": {"crop": rm.RandomResizedCrop(32), "flip": True, "dtype": "float16", "layout": "hwc"},
    "training/bgr": {"crop": rm.RandomResizedCrop(32), "flip": True, "channels": "bgr", "white": 255.0, "mean": 7.0},
    "training/gray": {"crop": rm.RandomResizedCrop(32), "channels": 1, "color": [rm.ColorJitter(0.4, 0.4)]},
}

PLAIN_IMAGES: dict[str, dict[str, Any]] = {
    "default": {},
    "rgb": {"channels": "rgb"},
    "bgr": {"channels": "bgr"},
    "gray": {"channels": "gray"},
    "stored": {"channels": "stored"},
    "orientation": {"orientation": "apply"},
    "dct_fast": {"dct": "fast"},
    "upsampling_plain": {"upsampling": "plain"},
    "float32": {"dtype": "float32"},
    "float16": {"dtype": "float16", "layout": "hwc"},
    "uint16": {"dtype": "uint16"},
    "scale": {"scale": 1 / 255},
    "white": {"white": 255.0, "mean": (1.0, 2.0, 3.0), "std": (4.0, 5.0, 6.0)},
    "normalized": {"mean": rm.IMAGENET_MEAN, "std": rm.IMAGENET_STD},
    "normalized_one": {"mean": 0.5, "std": 0.25, "channels": "gray"},
    "resize_shorter": {"resize": 24},
    "resize_size": {"resize": (20, 30)},
    "resize_enlarge": {"resize": rm.Resize((130, 110))},
    "resize_center_crop": {"resize": 40, "crop": rm.CenterCrop(32)},
    "center_crop_pad": {"crop": rm.CenterCrop((70, 81), small="pad", fill=(10, 20, 30))},
    "center_crop_enlarge": {"crop": rm.CenterCrop(90, small="enlarge")},
    "scale_first": {"resize": (20, 30), "kernel": "tensorflow:bilinear", "scale_first": True, "dtype": "float32"},
}
REDUCED_IMAGES: dict[str, dict[str, Any]] = {
    **{f"reduce={scale}": {"reduce": scale} for scale in (2, 4, 8)},
    "reduce=auto": {"reduce": "auto", "resize": 20},
}


def _decode(names: tuple[str, ...], options: dict[str, Any], **more: Any) -> Any:
    """Return the decoded images, or the name of the exception."""
    arrays = []
    for start in (0,) if "rng" in more else range(len(names)):
        files = read_images(names if "rng" in more else names[start : start + 1])
        try:
            arrays.append(rm.decode_batch(files, {"image": rm.Image(**options)}, **more)["image"])
        except rm.DecodeError as error:
            arrays.append(type(error.cause).__name__)
    return arrays


def record_random(folder: Path) -> Results:
    """Yield images, masks, boxes and keypoints of random specs, and random numbers."""
    del folder
    for name, options in RANDOM_IMAGES.items():
        for seed, epoch in DRAWS:
            decoded = _decode(COLOR_JPEGS, options, rng=seed, epoch=epoch)
            yield f"image/{name}/seed={seed}/epoch={epoch}", decoded
    for like in LIBRARIES:
        options = {"crop": rm.RandomResizedCrop(32), "flip": True, "like": like}
        yield f"image/like={like}", _decode(COLOR_JPEGS, options, rng=3)
    options = RANDOM_IMAGES["affine/all"]
    yield "image/positions", _decode(COLOR_JPEGS, options, rng=3, positions=np.arange(7) * 2**40 // 3)
    yield "image/pngs", _decode(PNGS[:2], options, rng=3, epoch=2)
    for name, options in RANDOM_IMAGES.items():
        if "reduce" not in options:
            yield f"pillow/{name}", _decode(PNGS[:1], options | {"decoder": "pillow"}, rng=3, epoch=2)
    yield from _followers()
    yield from _numbers()
    yield from _mixtures()


def _samples() -> list[dict[str, Any]]:
    """Return samples with an image, its mask, boxes, keypoints, and a given window."""
    image, mask = read_images(MASKED)
    boxes = np.array([[5, 5, 30, 40], [0, 0, 75, 50], [60, 30, 74, 49], [20, 10, 21, 11]], np.float32)
    points = np.array([[0, 0], [37, 25], [74, 49], [12.5, 44.25]], np.float32)
    return [
        {
            "image": image,
            "mask": mask,
            "boxes": (boxes[: 4 - number % 2] + number % 3).ravel(),
            "relative": (boxes / np.array([75, 50, 75, 50], np.float32)).ravel(),
            "kind": np.arange(4 - number % 2),
            "points": points[: 1 + number % 4].ravel(),
            "window": np.array([number, 2 * number, 40, 30]),
            "mirrored": np.int64(number % 2),
        }
        for number in range(6)
    ]


def _followers() -> Results:
    images = {
        "crop": rm.Image(crop=rm.RandomCrop(32)),
        "resized_crop": rm.Image(crop=rm.RandomResizedCrop((24, 40)), flip=True),
        "affine": rm.Image(crop=rm.RandomResizedCrop(32), flip=0.5, affine=rm.RandomAffine(40, (0.1, 0.1))),
        "padding": rm.Image(crop=rm.RandomCrop(48, padding=9), flip=rm.Flip(0.5, 0.5)),
        "center": rm.Image(resize=40, crop=rm.CenterCrop(36)),
        "enlarge": rm.Image(crop=rm.CenterCrop(90, small="enlarge")),
        "given_crop": rm.Image(crop=rm.GivenCrop("window"), flip=rm.GivenFlip("mirrored")),
        "given_crop_size": rm.Image(crop=rm.GivenCrop("window", size=(20, 24))),
        "given_crop_fill": rm.Image(crop=rm.GivenCrop("window", fill=(3, 4, 5))),
    }
    for name, image in images.items():
        specs: dict[str, Any] = {
            "image": image,
            "mask": rm.Mask(fill=255),
            "wide_mask": rm.Mask(fill=300, dtype="int32", feature="mask"),
            "boxes": rm.Boxes(min_visible=0.3, along=("kind",)),
            "relative": rm.Boxes(form="yxyx", relative=True),
            "points": rm.Keypoints(),
            "centers": rm.Keypoints(centers=True, feature="points"),
        }
        for seed, epoch in DRAWS[:3]:
            decoded = rm.decode_batch(_samples(), specs, rng=seed, epoch=epoch)
            for output in specs:
                yield f"{output}/{name}/seed={seed}/epoch={epoch}", _rounded(decoded[output])
            yield f"along/{name}/seed={seed}/epoch={epoch}", decoded["kind"]


def _rounded(value: Any) -> Any:
    """Round coordinates, because they depend on sines and cosines."""
    if isinstance(value, rm.Ragged):
        return [round_floats(row, 3) for row in value]
    return value


def _numbers() -> Results:
    positions = np.array([0, 1, 2, 1000, 2**32, 2**48 - 1])
    for seed, epoch in DRAWS:
        draws = rm.Draws(seed, epoch)
        name = f"seed={seed}/epoch={epoch}"
        for stage in (1, int(rm.Stage.COLOR), 4096, 65535):
            yield f"words/{name}/stage={stage}", draws.words(positions, stage, 5)
            yield f"uniform/{name}/stage={stage}", draws.uniform(positions, stage, 3, 2, -1.5, 7.25)
            yield f"integers/{name}/stage={stage}", draws.integers(positions, stage, 1000, 1)
            yield f"booleans/{name}/stage={stage}", draws.booleans(positions, stage, 0.4)
            yield f"choice/{name}/stage={stage}", draws.choice(positions, stage, [1, 0, 3, 0.5])
            yield f"permutation/{name}/stage={stage}", draws.permutation(positions, stage, 9)
            yield f"normal/{name}/stage={stage}", round_floats(draws.normal(positions, stage, 3), 9)


def _mixtures() -> Results:
    images = np.random.default_rng(0).random((5, 3, 12, 16), np.float32)
    labels = np.array([0, 3, 2, 2, 1])
    soft = np.eye(4, dtype=np.float32)[labels]
    for seed, epoch in DRAWS:
        for position in (0, 64):
            place: dict[str, Any] = {"rng": seed, "epoch": epoch, "position": position}
            name = f"seed={seed}/epoch={epoch}/position={position}"
            for alpha in (0.2, 1.0, 4.0):
                mixed = rm.mixup(images, labels, alpha=alpha, num_classes=4, **place)
                yield f"mixup/alpha={alpha}/{name}", [round_floats(one) for one in mixed]
                cut = rm.cutmix(images, labels, alpha=alpha, num_classes=4, **place)
                yield f"cutmix/alpha={alpha}/{name}", [round_floats(one) for one in cut]
            channels_last = np.ascontiguousarray(images.transpose(0, 2, 3, 1))
            cut = rm.cutmix(channels_last, soft, layout="hwc", **place)
            yield f"cutmix/hwc/{name}", [round_floats(one) for one in cut]


def record_decoded(folder: Path) -> Results:
    """Yield images, masks, arrays, text, boxes and keypoints of specs that are not random."""
    del folder
    for name, options in PLAIN_IMAGES.items():
        # CMYK to gray and stored CMYK are omitted, because Pillow decodes them and its results depend on its version.
        names = JPEGS[:-1] if options.get("channels") in ("gray", "stored") else JPEGS
        yield f"image/{name}/jpeg", _decode(names, options | {"stack": False})
        yield f"image/{name}/png", _decode(PNGS, options | {"stack": False})
    for name, options in REDUCED_IMAGES.items():
        yield f"image/{name}", _decode(JPEGS, options | {"stack": False})
    for like in LIBRARIES:
        yield f"image/like={like}/jpeg", _decode(JPEGS, {"like": like, "resize": (24, 30), "stack": False})
        yield f"image/like={like}/png", _decode(PNGS, {"like": like, "resize": (24, 30), "stack": False})
    for library, kernels in KERNELS.items():
        for kernel in kernels:
            for size in ((24, 30), (130, 151)):
                options = {"resize": size, "kernel": f"{library}:{kernel}"}
                yield f"image/kernel={library}:{kernel}/size={size}", _decode(COLOR_JPEGS[:3], options)
    for name, options in PLAIN_IMAGES.items():
        # Pixels of PNG do not depend on Pillow's version.
        yield f"pillow/{name}", _decode(PNGS, options | {"stack": False, "decoder": "pillow"})
    for like in LIBRARIES:
        options = {"like": like, "resize": (24, 30), "stack": False, "decoder": "pillow"}
        yield f"pillow/like={like}", _decode(PNGS, options)
        yield from _center_crops(like)
    yield from _masks()
    yield from _values()
    yield from _options()


def _center_crops(like: str) -> Results:
    for size in (41, (40, 81), (111, 52)):
        options = {"like": like, "crop": rm.CenterCrop(size, small="pad"), "stack": False}
        yield f"center_crop/like={like}/size={size}", _decode(COLOR_JPEGS, options)
        yield f"pillow/center_crop/like={like}/size={size}", _decode(PNGS, options | {"decoder": "pillow"})


def _masks() -> Results:
    for dtype in ("uint8", "uint16", "int32", "int64"):
        masks = [read_image(name) for name in ("mask_palette", "mask_gray")]
        yield f"mask/dtype={dtype}", rm.decode_batch(masks, {"mask": rm.Mask(of=None, dtype=dtype)})["mask"]
    for name in ("bilevel", "gray16", "rgb", "photo_420"):
        try:
            yield f"mask/{name}", rm.decode_batch([read_image(name)], {"mask": rm.Mask(of=None, dtype="int32")})["mask"]
        except rm.DecodeError as error:
            yield f"mask/{name}", type(error.cause).__name__
    fitted: dict[str, Any] = {"image": rm.Image(resize=20), "mask": rm.Mask(fit=True)}
    samples = [{"image": read_image("photo_420"), "mask": read_image("mask_palette")}]
    yield "mask/fit", rm.decode_batch(samples, fitted)["mask"]


def _values() -> Results:
    numbers = np.arange(24, dtype=np.float32) - 3
    raws: dict[str, tuple[bytes, dict[str, Any]]] = {
        "float32": (numbers.tobytes(), {"dtype": "float32", "shape": (2, 3, 4)}),
        "big_endian": (numbers.astype(">i2").tobytes(), {"dtype": ">i2", "shape": (24,)}),
        "cast": (numbers.astype(np.uint8).tobytes(), {"dtype": "uint8", "cast": "float32", "scale": 1 / 255}),
        "bool": (b"\0\1\1", {"dtype": "bool", "shape": (3,)}),
        "complex": (numbers.tobytes(), {"dtype": "complex64", "shape": (12,)}),
    }
    for name, (data, options) in raws.items():
        shape = options.pop("shape", (len(data),))
        yield f"raw/{name}", rm.decode_batch([data, data], {"x": rm.Raw(shape=shape, **options)})["x"]
    sized = [{"x": bytes(range(6)), "height": 2, "width": 3}, {"x": bytes(range(4)), "height": 1, "width": 4}]
    spec = rm.Raw("uint8", ("height", "width"), stack=False)
    yield "raw/shape_from_features", rm.decode_batch(sized, {"x": spec})
    for encoding in ("utf-8", "latin-1", "utf-16-le"):
        texts = [text.encode(encoding) for text in ("", "plain", "ümlaut é")]
        yield f"text/{encoding}", rm.decode_batch(texts, {"t": rm.Text(encoding)})["t"]
    yield "text/replace", rm.decode_batch([b"a\xffb"], {"t": rm.Text(errors="replace")})["t"]


def _options() -> Results:
    specs = {"image": rm.Image(crop=rm.CenterCrop(40), color=[rm.ColorJitter(0.4)])}
    files = read_images(COLOR_JPEGS)
    damaged = [files[0], b"not an image", files[1][:200], *files[2:]]
    yield "options/threads", rm.decode_batch(files, specs, rng=1, threads=3)
    yield "options/skip", rm.decode_batch(damaged, specs, rng=1, on_error="skip")
    errors: list[Any] = []
    rm.decode_batch(damaged, specs, rng=1, on_error=errors.append)
    yield "options/errors", [[error.position, error.feature] for error in errors]
    entry_points = rm.find_entry_points(files)
    yield "entry_points", entry_points
    yield "options/entry_points", rm.decode_batch(files, specs, rng=1, entry_points=entry_points)
    for like in LIBRARIES:
        yield f"image_sizes/{like}", rm.image_sizes(read_images((*JPEGS, *PNGS)), like=like)  # type: ignore[arg-type]
    yield "image_sizes/orientation", rm.image_sizes([read_image("rotated")], orientation="apply")

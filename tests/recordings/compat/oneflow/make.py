"""Records the orders, pixels, sizes and values of OneFlow 0.9.0: python make.py.

Environment: that of ``../../make_oneflow.py``. Writes ``orders.json`` and ``pictures.npz`` beside this script. The
decoded images are those of ``tests/decode/recordings/pictures.npz``.
"""

from __future__ import annotations

import json
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from recipes.oneflow_runtime import find_cuda_libraries  # noqa: E402

find_cuda_libraries()

import numpy as np  # noqa: E402
import oneflow as flow  # noqa: E402
from oneflow.core.record import record_pb2  # noqa: E402

PICTURES = HERE.parents[2] / "decode" / "recordings" / "pictures.npz"
# 16-bit PNG differs from OpenCV 4.7, and WebP ends the process of OneFlow.
SKIPPED = ("version", "pixels", "png_deep", "webp")
SIZES = ((7, 5), (13, 9), (26, 18), (31, 40), (5, 30))
KERNELS = ("auto", "bilinear", "nearest_neighbor", "bicubic", "area")


def record_of(**values: Any) -> bytes:
    """Return one framed record; bytes become a bytes list, integers an int32 list."""
    record = record_pb2.OFRecord()
    for name, value in values.items():
        if isinstance(value, bytes):
            record.feature[name].bytes_list.value.append(value)
        else:
            record.feature[name].int32_list.value.append(value)
    data = record.SerializeToString()
    return struct.pack("<q", len(data)) + data


def write_parts(folder: Path, counts: list[int]) -> None:
    """Write parts with the given numbers of records and increasing labels."""
    label = 0
    for number, count in enumerate(counts):
        rows = [record_of(labels=label + place) for place in range(count)]
        (folder / f"part-{number}").write_bytes(b"".join(rows))
        label += count


def labels(counts: list[int], length: int, **options: Any) -> list[int]:
    """Return the first labels that a reader returns."""
    with tempfile.TemporaryDirectory() as folder:
        write_parts(Path(folder), counts)
        reader = flow.nn.OFRecordReader(folder, data_part_num=len(counts), **options)
        decoder = flow.nn.OFRecordRawDecoder("labels", shape=(), dtype=flow.int32)
        found: list[int] = []
        while len(found) < length:
            found += decoder(reader()).numpy().tolist()
        return found[:length]


def orders() -> list[dict[str, Any]]:
    """Return options of readers with the labels that they returned."""
    rows = []
    for counts in ([3, 4, 2, 5, 1], [2, 2], [5], [1, 2, 3, 1, 2, 3]):
        rows.append((counts, {}))
        rows.append((counts, {"shuffle_after_epoch": True}))
    for seed in (0, 1, 7, 123456789, 2**32 + 7, 2**31):
        for size in (1, 4, 1024):
            rows.append(([3, 4, 2, 5, 1], {"random_shuffle": True, "random_seed": seed, "shuffle_buffer_size": size}))
    both = {"random_shuffle": True, "shuffle_after_epoch": True, "shuffle_buffer_size": 5, "random_seed": 3}
    rows += [([3, 4, 2, 5, 1], both), ([3, 4, 2, 5, 1], {**both, "batch_size": 4})]
    return [{"counts": counts, **options, "labels": labels(counts, 64, **options)} for counts, options in rows]


def decoded(data: bytes, decode: Any) -> np.ndarray[Any, Any]:
    """Return an image as one decoder decodes it."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "part-0").write_bytes(record_of(images=data))
        reader = flow.nn.OFRecordReader(folder)
        return np.asarray(decode(reader()).numpy()[0])


def pixels() -> dict[str, Any]:
    """Return the results of the decoders for images that do not end the process of OneFlow."""
    found = {}
    stored = np.load(PICTURES)
    as_bytes = flow.nn.OFRecordBytesDecoder("images")
    for name in stored.files:
        if name in SKIPPED:
            continue
        data = stored[name].tobytes()
        # image.decode applies the EXIF orientation; OFRecordImageDecoder, which the tests compare, ignores it.
        for color_space in ("BGR", "RGB", "GRAY") if "turned" not in name else ():
            decode = flow.nn.image.decode(color_space=color_space)
            found[f"decode/{name}/{color_space}"] = decoded(data, lambda batch, d=decode: d(as_bytes(batch)))
        if name.startswith("jpeg") and not any(word in name for word in ("grey", "cmyk")):
            found[f"decoder/{name}/RGB"] = decoded(data, flow.nn.OFRecordImageDecoder("images", color_space="RGB"))
    return found


def as_buffers(data: bytes) -> Any:
    """Return a batch of one RGB image."""
    folder = Path(tempfile.mkdtemp())
    (folder / "part-0").write_bytes(record_of(images=data))
    return flow.nn.OFRecordImageDecoder("images", color_space="RGB")(flow.nn.OFRecordReader(str(folder))())


def sizes() -> dict[str, Any]:
    """Return resized images, scales and new sizes."""
    found: dict[str, Any] = {}
    picture = as_buffers(np.load(PICTURES)["jpeg_0"].tobytes())
    for width, height in SIZES:
        for kernel in KERNELS:
            done, scale, _ = flow.nn.image.Resize(target_size=(width, height), interpolation_type=kernel)(picture)
            found[f"resize/{kernel}/{width}x{height}"] = done.numpy()[0]
            found[f"scale/{width}x{height}"] = scale.numpy()[0]
    for target in (4, 6, 9, 17, 25, 30):
        for side in ("shorter", "longer"):
            for smallest, largest in ((None, None), (4, None), (None, 30), (3, 40)):
                resize = flow.nn.image.Resize(
                    target_size=target, keep_aspect_ratio=True, resize_side=side, min_size=smallest, max_size=largest
                )
                done, scale, size = resize(picture)
                key = f"keep/{target}/{side}/{smallest or 0}/{largest or 0}"
                found[key] = np.concatenate([np.array(done.numpy()[0].shape), scale.numpy()[0], size.numpy()[0]])
    return found


def values() -> dict[str, Any]:
    """Return cropped, mirrored and normalized images."""
    found: dict[str, Any] = {}
    picture = as_buffers(np.load(PICTURES)["jpeg_1"].tobytes())
    fixed, _, _ = flow.nn.image.Resize(target_size=(13, 9))(picture)
    mean, std = [123.68, 116.779, 103.939], [58.393, 57.12, 57.375]
    for name, options in {
        "plain": {},
        "normal": {"mean": mean, "std": std},
        "one number": {"mean": [3.5], "std": [255.0]},
        "cut": {"crop_h": 6, "crop_w": 4, "mean": mean, "std": std},
        "cut at": {"crop_h": 6, "crop_w": 4, "crop_pos_y": 0.9, "crop_pos_x": 0.2},
        "rgb": {"color_space": "RGB", "mean": mean, "std": std},
    }.items():
        normalize = flow.nn.CropMirrorNormalize(**options)
        for mirrored in (0, 1):
            mirror = flow.tensor([mirrored], dtype=flow.int8)
            found[f"normal/{name}/{mirrored}"] = normalize(fixed, mirror).numpy()[0]
        found[f"normal/{name}/none"] = normalize(fixed).numpy()[0]
    return found


def main() -> None:
    """Write both recordings."""
    versions = {"oneflow": flow.__version__, "numpy": np.__version__}
    rows = ",\n  ".join(json.dumps(row) for row in orders())
    text = f'{{"versions": {json.dumps(versions)},\n "readers": [\n  {rows}\n ]}}\n'
    (HERE / "orders.json").write_text(text, encoding="utf-8")
    arrays = pixels() | sizes() | values()
    np.savez_compressed(HERE / "pictures.npz", versions=np.array(json.dumps(versions)), **arrays)


if __name__ == "__main__":
    main()

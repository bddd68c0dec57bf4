"""What programs do with values whose last bits count: each takes the module and a folder, gives plain values."""

from __future__ import annotations

import hashlib
import os
import random

import numpy as np

from tests.compat.mxnet.detection_programs import packed as boxes
from tests.compat.mxnet.gluon_programs import packed, picture


def told(value):
    """Dtype, shape and a digest of all bits."""
    array = np.ascontiguousarray(value.asnumpy() if hasattr(value, "asnumpy") else value)
    return [array.dtype.name, list(array.shape), hashlib.sha256(array.tobytes()).hexdigest()[:16]]


def sums(mx, folder):
    rng = np.random.RandomState(7)
    rows = {}
    for dtype in ("float32", "float64"):
        for shape in ((50, 60, 3), (4, 3, 33, 35), (1000,), (2, 0, 3), (1,)):
            values = mx.nd.array((rng.randn(*shape) * 100).astype(dtype), dtype=dtype)
            places = [None, 0, *([(0, 1), -1] if len(shape) > 1 else []), *([(0, 2)] if len(shape) > 2 else [])]
            for axis in places if 0 not in shape else [1]:
                options = {} if axis is None else {"axis": axis}
                found = [mx.nd.sum(values, **options), mx.nd.nansum(values, keepdims=True, **options)]
                found += [] if 0 in shape else [values.mean(**options)]
                rows[f"{dtype} {shape} {axis}"] = [told(one) for one in found]
    return rows


def jitters(mx, folder):
    pixels = np.random.RandomState(3).rand(40, 50, 3).astype(np.float32) * 255
    rows = {}
    for name in ("BrightnessJitterAug", "ContrastJitterAug", "SaturationJitterAug"):
        random.seed(5)
        augmenter = getattr(mx.image, name)(0.4)
        rows[name] = [told(augmenter(mx.nd.array(pixels))) for _ in range(3)]
    return rows


def moved_boxes(mx, folder):
    rec, idx = boxes(mx, folder)
    rows = {}
    for name, options in {
        "crops": {"rand_crop": 0.8, "min_object_covered": 0.3, "area_range": (0.1, 1.0)},
        "frames": {"rand_pad": 0.7, "area_range": (0.5, 3.0), "pad_val": (1, 20, 130)},
        "both": {"rand_crop": 0.5, "rand_pad": 0.5, "rand_mirror": True, "aspect_ratio_range": (0.5, 2)},
    }.items():
        random.seed(6)
        data = mx.image.ImageDetIter(
            batch_size=3, data_shape=(3, 24, 32), path_imgrec=rec, path_imgidx=idx, inter_method=1, **options
        )
        rows[name] = [[told(batch.data[0]), told(batch.label[0]), batch.pad] for batch in data]
    frame = mx.image.DetRandomPadAug((0.9, 1.1), (2.0, 3.0), 9, (7, 8, 9))
    image = mx.nd.array(picture(3), dtype="uint8")
    rows["alone"] = [told(part) for part in frame(image, np.array([[1, 0.25, 0.5, 0.75, 1.0]], np.float32))]
    return rows


def detection_records(mx, folder):
    rec, _ = boxes(mx, folder)
    rows = {}
    for part in range(3):
        data = mx.io.ImageDetRecordIter(
            path_imgrec=rec, data_shape=(3, 24, 32), batch_size=1, num_parts=3, part_index=part, verbose=False
        )
        rows[str(part)] = [list(data.provide_label[0].shape), told(next(iter(data)).label[0])]
    for name, options in {
        "mirrored": {"rand_mirror_prob": 1.0, "mean_r": 100},
        "by size": {"inter_method": 9, "data_shape": (3, 20, 30)},
    }.items():
        given = {"data_shape": (3, 24, 32), "batch_size": 9, "verbose": False, "path_imgrec": rec} | options
        [batch] = mx.io.ImageDetRecordIter(**given)
        rows[name] = [told(batch.data[0]), told(batch.label[0])]
    return rows


class Counting:
    """An iterator of a program's own, which describes its arrays by pairs."""

    def __init__(self, mx):
        self.mx, self.batch_size, self.cur = mx, 2, 0
        self.provide_data, self.provide_label = [("data", (2, 2))], [("label", (2,))]

    def __iter__(self):
        return self

    def reset(self):
        self.cur = 0

    def next(self):
        if self.cur == 3:
            raise StopIteration
        self.cur += 1
        nd = self.mx.nd
        return self.mx.io.DataBatch(data=[nd.full((2, 2), self.cur)], label=[nd.array([self.cur] * 2)], pad=0)

    __next__ = next  # noqa: A003


def own_iterators(mx, folder):
    ahead = mx.io.PrefetchingIter(Counting(mx))
    rows = [[[name, list(shape)] for name, shape in (*ahead.provide_data, *ahead.provide_label)]]
    for _ in range(2):
        rows.append([batch.label[0].asnumpy().tolist() for batch in ahead])
        ahead.reset()
    rows.append([batch.label[0].asnumpy().tolist() for batch in mx.io.ResizeIter(Counting(mx), 5)])
    return rows


def operations(mx, folder):
    nd = mx.nd
    a = nd.array(np.arange(24).reshape(2, 3, 4) - 9)
    out = nd.zeros((2, 3, 4))
    rows = {"out": []}
    for found in (
        nd.clip(a, -2, 5, out=out),
        nd.broadcast_add(a, a, out=out),
        nd.concat(a[:1], a[1:], dim=0, out=out),
        nd.exp(a * 0, out=out),
    ):
        rows["out"].append([found is out, told(out)])
    for name in ("trunc", "fix", "relu", "reciprocal", "negative", "logical_not", "shape_array", "size_array"):
        rows[name] = told(getattr(nd, name)(a / 2))
    for name in [
        *("not_equal", "lesser", "lesser_equal", "greater", "greater_equal", "modulo", "true_divide", "logical_and"),
        *("logical_or", "logical_xor", "broadcast_greater", "broadcast_mod"),
    ]:
        rows[name] = told(getattr(nd, name)(a, a[:1] * 0 + 3 if name.startswith("broadcast") else a * 0 + 3))
    rows["split_v2"] = [told(one) for one in [*nd.split_v2(a, 3, axis=1), *nd.split_v2(a, (1, 3), axis=2)]]
    rows["one"] = told(nd.split_v2(a, 1))
    with mx.cpu():
        rows["device"] = str(nd.ones((1,)).context)
    image = nd.array(picture(1), dtype="uint8")
    rows["to_tensor"] = [told(nd.image.to_tensor(one)) for one in (image, nd.stack(image, image))]
    scaled = nd.image.to_tensor(image)
    rows["normalize"] = [
        told(nd.image.normalize(scaled, (0.1, 0.2, 0.3), (0.4, 0.5, 0.6))),
        told(nd.image.normalize(scaled, 0.5, 2)),
    ]
    rows["resize"] = [told(nd.image.resize(image, *options)) for options in ((9,), ((8, 7),), (12, True))]
    rows["crop"] = told(nd.image.crop(image, 3, 2, 9, 8))
    return rows


def devices(mx, folder):
    utils, batch = mx.gluon.utils, mx.nd.arange(14).reshape((7, 2))
    two = [mx.cpu(0), mx.cpu(0)]
    rows = {"even": [told(one) for one in utils.split_and_load(batch[:6], two)]}
    rows["uneven"] = [told(one) for one in utils.split_and_load(batch, two, even_split=False)]
    rows["columns"] = [told(one) for one in utils.split_data(batch, 2, batch_axis=1)]
    rows["one"] = [told(one) for one in utils.split_and_load(np.arange(4.0), [mx.cpu()])]
    try:
        utils.split_and_load(batch, two)
    except ValueError as error:
        rows["error"] = str(error)
    return rows


def folders(mx, folder):
    root = f"{folder}/classes"
    for name in ("cat", "dog"):
        os.makedirs(f"{root}/{name}")
    path = packed(mx, folder, "a", range(3))
    record = mx.recordio.MXIndexedRecordIO(path[:-3] + "idx", path, "r")
    for number in range(3):
        with open(f"{root}/{'dog' if number else 'cat'}/{2 - number}.png", "wb") as file:
            file.write(mx.recordio.unpack(record.read_idx(number * 10))[1])
    data = mx.gluon.data.vision.ImageFolderDataset(root)
    rows = [len(data), data.synsets, [[os.path.relpath(name, root), label] for name, label in data.items]]
    grey = mx.gluon.data.vision.ImageFolderDataset(root, 0, lambda image, label: (image + 1, -label))
    return [*rows, *([told(one[place][0]), one[place][1]] for one in (data, grey) for place in range(3))]


def own_steps(mx, folder):
    gluon, transforms = mx.gluon, mx.gluon.data.vision.transforms

    class Half(gluon.Block):
        def forward(self, x):
            return x / 2

    class More(gluon.HybridBlock):
        def hybrid_forward(self, F, x):  # noqa: N803 (MXNet's)
            return F.clip(x + 3, 0, 100)

    steps = transforms.Compose([transforms.Cast(), Half(), More(), transforms.ToTensor()])
    steps.hybridize()
    always, never = (transforms.RandomApply(transforms.Cast(), p) for p in (1.1, -0.1))
    image = mx.nd.array(picture(2), dtype="uint8")
    return [told(steps(image)), told(always(image)), told(never(image))]


def tables(mx, folder):
    rng = np.random.RandomState(0)
    data, label = f"{folder}/data.csv", f"{folder}/label.csv"
    np.savetxt(data, rng.rand(10, 6) * 100, delimiter=",", fmt="%.5f")
    np.savetxt(label, np.arange(20).reshape(10, 2), delimiter=",", fmt="%d")
    rows = {}
    for name, options in {
        "plain": {"data_shape": (6,), "batch_size": 4},
        "labels": {"data_shape": (2, 3), "label_csv": label, "label_shape": (2,), "batch_size": 5},
        "whole": {"data_shape": (6,), "batch_size": 5, "dtype": "int32"},
        "named": {"data_shape": "(6,)", "batch_size": 10, "data_name": "x", "label_name": "y", "dtype": "int64"},
    }.items():
        it = mx.io.CSVIter(data_csv=data, **options)
        rows[name] = [[one.name, list(one.shape)] for one in (*it.provide_data, *it.provide_label)]
        rows[name] += [[told(batch.data[0]), told(batch.label[0]), batch.pad] for batch in it]
    return rows


PROGRAMS = {
    one.__name__: one
    for one in (
        sums,
        jitters,
        moved_boxes,
        detection_records,
        own_iterators,
        operations,
        devices,
        folders,
        own_steps,
        tables,
    )
}

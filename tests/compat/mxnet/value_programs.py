"""Programs with arrays, iterators and transforms: each takes the module and a folder, and returns plain values."""

from __future__ import annotations

import hashlib
import os

import numpy as np

from tests.compat.mxnet.detection_programs import pack_images as pack_boxes
from tests.compat.mxnet.gluon_programs import create_image, pack_images


def summarize(value):
    """Dtype, shape and a digest of all bits."""
    array = np.ascontiguousarray(value.asnumpy() if hasattr(value, "asnumpy") else value)
    return [array.dtype.name, list(array.shape), hashlib.sha256(array.tobytes()).hexdigest()[:16]]


def detection_records(mx, folder):
    rec, _ = pack_boxes(mx, folder)
    rows = {}
    for part in range(3):
        data = mx.io.ImageDetRecordIter(
            path_imgrec=rec, data_shape=(3, 24, 32), batch_size=1, num_parts=3, part_index=part, verbose=False
        )
        rows[str(part)] = [list(data.provide_label[0].shape), summarize(next(iter(data)).label[0])]
    for name, options in {
        "mirrored": {"rand_mirror_prob": 1.0, "mean_r": 100},
        "by size": {"inter_method": 9, "data_shape": (3, 20, 30)},
    }.items():
        parameters = {"data_shape": (3, 24, 32), "batch_size": 9, "verbose": False, "path_imgrec": rec} | options
        [batch] = mx.io.ImageDetRecordIter(**parameters)
        rows[name] = [summarize(batch.data[0]), summarize(batch.label[0])]
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


def custom_iterators(mx, folder):
    ahead = mx.io.PrefetchingIter(Counting(mx))
    rows = [[[name, list(shape)] for name, shape in (*ahead.provide_data, *ahead.provide_label)]]
    for _ in range(2):
        rows.append([batch.label[0].asnumpy().tolist() for batch in ahead])
        ahead.reset()
    return rows


def operations(mx, folder):
    nd = mx.nd
    rows = {}
    with mx.cpu():
        rows["device"] = str(nd.ones((1,)).context)
    image = nd.array(create_image(1), dtype="uint8")
    rows["to_tensor"] = [summarize(nd.image.to_tensor(one)) for one in (image, nd.stack(image, image))]
    scaled = nd.image.to_tensor(image)
    rows["normalize"] = [
        summarize(nd.image.normalize(scaled, (0.1, 0.2, 0.3), (0.4, 0.5, 0.6))),
        summarize(nd.image.normalize(scaled, 0.5, 2)),
    ]
    return rows


def devices(mx, folder):
    utils, batch = mx.gluon.utils, mx.nd.array(np.arange(14)).reshape((7, 2))
    two = [mx.cpu(0), mx.cpu(0)]
    rows = {"even": [summarize(one) for one in utils.split_and_load(batch[:6], two)]}
    rows["uneven"] = [summarize(one) for one in utils.split_and_load(batch, two, even_split=False)]
    rows["columns"] = [summarize(one) for one in utils.split_and_load(batch, two, batch_axis=1)]
    rows["one"] = [summarize(one) for one in utils.split_and_load(np.arange(4.0), [mx.cpu()])]
    return rows


def folders(mx, folder):
    root = f"{folder}/classes"
    for name in ("cat", "dog"):
        os.makedirs(f"{root}/{name}")
    path = pack_images(mx, folder, "a", range(3))
    record = mx.recordio.MXIndexedRecordIO(path[:-3] + "idx", path, "r")
    for number in range(3):
        with open(f"{root}/{'dog' if number else 'cat'}/{2 - number}.png", "wb") as file:
            file.write(mx.recordio.unpack(record.read_idx(number * 10))[1])
    data = mx.gluon.data.vision.ImageFolderDataset(root)
    rows = [len(data), data.synsets, [[os.path.relpath(name, root), label] for name, label in data.items]]
    gray = mx.gluon.data.vision.ImageFolderDataset(root, 0, lambda image, label: (image + 1, -label))
    return [*rows, *([summarize(one[position][0]), one[position][1]] for one in (data, gray) for position in range(3))]


PROGRAMS = {one.__name__: one for one in (detection_records, custom_iterators, operations, devices, folders)}

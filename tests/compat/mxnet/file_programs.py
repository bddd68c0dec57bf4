"""Programs that read and write files of numbers: each takes the module and a folder, and gives plain values."""

from __future__ import annotations

import gzip
import hashlib
import struct

import numpy as np

from tests.compat.mxnet.detection_programs import packed as boxes
from tests.compat.mxnet.value_programs import told


def digits(folder, count=23, shape=(4, 5)):
    """Two files as MNIST has them."""
    pixels = np.random.RandomState(count).randint(0, 256, (count, *shape)).astype(np.uint8)
    paths = f"{folder}/images-{count}", f"{folder}/labels-{count}"
    with open(paths[0], "wb") as file:
        file.write(struct.pack(">iiii", 2051, count, *shape) + pixels.tobytes())
    with open(paths[1], "wb") as file:
        file.write(struct.pack(">ii", 2049, count) + (np.arange(count) % 251).astype(np.uint8).tobytes())
    return {"image": paths[0], "label": paths[1]}


def batches_of_digits(mx, folder):
    files, rows = digits(folder), {}
    for name, options in {
        "as they are": {"shuffle": False},
        "shuffled": {},
        "flat": {"seed": 3, "flat": True, "input_shape": (20,)},
        "part": {"num_parts": 3, "part_index": 1, "seed": 9, "batch_size": 3, "data_name": "x", "label_name": "y"},
        "last part": {"num_parts": 3, "part_index": 2, "shuffle": "False", "batch_size": "4"},
    }.items():
        data = mx.io.MNISTIter(**{"batch_size": 5, "silent": True, **files, **options})
        rows[name] = [[one.name, list(one.shape), np.dtype(one.dtype).name] for one in data.provide_data]
        rows[name] += [[one.name, list(one.shape), np.dtype(one.dtype).name] for one in data.provide_label]
        for _ in range(2):
            rows[name] += [[told(one.data[0]), one.label[0].asnumpy().tolist(), one.pad] for one in data]
            data.reset()
        rows[name].append([data.iter_next(), told(data.getdata()), told(data.getlabel()), data.getpad()])
    many = mx.io.MNISTIter(batch_size=70000, seed=5, silent=True, **digits(folder, 70000, (1, 1)))
    rows["many"] = told(next(many).label[0])
    return rows


SPARSE = "1.0 0:0.5 2:1.2\n-2.0\n-3.0 0:0.6 1:2.4 2:1.2\n4 2:-1.2\n"
ODD = (
    "# a comment\n1.5:2 0:1234.5678 1:0.1234567891234 2:16777217.25 # another\n\n  \r\n+1\tqid:7 2:1 0:3 2:5\r\n3 1:1e5"
)


def matrix(one):
    """Parts of a sparse matrix."""
    parts = [part.asnumpy().tolist() for part in (one.data, one.indices, one.indptr)]
    return [one.stype, list(one.shape), np.dtype(one.dtype).name, *parts, told(one), repr(one)]


def batches_of_sparse_rows(mx, folder):
    texts = {"plain": SPARSE, "odd": ODD, "ten": "".join(f"{i} {i % 3}:{i}.1\n" for i in range(10))}
    texts["labels"] = "1.0\n-2.0 0:0.125\n-3.0 2:1.2\n4 1:1.0 2:-1.2\n"
    for name, text in texts.items():
        with open(f"{folder}/{name}.t", "w", newline="") as file:
            file.write(text)
    rows = {}
    for name, options in {
        "plain": {"batch_size": 3},
        "odd": {"batch_size": 2},
        "labels": {"batch_size": 3, "label_libsvm": f"{folder}/labels.t", "label_shape": (3,)},
        **{f"part {part}": {"batch_size": 2, "num_parts": 3, "part_index": part} for part in range(3)},
        "together": {"batch_size": 3, "data_libsvm": f"{folder}/odd.t;{folder}/plain.t;{folder}/ten.t"},
        "halves": {"batch_size": 2, "data_libsvm": f"{folder}/plain.t;{folder}/ten.t", "num_parts": 2, "part_index": 1},
    }.items():
        file = {"labels": "plain"}.get(name, "ten" if name.startswith("part") else name)
        given = {"data_libsvm": f"{folder}/{file}.t", "data_shape": (3,), **options}
        data = mx.io.LibSVMIter(**given)
        rows[name] = [[one.name, list(one.shape)] for one in (*data.provide_data, *data.provide_label)]
        for batch in data:
            label = batch.label[0]
            tell = matrix if label.stype == "csr" else told
            rows[name].append([matrix(batch.data[0]), tell(label), batch.pad, batch.index.tolist()])
    whole = mx.nd.sparse.csr_matrix(([7.0, 8, 9], [0, 2, 1], [0, 2, 2, 3]), shape=(3, 4))
    rows["matrices"] = [matrix(one) for one in (whole, whole[1:], whole[0], whole.astype("int32"), whole.copy())]
    rows["matrices"].append(matrix(mx.nd.sparse.csr_matrix(np.eye(3)[:2] * 4)))
    rows["matrices"].append(told(whole.tostype("default")))
    return rows


def kept_data_sets(mx, folder):
    """Data sets whose files lie in a folder: MXNet's download of them is left out."""
    vision, rng = mx.gluon.data.vision, np.random.RandomState(8)
    if hasattr(vision.datasets, "download"):
        vision.datasets.download = lambda url, path, sha1_hash: f"{path}/{url.split('/')[-1]}"
        vision.datasets.check_sha1 = lambda path, sha1: True
    for part in ("train", "t10k"):
        for kind, shape in (("images-idx3", (2051, 9, 28, 28)), ("labels-idx1", (2049, 9))):
            data = rng.randint(0, 256, shape[1:]).astype(np.uint8).tobytes()
            with gzip.open(f"{folder}/{part}-{kind}-ubyte.gz", "wb") as file:
                file.write(struct.pack(f">{len(shape)}I", *shape) + data)
    sizes = {
        **{f"data_batch_{number}": 3073 for number in range(1, 6)},
        "test_batch": 3073,
        "train": 3074,
        "test": 3074,
    }
    for name, size in sizes.items():
        rng.randint(0, 256, (2, size)).astype(np.uint8).tofile(f"{folder}/{name}.bin")
    rows = {}
    for kind, options in (
        ("MNIST", {}),
        ("FashionMNIST", {}),
        ("CIFAR10", {}),
        ("CIFAR100", {"fine_label": True}),
        ("CIFAR100", {}),
    ):
        for train in (True, False):
            data = getattr(vision, kind)(folder, train=train, **options)
            picture, label = data[1]
            rows[f"{kind} {options} {train}"] = [
                len(data),
                told(picture),
                int(label),
                type(label).__name__,
                told(data[1:3][0]),
            ]
    steps = vision.transforms.ToTensor()
    loader = mx.gluon.data.DataLoader(vision.MNIST(folder).transform_first(steps), 4, last_batch="discard")
    rows["batches"] = [[told(images), told(labels)] for images, labels in loader]
    double = vision.CIFAR10(
        folder, train=False, transform=lambda image, label: (image.astype("float32") / 255, label * 2)
    )
    rows["transformed"] = [told(double[0][0]), int(double[0][1])]
    return rows


def exponents(mx, folder):
    """Numbers in all forms, as a table and as sparse rows."""
    rng = np.random.RandomState(5)
    forms = ("%.18e", "%.6e", "%.3E", "%.12f", "%.2f", "%d")
    numbers = [forms[place % 6] % ((rng.rand() - 0.5) * 10 ** rng.uniform(-30, 19)) for place in range(120)]
    numbers = [one if len(one) < 30 else "1.5e-7" for one in numbers] + [
        "1e5",
        "-0.00012e3",
        "3.4e38",
        "1.2e-38",
        "7E+03",
    ]
    with open(f"{folder}/numbers.csv", "w") as file:
        file.write("".join(f"{one}\n" for one in numbers))
    np.savetxt(f"{folder}/saved.csv", rng.randn(20, 6) / 7, delimiter=",")
    with open(f"{folder}/numbers.t", "w") as file:
        file.write("".join(f"{one} 0:{one}\n" for one in numbers))
    rows = {}
    for name, width in (("numbers", 1), ("saved", 6)):
        data = mx.io.CSVIter(data_csv=f"{folder}/{name}.csv", data_shape=(width,), batch_size=20)
        rows[name] = [told(batch.data[0]) for batch in data]
    data = mx.io.LibSVMIter(data_libsvm=f"{folder}/numbers.t", data_shape=(1,), batch_size=len(numbers))
    rows["sparse"] = [[told(batch.data[0]), told(batch.label[0])] for batch in data]
    return rows


def rows_of_sparse_matrices(mx, folder):
    values, columns, ends = np.arange(1, 9, dtype=np.float32), [0, 2, 1, 3, 0, 1, 2, 3], [0, 2, 2, 3, 5, 8]
    matrices = mx.nd.sparse.csr_matrix((values, columns, ends), shape=(5, 4))
    data = mx.io.NDArrayIter(matrices, np.arange(5), 2, last_batch_handle="discard")
    batches = [[told(batch.data[0]), told(batch.label[0]), batch.pad] for batch in data]
    cells = mx.nd.zeros((2, 3))
    cells[1, 2] += 4
    cells[0, 1] = mx.nd.array([7])
    return {
        "batches": batches,
        "described": [[one.name, list(one.shape)] for one in data.provide_data],
        "cells": told(cells),
    }


def means_of_images(mx, folder):
    """A mean that is made at first, and read then."""
    rows, path = {}, boxes(mx, folder)[0]
    for name, options in {"plain": {}, "scaled": {"scale": 0.5, "std_r": 3.0}, "levels": {"mean_r": 9.0}}.items():
        mean = f"{folder}/{name}.bin"
        given = {"path_imgrec": path, "data_shape": (3, 12, 16), "batch_size": 4, "verbose": False, **options}
        rows[name] = []
        for _ in range(2):
            data = mx.io.ImageDetRecordIter(mean_img=mean, **given)
            rows[name].append([[told(batch.data[0]), batch.pad] for batch in data])
        rows[name].append(loaded(mx.nd.load(mean)) if name != "levels" else None)
    mx.nd.save(mean, [mx.nd.ones((3, 12, 16)) * 7])
    rows["kept"] = told(mx.io.ImageDetRecordIter(**{**given, "mean_img": mean, "mean_r": 0}).next().data[0])
    return rows


def loaded(found):
    """Arrays of a file by their names, or in their order."""
    pairs = found.items() if isinstance(found, dict) else enumerate(found)
    return [[str(name), matrix(one) if one.stype == "csr" else told(one)] for name, one in pairs]


def of_older_versions(values):
    """Files as MXNet wrote them before it wrote what it writes now: dense arrays without, and with 64-bit lengths."""
    head, tail = struct.pack("<QQQ", 0x112, 0, 1), struct.pack("<iii", 1, 0, 0) + values.tobytes()
    names = struct.pack("<QQ", 1, 8) + b"mean_img"
    shape = struct.pack(f"<{values.ndim}I", *values.shape)
    yield head + struct.pack("<I", values.ndim) + shape + tail + names
    shape = struct.pack(f"<i{values.ndim}q", values.ndim, *values.shape)
    yield head + struct.pack("<I", 0xF993FAC8) + shape + tail + names
    yield head + struct.pack("<Ii", 0xF993FAC9, 0) + shape + tail + struct.pack("<Q", 0)


def kept_arrays(mx, folder):
    path, rows = f"{folder}/arrays.nd", {}
    dtypes = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool")
    values = np.random.RandomState(2).randint(0, 2, (2, 3, 1))
    for name, data in {
        "one": mx.nd.array(values),
        "list": [mx.nd.array(values, dtype=dtype) for dtype in dtypes],
        "dict": {"b": mx.nd.array([1]), "ä": mx.nd.array([[2, 3]], dtype="int64"), "": mx.nd.zeros((1,))},
        "sparse": [mx.nd.sparse.csr_matrix(([1.0, 2], [0, 2], [0, 1, 2]), shape=(2, 3))],
        "empty list": [],
        "empty dict": {},
    }.items():
        mx.nd.save(path, data)
        with open(path, "rb") as file:
            encoded = file.read()
        rows[name] = [hashlib.sha256(encoded).hexdigest()[:16], len(encoded), loaded(mx.nd.load(path))]
        rows[name].append(loaded(mx.nd.load_frombuffer(encoded)))
    for number, encoded in enumerate(of_older_versions(np.linspace(0, 1, 12).reshape(3, 2, 2).astype(np.float32))):
        with open(path, "wb") as file:
            file.write(encoded)
        rows[f"older {number}"] = loaded(mx.nd.load(path))
    return rows


PROGRAMS = {
    one.__name__: one
    for one in (
        batches_of_digits,
        batches_of_sparse_rows,
        rows_of_sparse_matrices,
        kept_data_sets,
        means_of_images,
        exponents,
        kept_arrays,
    )
}

"""Programs that read datasets and mean images: each takes the module and a folder, and returns plain values."""

from __future__ import annotations

import gzip
import struct

import numpy as np

from tests.compat.mxnet.value_programs import summarize


def file_datasets(mx, folder):
    """Read datasets whose files are in a folder; MXNet does not download them."""
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
            image, label = data[1]
            rows[f"{kind} {options} {train}"] = [
                len(data),
                summarize(image),
                int(label),
                type(label).__name__,
                summarize(data[1:3][0]),
            ]
    steps = vision.transforms.ToTensor()
    loader = mx.gluon.data.DataLoader(vision.MNIST(folder).transform_first(steps), 4, last_batch="discard")
    rows["batches"] = [[summarize(images), summarize(labels)] for images, labels in loader]
    double = vision.CIFAR10(
        folder, train=False, transform=lambda image, label: (image.astype("float32") / 255, label * 2)
    )
    rows["transformed"] = [summarize(double[0][0]), int(double[0][1])]
    return rows


PROGRAMS = {"file_datasets": file_datasets}

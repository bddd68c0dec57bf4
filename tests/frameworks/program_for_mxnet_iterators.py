"""A program as people wrote it for MXNet: digits, sparse rows, tables, kept arrays, iterators around iterators."""

import gzip
import hashlib
import random
import struct

import mxnet as mx
import numpy as np


def tell(array):
    """Shape, dtype and a hash."""
    array = np.ascontiguousarray(array.asnumpy() if hasattr(array, "asnumpy") else array)
    return array.shape, array.dtype.name, hashlib.sha256(array.tobytes()).hexdigest()[:16]


def write_digits(images, labels, count, seed):
    """Digits as MNIST has them, compressed and not."""
    rng = np.random.RandomState(seed)
    pixels, classes = rng.randint(0, 256, count * 784).astype(np.uint8), rng.randint(0, 10, count).astype(np.uint8)
    data = (
        struct.pack(">IIII", 2051, count, 28, 28) + pixels.tobytes(),
        struct.pack(">II", 2049, count) + classes.tobytes(),
    )
    for path, content in zip((images, labels), data, strict=True):
        with open(path, "wb") as file:
            file.write(content)
        with gzip.open(path + ".gz", "wb") as file:
            file.write(content)


def read_data(label, image):
    """The digits, by hand."""
    with gzip.open(label) as flbl:
        struct.unpack(">II", flbl.read(8))
        label = np.frombuffer(flbl.read(), dtype=np.int8)
    with gzip.open(image, "rb") as fimg:
        _, _, rows, cols = struct.unpack(">IIII", fimg.read(16))
        image = np.frombuffer(fimg.read(), dtype=np.uint8).reshape(len(label), rows, cols)
    return label, image


write_digits("train-images-idx3-ubyte", "train-labels-idx1-ubyte", 300, 0)
write_digits("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", 90, 1)

labels, images = read_data("train-labels-idx1-ubyte.gz", "train-images-idx3-ubyte.gz")
np.random.seed(0)  # noqa: NPY002
train = mx.io.NDArrayIter(images.reshape(-1, 1, 28, 28).astype(np.float32) / 255, labels, 64, shuffle=True)
for _ in range(2):
    for batch in train:
        print(tell(batch.data[0]), tell(batch.label[0]), batch.pad)
    train.reset()

train = mx.io.MNISTIter(
    image="train-images-idx3-ubyte",
    label="train-labels-idx1-ubyte",
    input_shape=(1, 28, 28),
    batch_size=64,
    shuffle=True,
    flat=False,
    num_parts=2,
    part_index=1,
    silent=True,
)
val = mx.io.MNISTIter(
    image="t10k-images-idx3-ubyte", label="t10k-labels-idx1-ubyte", batch_size=30, flat=True, shuffle=False, silent=1
)
print(train.provide_data, val.provide_data, val.provide_label, train.batch_size)
for epoch in range(2):
    for number, batch in enumerate(train):
        print(epoch, number, tell(batch.data[0]), tell(batch.label[0]), batch.pad)
    train.reset()
print(len(list(mx.io.PrefetchingIter(val))), len(list(mx.io.ResizeIter(train, 5))))

np.savetxt("data.csv", np.random.RandomState(2).randn(7, 6), delimiter=",")
np.savetxt("label.csv", np.arange(7), fmt="%d")
for batch in mx.io.CSVIter(data_csv="data.csv", data_shape=(2, 3), label_csv="label.csv", batch_size=3):
    print(tell(batch.data[0]), batch.label[0].asnumpy(), batch.pad)

with open("rows.t", "w") as file:
    for i in range(9):
        pairs = " ".join(f"{j}:{(i + 1) * (j + 1) / 3:.2f}" for j in range(i % 3, 6, 2))
        file.write(f"{i % 2} {pairs}\n")
for batch in mx.io.LibSVMIter(data_libsvm="rows.t", data_shape=(6,), batch_size=4):
    rows = batch.data[0]
    print(tell(rows), rows.stype, rows.indices.asnumpy(), rows.indptr.asnumpy(), rows.data.asnumpy())
    print(batch.label[0].asnumpy(), batch.pad, batch.index)
print(rows, rows[1:3].asnumpy(), len(rows), rows.shape)

mean = mx.nd.array(images).mean(axis=0)
mx.nd.save("mean.bin", {"mean_img": mean})
mx.nd.save("list.nd", [mean, rows, mx.nd.array([1, 2], dtype="uint8")])
for name in ("mean.bin", "list.nd"):
    with open(name, "rb") as file:
        print(hashlib.sha256(file.read()).hexdigest())
print(tell(mx.nd.load("mean.bin")["mean_img"]), [tell(one) for one in mx.nd.load("list.nd")])

picture = mx.nd.array(images[:3].reshape(1, 3, 28, 28) / 255.0)[0]
steps = mx.gluon.data.vision.transforms
np.random.seed(1)  # noqa: NPY002
for step in (steps.Rotate(15), steps.RandomRotation((-20, 20), zoom_in=True), steps.Rotate(30, zoom_out=True)):
    print(tell(step(picture)))

first, second = (
    mx.io.NDArrayIter(sign * np.arange(12).reshape(6, 2), sign * np.arange(6), 2, last_batch_handle="discard")
    for sign in (1, -1)
)
both = mx.io.PrefetchingIter(
    [first, second],
    rename_data=[{"data": "left"}, {"data": "right"}],
    rename_label=[{"softmax_label": "one"}, {"softmax_label": "two"}],
)
print(both.provide_data, both.provide_label)
for batch in both:
    print([array.asnumpy().tolist() for array in batch.data + batch.label], batch.provide_data)

record = mx.recordio.MXIndexedRecordIO("boxes.idx", "boxes.rec", "w")
for i in range(7):
    y, x = np.mgrid[: 40 + 4 * i, : 50 + 3 * i]
    pixels = np.stack([x * 3 + i, y * 4, (x + y) * 2], axis=-1).astype(np.uint8)
    boxes = [value for k in range(i % 3 + 1) for value in (k, 0.1 * k + 0.02 * i, 0.1, 0.4 + 0.1 * k, 0.5 + 0.05 * i)]
    header = mx.recordio.IRHeader(0, [4, 5, 60, 70, *boxes], i, 0)
    record.write_idx(i, mx.recordio.pack_img(header, pixels, quality=95, img_fmt=".jpg"))
record.close()
options = {"path_imgrec": "boxes.rec", "data_shape": (3, 32, 40), "batch_size": 7, "verbose": False}
for more in ({}, {"resize_mode": "fit"}, {"resize": 30}, {"label_pad_width": 40, "mean_r": 123.0, "inter_method": 3}):
    batch = mx.io.ImageDetRecordIter(**options, **more).next()
    print(tell(batch.data[0]), tell(batch.label[0]))
random.seed(4)
np.random.seed(4)  # noqa: NPY002
data = mx.image.ImageDetIter(
    7, (3, 32, 40), path_imgrec="boxes.rec", path_imgidx="boxes.idx", rand_crop=0.8, rand_pad=0.5, inter_method=1
)
print([tell(one) for one in data.draw_next(thickness=1)])

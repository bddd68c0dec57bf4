"""A program as people wrote it for MXNet: faces by identity, arrays, iterators. It prints what it finds."""

import hashlib
import random

import mxnet as mx
import numpy as np


def tell(array):
    """Shape, dtype and a hash."""
    array = np.ascontiguousarray(array.asnumpy())
    return array.shape, array.dtype.name, hashlib.sha256(array.tobytes()).hexdigest()[:16]


def scene(number):
    """Picture with a slope and a disc, blue first."""
    y, x = np.mgrid[:48, :40]
    inside = (x - 20) ** 2 + (y - 25) ** 2 < (9 + number) ** 2
    return np.stack([x * 2 + number, y * 3, 120 * inside + number * 9], axis=-1).astype(np.uint8)


identities = [(1, 3), (3, 4), (4, 8)]
record = mx.recordio.MXIndexedRecordIO("faces.idx", "faces.rec", "w")
record.write_idx(0, mx.recordio.pack(mx.recordio.IRHeader(2, [8.0, 11.0], 0, 0), b""))
for key in range(1, 8):
    owner = next(number for number, (first, end) in enumerate(identities) if first <= key < end)
    record.write_idx(key, mx.recordio.pack_img(mx.recordio.IRHeader(0, float(owner), key, 0), scene(key), quality=95))
for number, (first, end) in enumerate(identities):
    header = mx.recordio.IRHeader(2, [float(first), float(end)], 8 + number, 0)
    record.write_idx(8 + number, mx.recordio.pack(header, b""))
record.close()


class FaceIter(mx.io.DataIter):
    """Batches of faces, mirrored by chance."""

    def __init__(self, batch_size, prefix):
        super().__init__()
        self.batch_size = batch_size
        self.record = mx.recordio.MXIndexedRecordIO(prefix + ".idx", prefix + ".rec", "r")
        header, _ = mx.recordio.unpack(self.record.read_idx(0))
        self.ranges = {}
        for key in range(int(header.label[0]), int(header.label[1])):
            found, _ = mx.recordio.unpack(self.record.read_idx(key))
            self.ranges[key] = (int(found.label[0]), int(found.label[1]))
        self.seq = list(range(1, int(header.label[0])))
        self.provide_data = [("data", (batch_size, 3, 48, 40))]
        self.provide_label = [("softmax_label", (batch_size,))]
        self.reset()

    def reset(self):
        self.cur = 0
        random.shuffle(self.seq)

    def next(self):
        data, label = mx.nd.empty(self.provide_data[0][1]), mx.nd.empty(self.provide_label[0][1])
        if self.cur + self.batch_size > len(self.seq):
            raise StopIteration
        for row in range(self.batch_size):
            header, encoded = mx.recordio.unpack(self.record.read_idx(self.seq[self.cur + row]))
            picture = mx.image.imdecode(encoded)
            if random.randint(0, 1):
                picture = mx.nd.flip(picture, axis=1)
            data[row][:] = mx.nd.transpose(picture, axes=(2, 0, 1))
            label[row][:] = header.label
        self.cur += self.batch_size
        return mx.io.DataBatch([data], [label], 0)


random.seed(4)
faces = FaceIter(3, "faces")
print(faces.ranges)
for _ in range(2):
    for batch in faces:
        print(tell(batch.data[0]), batch.label[0], (batch.data[0] / 255).mean(axis=0).shape, batch)
    faces.reset()

rows, labels = np.arange(40).reshape(10, 4), np.arange(10)
for how in ("pad", "discard", "roll_over"):
    np.random.seed(3)  # noqa: NPY002 (as programs do)
    data = mx.io.NDArrayIter({"rows": rows}, labels, batch_size=4, shuffle=how == "pad", last_batch_handle=how)
    print(data.provide_data, data.provide_label, data.num_data)
    for _ in range(3):
        print([(batch.label[0].asnumpy().tolist(), batch.pad) for batch in data])
        data.reset()
data = mx.io.PrefetchingIter(mx.io.NDArrayIter(rows, labels, 4), rename_label=[{"softmax_label": "y"}])
print(data.provide_label, [batch.label[0].asnumpy().tolist() for batch in data])

table, levels = mx.nd.array(rows), mx.nd.array(labels * 28, dtype="uint8")
found = [
    levels / 2,
    levels + 1.5,
    levels > 100,
    table[2],
    table[1, 2],
    table.argmax(axis=1),
    table[mx.nd.array([2, 0])],
]
print([tell(array) for array in found])
print(table.reshape((-1, 0, 2)).shape, table.expand_dims(0).flatten().shape, table[:, 1:3].sum().shape)
print(mx.nd.concat(table, table, dim=0).shape, mx.nd.stack(table, table, axis=1).shape)
print(tell(mx.nd.ones(3)), tell(mx.nd.full((2,), 7)), tell(mx.nd.clip(table, 3, 6)[1]))
print(table.astype("int32")[0].asnumpy().tolist(), table.context)

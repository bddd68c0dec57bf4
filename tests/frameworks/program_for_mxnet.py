"""A program as people wrote it for MXNet: records, labels, pictures, iterators. It prints what it finds."""

import hashlib
import random

import mxnet as mx
import numpy as np


def tell(array):
    """Shape, dtype and a hash."""
    array = np.ascontiguousarray(array)
    return array.shape, array.dtype.name, hashlib.sha256(array.tobytes()).hexdigest()[:16]


record = mx.recordio.MXRecordIO("tmp.rec", "w")
for i in range(5):
    record.write(b"record_%d" % i)
record.close()

record = mx.recordio.MXRecordIO("tmp.rec", "r")
while True:
    item = record.read()
    if not item:
        break
    print(item)
record.close()

record = mx.recordio.MXIndexedRecordIO("indexed.idx", "indexed.rec", "w")
for i in range(5):
    record.write_idx(i, b"record_%d" % i)
record.close()
record = mx.recordio.MXIndexedRecordIO("indexed.idx", "indexed.rec", "r")
print(record.read_idx(3), record.keys)

data = b"data"
header1 = mx.recordio.IRHeader(flag=0, label=1.0, id=1, id2=0)
s1 = mx.recordio.pack(header1, data)
header2 = mx.recordio.IRHeader(flag=3, label=[1.0, 2.0, 3.0], id=2, id2=0)
s2 = mx.recordio.pack(header2, data)
print(s1, s2, mx.recordio.unpack(s1), mx.recordio.unpack(s2))

picture = np.ones((3, 3, 1), dtype=np.uint8)
s = mx.recordio.pack_img(mx.recordio.IRHeader(flag=0, label=1.0, id=0, id2=0), picture, quality=100, img_fmt=".jpg")
print(mx.recordio.unpack_img(s)[0], mx.recordio.unpack_img(s)[1].tolist())


def scene(number, height, width):
    """Picture with a slope and a disc, blue first."""
    y, x = np.mgrid[:height, :width]
    inside = (x - 30) ** 2 + (y - 25) ** 2 < (9 + number) ** 2
    return np.stack([x * 2 + number, y * 3, 120 * inside + number * 9], axis=-1).astype(np.uint8)


record = mx.recordio.MXIndexedRecordIO("pictures.idx", "pictures.rec", "w")
for i in range(9):
    header = mx.recordio.IRHeader(0, float(i % 3), i, 0)
    record.write_idx(i, mx.recordio.pack_img(header, scene(i, 60 + 5 * i, 70 + 3 * i), quality=95, img_fmt=".jpg"))
record.close()

data_iter = mx.io.ImageRecordIter(
    path_imgrec="pictures.rec",
    data_shape=(3, 56, 48),
    batch_size=4,
    resize=64,
    shuffle=True,
    seed=3,
    mean_r=123.0,
    std_g=4.0,
)
print(data_iter.provide_data, data_iter.provide_label)
for batch in data_iter:
    print(tell(batch.data[0].asnumpy()), batch.label[0].asnumpy(), batch.pad)

random.seed(9)
data_iter = mx.image.ImageIter(
    batch_size=4,
    data_shape=(3, 56, 48),
    path_imgrec="pictures.rec",
    path_imgidx="pictures.idx",
    shuffle=True,
    rand_crop=True,
    rand_mirror=True,
    resize=64,
    inter_method=1,
)
data_iter.reset()
batch = data_iter.next()
print(tell(batch.data[0].asnumpy()), batch.label[0].asnumpy())

record = mx.recordio.MXIndexedRecordIO("pictures.idx", "pictures.rec", "r")
for key in record.keys:
    header, encoded = mx.recordio.unpack(record.read_idx(key))
    pixels = mx.image.imdecode(encoded)
    small = mx.image.imresize(pixels, 32, 24, interp=3)
    print(header.label, header.id, tell(pixels.asnumpy()), tell(small.asnumpy()))

for wrong in (lambda: mx.image.imdecode(b"junk"), lambda: mx.recordio.MXRecordIO("none.rec", "r")):
    try:
        wrong()
    except mx.base.MXNetError as error:
        print(isinstance(error, RuntimeError))

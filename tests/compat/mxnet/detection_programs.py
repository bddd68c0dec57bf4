"""Programs with ImageDetIter: each takes the module and a folder, and returns plain values."""

from __future__ import annotations

import os

import numpy as np

from tests.compat.mxnet.gluon_programs import create_image


def pack_images(mx, folder):
    """Pack nine images of up to three boxes, one of which has no class."""
    path = f"{folder}/boxes"
    if os.path.exists(f"{path}.rec"):
        return f"{path}.rec", f"{path}.idx"
    record = mx.recordio.MXIndexedRecordIO(f"{path}.idx", f"{path}.rec", "w")
    for number in range(9):
        boxes = [
            [at, 0.1 * at + 0.02 * number, 0.1, 0.4 + 0.1 * at, 0.5 + 0.05 * number] for at in range(number % 3 + 1)
        ]
        if number == 4:
            boxes = [[-1, 0.5, 0.5, 0.7, 0.6]]
        label = [4, 5, 30, 40, *(value for box in boxes for value in box)]
        header = mx.recordio.IRHeader(0, label, number, 0)
        record.write_idx(number, mx.recordio.pack_img(header, create_image(number), quality=3, img_fmt=".png"))
    record.close()
    return f"{path}.rec", f"{path}.idx"


def summarize(batch):
    labels, data = batch.label[0].asnumpy(), batch.data[0].asnumpy()
    sums = data.astype(np.float64).sum(axis=(1, 2, 3))
    return [np.round(labels.astype(np.float64), 5).tolist(), batch.pad, np.round(sums, 1).tolist(), list(data.shape)]


def create_iterator(mx, folder, **options):
    rec, idx = pack_images(mx, folder)
    return mx.image.ImageDetIter(batch_size=3, data_shape=(3, 24, 32), path_imgrec=rec, path_imgidx=idx, **options)


def det_iter_batches(mx, folder):
    iterator = create_iterator(mx, folder)
    shapes = [[one[0], list(one[1])] for one in (iterator.provide_data[0], iterator.provide_label[0])]
    rows = {"shapes": shapes, "label shape": list(iterator.label_shape)}
    rows["one epoch"] = [summarize(batch) for batch in iterator]
    iterator.reset()
    rows["another"] = [summarize(batch)[1] for batch in iterator]
    for last in ("discard", "roll_over"):
        rows[last] = [summarize(batch)[:2] for batch in create_iterator(mx, folder, last_batch_handle=last)]
    wide = create_iterator(mx, folder)
    wide.reshape(label_shape=(5, 5))
    other = create_iterator(mx, folder).sync_label_shape(wide)
    rows["wide"] = [list(other.label_shape), summarize(wide.next())[0]]
    return rows


PROGRAMS = {"det_iter_batches": det_iter_batches}

"""Programs in the shapes of public ones: words, tables, boxes, sounds, series; each gives plain values."""

from __future__ import annotations

import numpy as np

from tests.compat.tensorflow.data_programs import listed, plain, spelled
from tests.compat.tensorflow.owned_programs import failed
from tests.compat.tensorflow.public_programs import floats, ints, write

TEXTS = ["The cat sat.", "the dog; the CAT ran!", "A bird sings", "dogs ran, cats sat"]


def rounded(value):
    """Values without what approximations leave in the last digits."""
    found = np.round(np.asarray(value, np.float64), 3) + 0.0
    return plain(found)


def csv_file(folder, name, *lines):
    """A file of separated values."""
    path = f"{folder}/{name}"
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    return path


def csv_rows(tf, folder):
    """Batches of named columns, with dtypes that are found, given, chosen."""
    make = tf.data.experimental.make_csv_dataset
    csv_file(folder, "a.csv", "x,y,name,label", "1,2.5,foo,0", "2,3,bar,1", "3,,baz,0")
    csv_file(folder, "b.csv", "x,y,name,label", '4,2.5,"fo,o",0', "5,3000000000000,,1")
    once = {"num_epochs": 1, "shuffle": False}
    a, b = f"{folder}/a.csv", f"{folder}/b.csv"
    plain_names = csv_file(folder, "n.txt", "1,2,a", "3,4,b")
    defaults = [tf.int32, tf.float32, tf.string, tf.int32]
    return [
        listed(make(a, 2, label_name="label", **once)),
        spelled(dict(make(b, 2, **once).element_spec)),
        spelled(dict(make(b, 2, shuffle=False).element_spec)),
        listed(make(b, 3, shuffle=False).take(2)),
        listed(make(f"{folder}/*.csv", 3, **once)),
        listed(make(plain_names, 2, header=False, column_names=["a", "b", "c"], **once)),
        listed(make(b, 2, select_columns=["x", "label"], label_name="label", **once)),
        listed(make(b, 2, select_columns=[0, 2], **once)),
        listed(make(a, 1, column_defaults=defaults, ignore_errors=True, **once)),
        listed(make(b, 2, na_value="foo", column_defaults=[0, 0.0, "zz", 0], **once)),
        sorted(x for batch in listed(make(b, 1, num_epochs=2)) for x in batch["x"]),
        failed(lambda: make(plain_names, 2, header=False))[0],
        failed(lambda: make(f"{folder}/none.csv", 2))[0],
        failed(lambda: make(a, 2, label_name="q", **once))[0],
        failed(lambda: make(plain_names, 1, header=False, column_names=["a", "a", "b"]))[0],
        failed(lambda: listed(make(a, 1, column_defaults=defaults, **once)))[0],
    ]


def padded_boxes(tf, folder):
    """Boxes of images in lists of one length."""
    rng, rows = np.random.RandomState(4), []
    for n in range(1, 4):
        low = rng.rand(n, 2).astype(np.float32) * np.float32(0.5)
        corners = np.concatenate([low, low + np.float32(0.3)], 1)
        columns = {
            key: floats(tf, *map(float, corners[:, at])) for at, key in enumerate(("ymin", "xmin", "ymax", "xmax"))
        }
        rows.append({**columns, "class": ints(tf, *range(n))})
    path = write(tf, f"{folder}/boxes.tfrecord", rows)
    kinds = {key: tf.io.VarLenFeature(tf.float32) for key in ("ymin", "xmin", "ymax", "xmax")}
    kinds["class"] = tf.io.VarLenFeature(tf.int64)

    def parse(record):
        found = tf.io.parse_single_example(record, kinds)
        corners = [tf.sparse.to_dense(found[key]) for key in ("ymin", "xmin", "ymax", "xmax")]
        boxes, classes = tf.stack(corners, axis=-1), tf.sparse.to_dense(found["class"])
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        kept = tf.where(area > 0.01)[:, 0]
        boxes, classes = tf.gather(boxes, kept), tf.gather(classes, kept)
        count = tf.shape(boxes)[0]
        boxes = tf.pad(boxes, [[0, 4 - count], [0, 0]])
        return boxes, tf.one_hot(tf.pad(classes, [[0, 4 - count]], constant_values=-1), 3), count

    data = tf.data.TFRecordDataset(path).map(parse).batch(3)
    boxes, scores, counts = next(iter(data))
    return [rounded(boxes), plain(scores.numpy()), plain(counts.numpy())]


PROGRAMS = {one.__name__: one for one in (csv_rows, padded_boxes)}

"""What public programs do with record files, in shapes that were met often: each takes the module and a folder."""

from __future__ import annotations

import re

import numpy as np

from tests.compat.tensorflow.data_programs import listed, plain, spelled


def bytes_of(tf, value):
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def ints(tf, *values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def floats(tf, *values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def write(tf, path, rows, options=None):
    with tf.io.TFRecordWriter(path, options=options) as writer:
        for row in rows:
            writer.write(tf.train.Example(features=tf.train.Features(feature=row)).SerializeToString())
    return path


def picture(number, height=6, width=8):
    y, x = np.mgrid[:height, :width]
    return np.stack([x * 20 + number, y * 30, 0 * x + 9 * number], axis=2).astype(np.uint8)


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f":
        return np.round(value.astype(np.float64), 3).tolist()
    return plain(value)


def embeddings(tf, folder):
    """Tensors as bytes, cut into parts by take and skip."""
    rows = [
        {"x": bytes_of(tf, tf.io.serialize_tensor(np.full((2, 3), n, np.float16))), "id": bytes_of(tf, f"{n}".encode())}
        for n in range(10)
    ]
    path = write(tf, f"{folder}/a.tfrecord.gz", rows, tf.io.TFRecordOptions(compression_type="GZIP"))

    def parse(example):
        kinds = {"x": tf.io.FixedLenFeature([], tf.string), "id": tf.io.FixedLenFeature([], tf.string, "none")}
        found = tf.io.parse_single_example(example, kinds)
        x = tf.ensure_shape(tf.io.parse_tensor(found["x"], out_type=tf.float16), [2, 3])
        return tf.cast(x, tf.float32), tf.strings.to_number(found["id"], tf.int32)

    data = tf.data.TFRecordDataset([path], compression_type="GZIP").map(parse).cache()
    parts = data.take(6).batch(4), data.skip(6).take(2), data.skip(8)
    single = data.skip(9).get_single_element()
    return {
        "specs": [spelled(one.element_spec) for one in parts],
        "parts": [listed(one) for one in parts],
        "one": [rounded(one.numpy()) for one in single],
        "count": sum(1 for _ in data),
    }


def detection(tf, folder):
    """Boxes of any number, targets made by Python, and padded batches."""
    rows = []
    for n in range(4):
        boxes = {
            key: floats(tf, *(0.1 * (at + shift) for at in range(n))) for shift, key in enumerate(("xmin", "ymin"))
        }
        rows.append({"png": bytes_of(tf, tf.io.encode_png(picture(n))), "labels": ints(tf, *range(n)), **boxes})
    path = write(tf, f"{folder}/boxes.tfrecord", rows)
    kinds = {
        "png": tf.io.FixedLenFeature([], tf.string),
        "labels": tf.io.VarLenFeature(tf.int64),
        **{key: tf.io.VarLenFeature(tf.float32) for key in ("xmin", "ymin")},
    }

    def targets(boxes):
        return np.float32(boxes.numpy().sum()), np.int32(len(boxes))

    @tf.function
    def parse(example):
        found = tf.io.parse_single_example(example, kinds)
        image = tf.image.decode_image(found["png"], channels=3, dtype=tf.float32)
        image.set_shape([None, None, 3])
        boxes = tf.stack(
            [found["xmin"].values, found["ymin"].values, tf.cast(found["labels"].values, tf.float32)], axis=1
        )
        boxes = tf.cond(tf.equal(tf.size(boxes), 0), lambda: tf.constant([[0.0] * 3]), lambda: boxes)
        total, count = tf.py_function(targets, [boxes], [tf.float32, tf.int32])
        total.set_shape([])
        count.set_shape([])
        return (
            tf.image.resize(image, (3, 4)),
            boxes,
            tf.sparse.to_dense(found["labels"], default_value=-1),
            total,
            count,
        )

    data = tf.data.TFRecordDataset(path).map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    shapes = ([3, 4, 3], [None, 3], [None], [], [])
    values = (0.0, -1.0, tf.constant(7, tf.int64), 0.0, 0)
    return [rounded(one) for one in data.padded_batch(2, shapes, values).as_numpy_iterator()]


def masks(tf, folder):
    """A picture and its classes, moved together."""
    rows = []
    for n in range(3):
        mask = (picture(n)[..., :1] // 40).astype(np.uint8)
        rows.append(
            {
                "image": bytes_of(tf, tf.io.encode_jpeg(picture(n), quality=95)),
                "mask": bytes_of(tf, tf.io.encode_png(mask)),
            }
        )
    path = write(tf, f"{folder}/masks.tfrecord", rows)

    def parse(example):
        found = tf.io.parse_single_example(
            example, dict.fromkeys(("image", "mask"), tf.io.FixedLenFeature((), tf.string))
        )
        mask = tf.image.decode_png(found["mask"], channels=1)
        mask = tf.image.resize(mask, [5, 4], method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
        mask = tf.where(mask == 3, np.dtype("uint8").type(0), mask)
        image = tf.image.convert_image_dtype(tf.image.decode_jpeg(found["image"], channels=3), tf.float32)
        image = tf.image.resize(image, [5, 4])
        if tf.random.uniform(()) > 2:
            image, mask = tf.image.flip_left_right(image), tf.image.flip_left_right(mask)
        weights = tf.gather(tf.constant([0.5, 1.0, 2.0, 3.0, 4.0]), tf.cast(mask[..., 0], tf.int32))
        return image, mask, weights, tf.one_hot(tf.squeeze(mask, -1), 5, dtype=tf.float32)

    data = tf.data.TFRecordDataset(path).map(parse).batch(2)
    found = list(data.as_numpy_iterator())
    return [
        [rounded(mask), rounded(weights), rounded(hot.sum((1, 2))), list(image.shape)]
        for image, mask, weights, hot in found
    ]


def video(tf, folder):
    """Frames as a list of encoded pictures."""
    rows = []
    for n in (3, 5):
        frames = [tf.io.encode_jpeg(picture(at), quality=100).numpy() for at in range(n)]
        rows.append({"frames": tf.train.Feature(bytes_list=tf.train.BytesList(value=frames)), "n": ints(tf, n)})
    path = write(tf, f"{folder}/video.tfrecord", rows)
    kinds = {"frames": tf.io.VarLenFeature(tf.string), "n": tf.io.FixedLenFeature((), tf.int64)}

    @tf.autograph.experimental.do_not_convert
    def parse(example):
        found = tf.io.parse_example(example, kinds)
        frames = tf.map_fn(tf.io.decode_jpeg, tf.sparse.to_dense(found["frames"]), fn_output_signature=tf.uint8)
        frames = tf.image.resize_with_pad(frames, 4, 4)
        start = tf.cond(tf.equal(found["n"], 3), lambda: tf.constant(0, tf.int64), lambda: found["n"] - 4)
        return tf.cast(frames[start : start + 3], tf.float32), found["n"]

    def older(example):
        values = tf.io.parse_single_example(example, kinds)["frames"].values
        frames = tf.map_fn(lambda at: tf.io.decode_jpeg(values[at]), tf.range(1, 3), dtype=tf.uint8)
        frames.set_shape([None, 6, 8, 3])
        return frames

    data = tf.data.TFRecordDataset(path)
    whole = [[rounded(frames.mean((1, 2, 3))), int(n)] for frames, n in data.map(parse).as_numpy_iterator()]
    return [whole, [[list(one.shape), plain(one[:, 0, 0])] for one in data.map(older).as_numpy_iterator()]]


def competition(tf, folder):
    """Files found by a pattern, counted by their names, read in any order."""
    for part in range(3):
        rows = [
            {"image": bytes_of(tf, tf.io.encode_jpeg(picture(n))), "class": ints(tf, part * 4 + n)} for n in range(4)
        ]
        write(tf, f"{folder}/train{part:02d}-4.tfrec", rows)
    names = sorted(tf.io.gfile.glob(f"{folder}/train*.tfrec"))
    count = sum(int(re.search(r"-([0-9]*)\.", name).group(1)) for name in names)
    options = tf.data.Options()
    options.experimental_deterministic = False
    options.deterministic = True
    options.experimental_optimization.map_parallelization = True
    options.threading.private_threadpool_size = 2

    def labelled(example):
        kinds = {"image": tf.io.FixedLenFeature([], tf.string), "class": tf.io.FixedLenFeature([], tf.int64)}
        example = tf.io.parse_single_example(example, kinds)
        image = tf.cast(tf.image.decode_jpeg(example["image"], channels=3), tf.float32) / 255.0
        return tf.reshape(image, [6, 8, 3]), tf.cast(example["class"], tf.int32)

    auto = tf.data.experimental.AUTOTUNE
    data = tf.data.TFRecordDataset(names, num_parallel_reads=auto).with_options(options)
    data = data.map(labelled, num_parallel_calls=auto).repeat().shuffle(20).batch(5).prefetch(auto)
    seen = sorted(plain(label) for _, labels in data.take(12 * count // 5).as_numpy_iterator() for label in labels)
    files = tf.data.TFRecordDataset.list_files(f"{folder}/train*", shuffle=False)
    turns = files.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=2, num_parallel_calls=2)
    shards = tf.data.Dataset.from_tensor_slices(names).shard(2, 1).flat_map(tf.data.TFRecordDataset)
    return [
        count,
        [seen.count(one) >= 4 for one in range(12)],
        spelled(data.element_spec),
        listed(turns.map(lambda one: labelled(one)[1])),
        listed(shards.map(labelled).map(lambda image, label: label)),
        listed(
            tf.data.Dataset.from_tensor_slices(names).apply(tf.data.TFRecordDataset).map(labelled).map(lambda _, n: n)
        ),
    ]


PROGRAMS = {one.__name__: one for one in (embeddings, detection, masks, video, competition)}

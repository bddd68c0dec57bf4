"""Typical uses of record files. Each function takes the module and a folder, and returns types of JSON."""

from __future__ import annotations

import re

import numpy as np

from tests.compat.tensorflow.program_helpers import (
    bytes_feature,
    describe_error,
    describe_spec,
    float_feature,
    int64_feature,
    list_elements,
    to_plain,
    write_examples,
)


def make_image(number, height=6, width=8):
    y, x = np.mgrid[:height, :width]
    return np.stack([x * 20 + number, y * 30, 0 * x + 9 * number], axis=2).astype(np.uint8)


def round_values(value):
    if isinstance(value, dict):
        return {key: round_values(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [round_values(one) for one in value]
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f":
        return np.round(value.astype(np.float64), 3).tolist()
    return to_plain(value)


def embeddings(tf, folder):
    """Read serialized tensors, split by take and skip."""
    rows = [
        {
            "x": bytes_feature(tf, tf.io.serialize_tensor(np.full((2, 3), n, np.float16))),
            "id": bytes_feature(tf, f"{n}".encode()),
        }
        for n in range(10)
    ]
    path = write_examples(tf, f"{folder}/a.tfrecord.gz", rows, tf.io.TFRecordOptions(compression_type="GZIP"))

    def parse(example):
        kinds = {"x": tf.io.FixedLenFeature([], tf.string), "id": tf.io.FixedLenFeature([], tf.string, "none")}
        found = tf.io.parse_single_example(example, kinds)
        x = tf.ensure_shape(tf.io.parse_tensor(found["x"], out_type=tf.float16), [2, 3])
        return tf.cast(x, tf.float32), tf.strings.to_number(found["id"], tf.int32)

    data = tf.data.TFRecordDataset([path], compression_type="GZIP").map(parse).cache()
    parts = data.take(6).batch(4), data.skip(6).take(2), data.skip(8)
    single = data.skip(9).get_single_element()
    return {
        "specs": [describe_spec(one.element_spec) for one in parts],
        "parts": [list_elements(one) for one in parts],
        "one": [round_values(one.numpy()) for one in single],
        "count": sum(1 for _ in data),
    }


def detection(tf, folder):
    """Read varying numbers of boxes, compute targets in Python, and pad batches."""
    rows = []
    for n in range(4):
        boxes = {
            key: float_feature(tf, *(0.1 * (at + shift) for at in range(n)))
            for shift, key in enumerate(("xmin", "ymin"))
        }
        rows.append(
            {"png": bytes_feature(tf, tf.io.encode_png(make_image(n))), "labels": int64_feature(tf, *range(n)), **boxes}
        )
    path = write_examples(tf, f"{folder}/boxes.tfrecord", rows)
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
    return [round_values(one) for one in data.padded_batch(2, shapes, values).as_numpy_iterator()]


def masks(tf, folder):
    """Transform an image and its mask together."""
    rows = []
    for n in range(3):
        mask = (make_image(n)[..., :1] // 40).astype(np.uint8)
        rows.append(
            {
                "image": bytes_feature(tf, tf.io.encode_jpeg(make_image(n), quality=95)),
                "mask": bytes_feature(tf, tf.io.encode_png(mask)),
            }
        )
    path = write_examples(tf, f"{folder}/masks.tfrecord", rows)

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
        [round_values(mask), round_values(weights), round_values(hot.sum((1, 2))), list(image.shape)]
        for image, mask, weights, hot in found
    ]


def video(tf, folder):
    """Read frames from a list of encoded images."""
    rows = []
    for n in (3, 5):
        frames = [tf.io.encode_jpeg(make_image(at), quality=100).numpy() for at in range(n)]
        rows.append(
            {"frames": tf.train.Feature(bytes_list=tf.train.BytesList(value=frames)), "n": int64_feature(tf, n)}
        )
    path = write_examples(tf, f"{folder}/video.tfrecord", rows)
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
    whole = [[round_values(frames.mean((1, 2, 3))), int(n)] for frames, n in data.map(parse).as_numpy_iterator()]
    return [whole, [[list(one.shape), to_plain(one[:, 0, 0])] for one in data.map(older).as_numpy_iterator()]]


def competition(tf, folder):
    """Read files that match a pattern in any order, with counts from their names."""
    for part in range(3):
        rows = [
            {"image": bytes_feature(tf, tf.io.encode_jpeg(make_image(n))), "class": int64_feature(tf, part * 4 + n)}
            for n in range(4)
        ]
        write_examples(tf, f"{folder}/train{part:02d}-4.tfrec", rows)
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
    seen = sorted(to_plain(label) for _, labels in data.take(12 * count // 5).as_numpy_iterator() for label in labels)
    files = tf.data.TFRecordDataset.list_files(f"{folder}/train*", shuffle=False)
    turns = files.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=2, num_parallel_calls=2)
    shards = tf.data.Dataset.from_tensor_slices(names).shard(2, 1).flat_map(tf.data.TFRecordDataset)
    return [
        count,
        [seen.count(one) >= 4 for one in range(12)],
        describe_spec(data.element_spec),
        list_elements(turns.map(lambda one: labelled(one)[1])),
        list_elements(shards.map(labelled).map(lambda image, label: label)),
        list_elements(
            tf.data.Dataset.from_tensor_slices(names).apply(tf.data.TFRecordDataset).map(labelled).map(lambda _, n: n)
        ),
    ]


def one_way_or_the_other(x):
    if x > 3:  # noqa: SIM108 (TensorFlow turns statements into branches, not expressions)
        x = x * 2
    else:
        x = x - 1
    return x


def two_ways(x):
    y = x
    if x > 2 and x < 7:
        y = y + 10
    if not x % 2 == 0:  # noqa: SIM201 (as programs have it)
        y = -y
    return x, y


def by_case(tf):
    def function(x):
        name = tf.switch_case(tf.cast(x % 4, tf.int32), [lambda: x, lambda: x * 10], default=lambda: x * 100)
        return tf.cond(x > 5, lambda: {"a": name, "b": tf.constant(1)}, lambda: {"a": -x, "b": tf.constant(0)})

    return function


def choices(tf, folder):
    """Map functions with conditions."""
    numbers = tf.data.Dataset.range(9)
    return [
        list_elements(numbers.map(one_way_or_the_other)),
        list_elements(numbers.map(two_ways).batch(4)),
        list_elements(numbers.map(by_case(tf))),
        [repr(numbers.map(one).element_spec) for one in (one_way_or_the_other, two_ways, by_case(tf))],
    ]


def tokens(tf, folder):
    """Read tokens as bytes and as lists of varying length."""
    raw = [{"tokens": bytes_feature(tf, np.arange(n * 5, n * 5 + 5, dtype=np.uint16).tobytes())} for n in range(4)]
    path = write_examples(tf, f"{folder}/raw.tfrecord", raw)

    def decode(proto):
        found = tf.io.parse_single_example(proto, {"tokens": tf.io.FixedLenFeature([], tf.string)})
        return tf.io.decode_raw(found["tokens"], tf.uint16)

    stream = tf.data.TFRecordDataset(path).map(decode).unbatch().batch(5, drop_remainder=True)
    stream = stream.map(lambda x: (x[:-1], x[1:])).batch(2, drop_remainder=True)
    lists = [
        {"input_ids": int64_feature(tf, *range(n)), "labels": int64_feature(tf, *range(n, 2 * n))} for n in range(1, 5)
    ]
    write_examples(tf, f"{folder}/lists.tfrecord", lists)

    def parse(proto):
        kinds = {key: tf.io.VarLenFeature(tf.int64) for key in ("input_ids", "labels")}
        example = tf.io.parse_single_example(proto, kinds)
        for name in list(example.keys()):
            t = example[name]
            if t.dtype == tf.int64:
                t = tf.cast(t, dtype=tf.int32)
            example[name] = tf.sparse.to_dense(t, default_value=0)
        return example

    padded = tf.data.TFRecordDataset(f"{folder}/lists.tfrecord").map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    padded = padded.padded_batch(
        2,
        padded_shapes={"input_ids": 6, "labels": 6},
        padding_values={"input_ids": 0, "labels": -1},
        drop_remainder=True,
    )
    return [list_elements(stream), list_elements(padded), describe_spec(padded.element_spec)]


def tables(tf, folder):
    """Parse rows in batches, and one by one with an added axis."""
    rows = [
        {
            "size": int64_feature(tf, n),
            "parts": float_feature(tf, *([0.5] * n)),
            "name": bytes_feature(tf, b"row %d" % n),
        }
        for n in range(5)
    ]
    path = write_examples(tf, f"{folder}/rows.tfrecord", rows)
    kinds = {
        "size": tf.io.FixedLenFeature([1], tf.int64),
        "parts": tf.io.VarLenFeature(tf.float32),
        "name": tf.io.FixedLenFeature((), tf.string, default_value=""),
        "lost": tf.io.FixedLenFeature((), tf.float32, default_value=2.5),
    }

    def batched(records):
        found = tf.io.parse_example(records, kinds)
        found["parts"] = tf.sparse.to_dense(found["parts"])
        size = found.pop("size")
        return found, size

    def single(record):
        return tf.io.parse_example(record[tf.newaxis], {"name": kinds["name"]})["name"][0]

    data = tf.data.TFRecordDataset(path)
    turned = (
        data.batch(3)
        .map(batched)
        .map(lambda x, y: (x["name"], tf.transpose(tf.concat([x["parts"], tf.cast(y, tf.float32)], 1))))
    )
    features = tf.data.experimental.make_batched_features_dataset(
        path, 2, {"size": kinds["size"]}, num_epochs=1, shuffle=False, drop_final_batch=False
    )
    return [
        list_elements(turned),
        list_elements(data.map(single)),
        list_elements(features),
        describe_error(
            lambda: list(
                data.map(lambda one: tf.io.parse_single_example(one, {"no": tf.io.FixedLenFeature([], tf.int64)}))
            )
        )[0],
    ]


def sentences(tf, folder):
    """Convert lines of words to numbers, and batch them by length."""
    with open(f"{folder}/lines.txt", "w") as file:
        file.write("1 2 3\n4 5\n6\n7 8 9 10 11\n12 13\n\n14 15 16 17 18 19 20\n")
    lines = tf.data.TextLineDataset(f"{folder}/lines.txt").filter(lambda one: tf.strings.length(one) > 0)

    def numbers(line):
        found = tf.strings.to_number(tf.strings.split(line, sep=" "), tf.int32)
        return found, tf.concat([[0], found * 10], axis=0)

    data = lines.map(numbers).filter(lambda a, b: tf.logical_and(tf.size(a) <= 6, tf.size(b) <= 6))
    buckets = data.bucket_by_sequence_length(
        element_length_func=lambda a, b: tf.maximum(tf.size(a), tf.size(b)),
        bucket_boundaries=[4, 7],
        bucket_batch_sizes=[2, 2, 1],
        padded_shapes=([None], [None]),
        padding_values=(0, -1),
        pad_to_bucket_boundary=True,
    )
    plainly = data.apply(
        tf.data.experimental.bucket_by_sequence_length(
            lambda a, b: tf.shape(a)[0], [2, 4], [1, 2, 2], drop_remainder=True
        )
    )
    grouped = data.group_by_window(
        key_func=lambda a, b: tf.cast(tf.shape(a)[0], tf.int64) // 2,
        reduce_func=lambda key, window: window.padded_batch(2, padded_shapes=([None], [None])),
        window_size=2,
    )
    split = buckets.map(lambda a, b: ((a, b[:, :-1]), b[:, 1:]))
    return [list_elements(one) for one in (buckets, plainly, grouped, split)]


def older(tf, folder):
    """Use removed names of ``tf.data.experimental``."""
    rows = [{"x": int64_feature(tf, n)} for n in range(6)]
    names = [write_examples(tf, f"{folder}/{part}.tfrecord", rows[part * 3 : part * 3 + 3]) for part in range(2)]
    kinds, again = {"x": tf.io.FixedLenFeature([], tf.int64)}, tf.data.experimental
    files = tf.data.Dataset.from_tensor_slices(names)
    read = files.apply(again.parallel_interleave(tf.data.TFRecordDataset, cycle_length=2, sloppy=False))
    parsed = read.apply(
        again.map_and_batch(lambda one: tf.io.parse_single_example(one, kinds)["x"], 4, drop_remainder=True)
    )
    repeated = tf.data.Dataset.range(3).apply(again.shuffle_and_repeat(3, 2))
    chosen = again.choose_from_datasets(
        [tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)], tf.data.Dataset.range(100).map(lambda x: x % 2)
    )
    return [
        list_elements(parsed),
        sorted(list_elements(repeated)),
        list_elements(chosen)[:6],
        list_elements(parsed.apply(again.unbatch())),
    ]


def printed(tf, folder):
    """Print datasets and records."""
    rows = [{"x": int64_feature(tf, *range(n))} for n in (1, 3)]
    data = tf.data.TFRecordDataset(write_examples(tf, f"{folder}/a.tfrecord", rows))
    kinds = {"x": tf.io.VarLenFeature(tf.int64)}
    parsed = data.map(lambda one: tf.io.parse_single_example(one, kinds))
    values = tf.data.Dataset.from_tensor_slices([1.5, 2.0])
    shown = [data, parsed, parsed.batch(2).prefetch(1), values, values.shuffle(2).repeat(), kinds, parsed.element_spec]
    shown += [*data, *parsed, next(iter(data.batch(2))), tf.train.Example.FromString(next(iter(data)).numpy())]
    shown += [data.cardinality(), tf.constant([[1, 2], [3, 4]]), tf.TensorShape([None, 3]), tf.float32, None]
    return [[str(one), repr(one)] for one in shown[:-1]]


PROGRAMS = {
    program.__name__: program
    for program in (
        *(embeddings, detection, masks, video, competition, choices),
        *(tokens, tables, sentences, older, printed),
    )
}

"""Programs of TensorFlow 1: each takes ``tf.compat.v1`` without eager execution and a folder, gives plain values."""

from __future__ import annotations

import numpy as np

from tests.compat.tensorflow.data_programs import plain
from tests.compat.tensorflow.owned_programs import failed


def feature(tf, value):
    if isinstance(value, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    if isinstance(value[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
    if isinstance(value[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))


def picture(number):
    y, x = np.mgrid[: 6 + number % 3, :8]
    return np.stack([x * 20, y * 30, 0 * x + 9 * number], axis=2).astype(np.uint8)


def records(tf, folder):
    """Two files of seven records."""
    session = tf.Session()
    encode = [session.run(tf.image.encode_png(picture(number))) for number in range(7)]
    names = [f"{folder}/{part}.tfrecord" for part in "ab"]
    for part, name in enumerate(names):
        with tf.python_io.TFRecordWriter(name) as writer:
            for number in range(part * 4, (4, 7)[part]):
                kinds = {
                    "raw": np.arange(6, dtype=np.uint8).tobytes() if number else bytes(6),
                    "png": encode[number],
                    "label": [number],
                    "xmin": [0.1 * at for at in range(number % 3)] or [0.5],
                    "ids": list(range(number % 4 + 1)),
                }
                made = {key: feature(tf, value) for key, value in kinds.items()}
                writer.write(tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString())
    return names


KINDS = {"raw": "string", "label": "int64"}


def parsed(tf, serialized, *more):
    wanted = {key: tf.FixedLenFeature([], getattr(tf, kind)) for key, kind in KINDS.items()}
    wanted |= {key: tf.VarLenFeature(kind) for key, kind in more}
    return tf.parse_single_example(serialized, features=wanted)


def drained(tf, session, fetches):
    """What a session fetches until there is no more."""
    found = []
    while True:
        try:
            found.append(told(session.run(fetches)))
        except tf.errors.OutOfRangeError:
            return found


def told(value):
    if isinstance(value, dict):
        return {key: told(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [told(one) for one in value]
    if value is None or isinstance(value, bytes):
        return plain(value)
    array = np.asarray(value)
    return [
        array.dtype.kind if array.dtype.kind in "OS" else array.dtype.name,
        plain(np.round(array, 4).tolist() if array.dtype.kind == "f" else array.tolist()),
    ]


def queues(tf, folder):
    queue = tf.train.string_input_producer(records(tf, folder), num_epochs=1, shuffle=False)
    _, serialized = tf.TFRecordReader().read(queue)
    features = parsed(tf, serialized, ("ids", tf.int64))
    image = tf.decode_raw(features["raw"], tf.uint8)
    image = tf.reshape(image, [2, 3, 1])
    image.set_shape([2, 3, 1])
    image = tf.cast(image, tf.float32) * (1.0 / 255) - 0.5
    label = tf.cast(features["label"], tf.int32)
    rows = {"shapes": [image.get_shape().as_list(), label.shape.as_list(), image.dtype.name]}
    batches = tf.train.batch([image, label], batch_size=3, capacity=20, allow_smaller_final_batch=True)
    with tf.Session() as sess:
        sess.run(tf.group(tf.global_variables_initializer(), tf.local_variables_initializer()))
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        rows["batches"] = drained(tf, sess, batches)
        coord.request_stop()
        coord.join(threads)
        rows["stopped"] = coord.should_stop()
    return rows


def one_by_one(tf, folder):
    queue = tf.train.string_input_producer(records(tf, folder), num_epochs=2, shuffle=False)
    _, serialized = tf.TFRecordReader().read(queue)
    features = parsed(tf, serialized, ("ids", tf.int64))
    dense = tf.sparse_tensor_to_dense(features["ids"], default_value=-1)
    hot = tf.sparse_to_dense(features["ids"].values, [5], 1.0, validate_indices=False)
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        tf.train.start_queue_runners(sess=sess)
        return drained(tf, sess, {"label": features["label"], "two": (dense, hot), "sparse": features["ids"]})


def shuffled(tf, folder):
    names = records(tf, folder)
    queue = tf.train.string_input_producer(names, num_epochs=2)
    features = parsed(tf, tf.TFRecordReader().read(queue)[1])
    given = {"label": features["label"]}
    batch = tf.train.shuffle_batch(
        given, batch_size=4, capacity=50, min_after_dequeue=10, allow_smaller_final_batch=True
    )
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        tf.train.start_queue_runners(sess=sess)
        found = drained(tf, sess, batch)
    return [len(found), sorted(label for one in found for label in one["label"][1])]


def dataset(tf, folder):
    def parse(record):
        features = tf.parse_single_example(
            record, {"png": tf.FixedLenFeature([], tf.string), "label": tf.FixedLenFeature([], tf.int64)}
        )
        image = tf.image.decode_png(features["png"], channels=3)
        image = tf.image.resize_images(tf.image.convert_image_dtype(image, tf.float32), [3, 4])
        return {"image": image, "label": tf.to_int32(features["label"])}

    return tf.data.TFRecordDataset(records(tf, folder)).map(parse, num_parallel_calls=2).batch(3)


def raises(kind, run):
    try:
        run()
    except kind:
        return True
    return False


def iterators(tf, folder):
    made = dataset(tf, folder)
    names = ["types", "shapes"]
    rows = {"types": {key: one.name for key, one in tf.data.get_output_types(made).items()}}
    rows["shapes"] = {key: one.as_list() for key, one in tf.data.get_output_shapes(made).items()}
    iterator = tf.data.make_initializable_iterator(made)
    element = iterator.get_next()
    mean = tf.reduce_mean(element["image"], axis=[1, 2])
    rows["element"] = [element["image"].shape.as_list(), element["label"].dtype.name, len(names)]
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        rows["too early"] = failed(lambda: sess.run(element))[0]
        for each in range(2):
            sess.run(iterator.initializer)
            rows[f"pass {each}"] = drained(tf, sess, [element["label"], mean])
        once = tf.data.make_one_shot_iterator(made).get_next()
        rows["moment"] = told(sess.run([once["label"], once["label"] * 2, tf.shape(once["image"])]))
        rows["next"] = told(sess.run(once["label"]))
        with tf.Session() as other:
            rows["another session"] = [told(other.run(once["label"])), failed(lambda: other.run(element))[0]]
        rows["and on"] = told(sess.run(once["label"]))
        rows["fed"] = told(sess.run(mean, feed_dict={element["image"]: np.ones((1, 3, 4, 3), np.float32)}))
    return rows


def exchanged(tf, folder):
    """Iterators that are given their data later."""
    first, second = (tf.data.Dataset.range(n).map(lambda x: (x, tf.cast(x, tf.float32) / 2)) for n in (3, 2))
    types, shapes = tf.data.get_output_types(first), tf.data.get_output_shapes(first)
    either = tf.data.Iterator.from_structure(types, shapes)
    element, starts = either.get_next(), [either.make_initializer(one) for one in (first, second)]
    handle = tf.placeholder(tf.string, shape=[])
    named = tf.data.Iterator.from_string_handle(handle, types, shapes).get_next()
    rows = {"shape": [one.shape.as_list() for one in element]}
    with tf.Session() as sess:
        for number, start in enumerate(starts):
            sess.run(start)
            rows[f"given {number}"] = drained(tf, sess, element)
        chosen = [tf.data.make_one_shot_iterator(one) for one in (first, second)]
        handles = sess.run([one.string_handle() for one in chosen])
        rows["named"] = [told(sess.run(named, {handle: handles[at]})) for at in (0, 1, 1, 0)]
    return rows


def coder(tf, folder):
    """Conversion scripts decode with a session and a placeholder."""
    data = tf.placeholder(dtype=tf.string)
    decoded = tf.image.decode_png(data, channels=3)
    again = tf.image.encode_png(decoded[:, ::-1])
    numbers = tf.placeholder(tf.float32, shape=[None])
    sess = tf.Session()
    encoded = sess.run(tf.image.encode_png(picture(1)))
    rows = {"decoded": told(sess.run(decoded, feed_dict={data: encoded}))}
    rows["turned"] = told(sess.run(tf.image.decode_png(sess.run(again, feed_dict={data: encoded}))))
    with sess.as_default():
        rows["eval"] = told((numbers * 2).eval({numbers: [1.0, 2.0]}))
    rows["unfed"] = failed(lambda: sess.run(decoded))[0]
    rows["shape"] = failed(lambda: sess.run(numbers, {numbers: [[1.0]]}))[0]
    rows["odd"] = [failed(lambda: sess.run(object()))[0], raises(TypeError, lambda: bool(numbers))]
    sess.close()
    rows["closed"] = failed(lambda: sess.run(numbers))[0]
    return rows


def fed(tf, folder):
    """Data sets of placeholders: names of files, and arrays."""
    names, rows = tf.placeholder(tf.string, shape=[None]), {}
    data = tf.data.TFRecordDataset(names).map(lambda one: parsed(tf, one)["label"]).repeat(1).batch(3)
    files = tf.data.make_initializable_iterator(data)
    label, paths = files.get_next(), records(tf, folder)
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int64, [None])
    pairs = tf.data.Dataset.from_tensor_slices({"x": x, "y": y}).map(lambda one: (one["x"] * 2, one["y"])).batch(2)
    arrays = tf.data.make_initializable_iterator(pairs)
    element = arrays.get_next()
    limit = tf.placeholder(tf.int64, [])
    single = tf.data.make_initializable_iterator(tf.data.Dataset.from_tensors((limit, limit + 1)))
    rows["shapes"] = [one.shape.as_list() for one in (label, *element)]
    with tf.Session() as sess:
        for chosen in (paths, paths[1:]):
            sess.run(files.initializer, feed_dict={names: chosen})
            rows[f"{len(chosen)} files"] = drained(tf, sess, label)
        table = np.arange(6).reshape(3, 2)
        sess.run(arrays.initializer, {x: table, y: [7, 8, 9]})
        rows["arrays"] = drained(tf, sess, element)
        sess.run(single.initializer, {limit: 5})
        rows["single"] = drained(tf, sess, single.get_next())
        rows["unfed"] = failed(lambda: sess.run(files.initializer))[0]
    return rows


def boxes(tf, folder):
    queue = tf.train.string_input_producer(records(tf, folder), num_epochs=1, shuffle=False)
    features = parsed(tf, tf.TFRecordReader().read(queue)[1], ("xmin", tf.float32))
    xmin = tf.expand_dims(features["xmin"].values, 0)
    box = tf.transpose(tf.expand_dims(tf.concat([xmin, xmin + 0.1, xmin * 2], 0), 0), [0, 2, 1])
    halves = tf.split(tf.reshape(tf.decode_raw(features["raw"], tf.uint8), [2, 3]), 2, axis=0)
    values, places = tf.unique(tf.cast(features["xmin"].values * 10, tf.int32))
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        tf.train.start_queue_runners(sess=sess)
        return drained(tf, sess, [box, halves, values, places, tf.size(box)])


PROGRAMS = {one.__name__: one for one in (queues, one_by_one, shuffled, iterators, exchanged, fed, coder, boxes)}

"""Programs in graph mode. Each function takes ``tf.compat.v1`` and a folder, and returns types of JSON."""

from __future__ import annotations

import numpy as np

from tests.compat.tensorflow.program_helpers import describe_error, to_plain


def feature(tf, value):
    if isinstance(value, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    if isinstance(value[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
    if isinstance(value[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))


def make_image(number):
    y, x = np.mgrid[: 6 + number % 3, :8]
    return np.stack([x * 20, y * 30, 0 * x + 9 * number], axis=2).astype(np.uint8)


def records(tf, folder):
    """Write seven records to two files."""
    session = tf.Session()
    encode = [session.run(tf.image.encode_png(make_image(number))) for number in range(7)]
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


def fetch_all(tf, session, fetches):
    """Fetch until the dataset or queue is exhausted."""
    found = []
    while True:
        try:
            found.append(round_values(session.run(fetches)))
        except tf.errors.OutOfRangeError:
            return found


def round_values(value):
    if isinstance(value, dict):
        return {key: round_values(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [round_values(one) for one in value]
    if value is None or isinstance(value, bytes):
        return to_plain(value)
    array = np.asarray(value)
    return [
        array.dtype.kind if array.dtype.kind in "OS" else array.dtype.name,
        to_plain(np.round(array, 4).tolist() if array.dtype.kind == "f" else array.tolist()),
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
        rows["batches"] = fetch_all(tf, sess, batches)
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
        return fetch_all(tf, sess, {"label": features["label"], "two": (dense, hot), "sparse": features["ids"]})


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
        found = fetch_all(tf, sess, batch)
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
        rows["too early"] = describe_error(lambda: sess.run(element))[0]
        for each in range(2):
            sess.run(iterator.initializer)
            rows[f"pass {each}"] = fetch_all(tf, sess, [element["label"], mean])
        once = tf.data.make_one_shot_iterator(made).get_next()
        rows["moment"] = round_values(sess.run([once["label"], once["label"] * 2, tf.shape(once["image"])]))
        rows["next"] = round_values(sess.run(once["label"]))
        with tf.Session() as other:
            rows["another session"] = [
                round_values(other.run(once["label"])),
                describe_error(lambda: other.run(element))[0],
            ]
        rows["and on"] = round_values(sess.run(once["label"]))
        rows["fed"] = round_values(sess.run(mean, feed_dict={element["image"]: np.ones((1, 3, 4, 3), np.float32)}))
    return rows


def exchanged(tf, folder):
    """Initialize iterators with other datasets."""
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
            rows[f"given {number}"] = fetch_all(tf, sess, element)
        chosen = [tf.data.make_one_shot_iterator(one) for one in (first, second)]
        handles = sess.run([one.string_handle() for one in chosen])
        rows["named"] = [round_values(sess.run(named, {handle: handles[at]})) for at in (0, 1, 1, 0)]
    return rows


def coder(tf, folder):
    """Decode images with a session and a placeholder, as conversion scripts do."""
    data = tf.placeholder(dtype=tf.string)
    decoded = tf.image.decode_png(data, channels=3)
    again = tf.image.encode_png(decoded[:, ::-1])
    numbers = tf.placeholder(tf.float32, shape=[None])
    sess = tf.Session()
    encoded = sess.run(tf.image.encode_png(make_image(1)))
    rows = {"decoded": round_values(sess.run(decoded, feed_dict={data: encoded}))}
    rows["turned"] = round_values(sess.run(tf.image.decode_png(sess.run(again, feed_dict={data: encoded}))))
    with sess.as_default():
        rows["eval"] = round_values((numbers * 2).eval({numbers: [1.0, 2.0]}))
    rows["unfed"] = describe_error(lambda: sess.run(decoded))[0]
    rows["shape"] = describe_error(lambda: sess.run(numbers, {numbers: [[1.0]]}))[0]
    rows["odd"] = [describe_error(lambda: sess.run(object()))[0], raises(TypeError, lambda: bool(numbers))]
    sess.close()
    rows["closed"] = describe_error(lambda: sess.run(numbers))[0]
    return rows


def fed(tf, folder):
    """Create datasets from placeholders of file names and arrays."""
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
            rows[f"{len(chosen)} files"] = fetch_all(tf, sess, label)
        table = np.arange(6).reshape(3, 2)
        sess.run(arrays.initializer, {x: table, y: [7, 8, 9]})
        rows["arrays"] = fetch_all(tf, sess, element)
        sess.run(single.initializer, {limit: 5})
        rows["single"] = fetch_all(tf, sess, single.get_next())
        rows["unfed"] = describe_error(lambda: sess.run(files.initializer))[0]
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
        return fetch_all(tf, sess, [box, halves, values, places, tf.size(box)])


def sequences(tf, folder):
    path = f"{folder}/frames.tfrecord"
    with tf.python_io.TFRecordWriter(path) as writer:
        for number in range(5):
            example = tf.train.SequenceExample()
            example.context.feature["label"].int64_list.value.append(number)
            for frame in range(number % 3 + 1):
                example.feature_lists.feature_list["frames"].feature.add().float_list.value.extend([frame, number])
                example.feature_lists.feature_list["names"].feature.add().bytes_list.value.append(b"%d" % frame)
            writer.write(example.SerializeToString())
    context = {"label": tf.FixedLenFeature([], tf.int64)}
    lists = {"frames": tf.FixedLenSequenceFeature([2], tf.float32), "names": tf.VarLenFeature(tf.string)}

    def parse(record):
        whole, frames = tf.parse_single_sequence_example(record, context, lists)
        return frames["frames"], whole["label"]

    data, rows = tf.data.TFRecordDataset(path), {}
    padded = data.map(parse).padded_batch(2, padded_shapes=([None, 2], []))
    by_length = tf.data.experimental.bucket_by_sequence_length(
        lambda frames, label: tf.shape(frames)[0], [2, 3], [2, 2, 2]
    )
    queue = tf.train.string_input_producer([path], num_epochs=1)
    whole, frames = tf.parse_single_sequence_example(tf.TFRecordReader().read(queue)[1], context, lists)
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        rows["padded"] = fetch_all(tf, sess, tf.data.make_one_shot_iterator(padded).get_next())
        rows["buckets"] = fetch_all(
            tf, sess, tf.data.make_one_shot_iterator(data.map(parse).apply(by_length)).get_next()
        )
        tf.train.start_queue_runners(sess=sess)
        rows["queue"] = fetch_all(tf, sess, [whole["label"], frames["frames"], frames["names"]])
    return rows


def texts(tf, folder):
    path, rows = f"{folder}/table.csv", {}
    with open(path, "w") as file:
        file.write("size,name\n3,a b\n4,c\n")
    queue = tf.train.string_input_producer([path], num_epochs=1, shuffle=False)
    _, line = tf.TextLineReader(skip_header_lines=1).read(queue)
    size, name = tf.decode_csv(line, record_defaults=[[0], [""]])
    words = tf.string_split([name]).values
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        tf.train.start_queue_runners(sess=sess)
        rows["lines"] = fetch_all(tf, sess, [size, name, words])
        split = tf.string_split
        rows["split"] = [
            round_values(sess.run(one))
            for one in (
                split(["a b  c", "d", ""]),
                split(["a,b;c"], ",;"),
                split(["a,,b,"], delimiter=",", skip_empty=False),
                split(["abc"], ""),
                tf.string_to_number(["1.5", "-2"]),
                tf.string_to_number(string_tensor=["7"], out_type=tf.int64),
                tf.string_join(["a", "b"], "-"),
                tf.substr("abcdef", 1, 3),
                tf.regex_replace("a1b2", "[0-9]", "x"),
                tf.string_strip(" a "),
            )
        ]
    return rows


def files(tf, folder):
    names = [f"{folder}/{name}.txt" for name in "ab"]
    for name in names:
        with open(name, "w") as file:
            file.write(name[-5:])
    queue = tf.train.string_input_producer(names, num_epochs=1, shuffle=False)
    key, value = tf.WholeFileReader().read(queue)
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        tf.train.start_queue_runners(sess=sess)
        return to_plain([[key[-5:], value] for key, value in iter_of(tf, sess, [key, value])])


def iter_of(tf, sess, fetches):
    while True:
        try:
            yield sess.run(fetches)
        except tf.errors.OutOfRangeError:
            return


def names(tf, folder):
    """Use names of TensorFlow 1 with constants."""
    image = tf.constant(np.arange(2 * 5 * 6 * 3, dtype=np.float32).reshape(2, 5, 6, 3))
    x = tf.constant([-3.5, 0.0, 2.0])
    whole = tf.constant([-7, 3, 8])
    made = {
        "div": [tf.div(whole, 2), tf.div(x, 2.0), tf.floordiv(whole, 2), tf.mod(whole, 4)],
        "log": [
            tf.log(x + 4),
            tf.log1p(x + 4),
            tf.ceil(x),
            tf.rsqrt(x + 4),
            tf.reciprocal(x + 4),
        ],
        "is": [tf.is_nan(x / x), tf.is_inf(1 / x), tf.is_finite(x / x), tf.logical_xor(x > 0, x > 1)],
        "more": [tf.squared_difference(x, 1.0)],
        "dense": [tf.sparse_to_dense([[0, 1], [1, 2]], [2, 3], [5, 6], -1), tf.sparse_to_dense([1, 3], [5], 1.0)],
        "resized": [
            tf.image.resize_images(image, [3, 4]),
            tf.image.resize_images(image, [3, 4], method=1),
            tf.image.resize_images(image, [9, 7], align_corners=True),
            tf.image.resize_image_with_crop_or_pad(image, 4, 8)[:, :, :, 0],
            tf.image.resize_image_with_pad(image, 4, 8),
            tf.image.resize_image_with_pad(image, 7, 3, method=1)[0],
        ],
        "crop": [tf.shape(tf.random_crop(image, [1, 3, 4, 3]))],
    }
    with tf.Session() as sess:
        return {key: round_values(sess.run(value)) for key, value in made.items()}


def habits(tf, folder):
    """Use sessions as common programs do."""
    queue = tf.train.string_input_producer(tf.constant(records(tf, folder)), num_epochs=1, shuffle=False, name="files")
    with tf.name_scope("input"), tf.device("/cpu:0"):
        features = parsed(tf, tf.TFRecordReader().read(queue)[1], ("xmin", tf.float32))
        count = tf.cast(features["label"], tf.int32)
        shape = tf.stack([2, tf.constant(3)])
        image = tf.reshape(tf.decode_raw(bytes=features["raw"], out_type=tf.uint8), shape)
        image = tf.image.resize_image_with_crop_or_pad(image=image[..., tf.newaxis], target_height=3, target_width=2)
        doubled = tf.py_func(lambda x: x * 2, [image], tf.uint8)
        doubled.set_shape([3, 2, 1])
        frames = tf.map_fn(lambda x: tf.cast(x, tf.float32) / 2, image, dtype=tf.float32)
        hot = tf.one_hot(indices=count % 3, depth=3, on_value=1.0, off_value=0.0)
        made = {"hot": hot, "mean": tf.reduce_mean(frames), "twice": doubled}
    batch = tf.train.batch(made, batch_size=2)
    rows, seen = {"keys": sorted(batch), "hot": batch["hot"].get_shape().as_list()}, []
    with tf.Session() as sess:
        tf.local_variables_initializer().run()
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coord)
        try:
            while not coord.should_stop():
                seen.append(round_values(sess.run([batch["hot"], batch["mean"]])))
                if len(seen) == 2:
                    seen.append(round_values(batch["twice"].eval()))
        except tf.errors.OutOfRangeError as error:
            coord.request_stop(error)
        finally:
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=5)
    rows["seen"] = seen
    return rows


PROGRAMS = {
    program.__name__: program
    for program in (
        *(queues, one_by_one, shuffled, iterators, exchanged, fed, coder, boxes),
        *(sequences, texts, files, names, habits),
    )
}

"""More programs of TensorFlow 1, of frames, texts, whole files and names that were given up; see `graph_programs`."""

from __future__ import annotations

import numpy as np

from tests.compat.tensorflow import graph_programs
from tests.compat.tensorflow.data_programs import plain
from tests.compat.tensorflow.graph_programs import drained, parsed, records, told


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
        rows["padded"] = drained(tf, sess, tf.data.make_one_shot_iterator(padded).get_next())
        rows["buckets"] = drained(tf, sess, tf.data.make_one_shot_iterator(data.map(parse).apply(by_length)).get_next())
        tf.train.start_queue_runners(sess=sess)
        rows["queue"] = drained(tf, sess, [whole["label"], frames["frames"], frames["names"]])
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
        rows["lines"] = drained(tf, sess, [size, name, words])
        split = tf.string_split
        rows["split"] = [
            told(sess.run(one))
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
        return plain([[key[-5:], value] for key, value in iter_of(tf, sess, [key, value])])


def iter_of(tf, sess, fetches):
    while True:
        try:
            yield sess.run(fetches)
        except tf.errors.OutOfRangeError:
            return


def names(tf, folder):
    """Names that were given up, on constants."""
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
        return {key: told(sess.run(value)) for key, value in made.items()}


def habits(tf, folder):
    """What programs do around their sessions."""
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
                seen.append(told(sess.run([batch["hot"], batch["mean"]])))
                if len(seen) == 2:
                    seen.append(told(batch["twice"].eval()))
        except tf.errors.OutOfRangeError as error:
            coord.request_stop(error)
        finally:
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=5)
    rows["seen"] = seen
    return rows


PROGRAMS = {**graph_programs.PROGRAMS, **{one.__name__: one for one in (sequences, texts, files, names, habits)}}

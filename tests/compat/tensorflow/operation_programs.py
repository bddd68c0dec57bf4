"""Operations, tables and loops. Each function takes the module and a folder, and returns types of JSON."""

from __future__ import annotations

import numpy as np

from tests.compat.tensorflow.program_helpers import describe_error, describe_spec, list_elements, to_plain


def make_images():
    return np.random.default_rng(3).integers(0, 256, (2, 12, 10, 3)).astype(np.float32)


def round_values(tensor):
    return to_plain(np.round(tensor.numpy(), 3))


def detection(tf, folder):
    images, image, rows = make_images(), tf.image, {}
    boxes = np.array([[0.1, 0.2, 0.8, 0.6], [0.5, -0.3, 1.2, 0.7], [0, 0, 1, 1]], np.float32)
    rows["crops"] = round_values(image.crop_and_resize(images, boxes, [0, 1, 1], (3, 2)))
    rows["nearest"] = round_values(
        image.crop_and_resize(images, boxes, [0, 1, 0], [2, 3], "nearest", extrapolation_value=9)
    )
    rows["middle"] = round_values(image.crop_and_resize(images[:1].astype(np.uint8), boxes[:1], [0], (1, 1)))
    frames = image.draw_bounding_boxes(images / 256, np.stack([boxes, boxes[::-1]]), colors=None)
    rows["frames"] = round_values(tf.reduce_sum(frames, axis=[1, 3]))
    rows["colours"] = round_values(
        image.draw_bounding_boxes(images[:, :4, :4] / 256, boxes[None, :1].repeat(2, 0), [[1.0, 0, 0]])
    )
    rows["grey"] = round_values(image.draw_bounding_boxes(images[..., :1] * 0, np.stack([boxes, boxes]), None))
    d = tf.data.Dataset.from_tensor_slices(images).map(
        lambda x: image.crop_and_resize(x[None], boxes, [0, 0, 0], (2, 2))
    )
    rows["mapped"] = [one.shape.as_list() for one in d]
    return rows


def numbers(tf, folder):
    rows = {}
    rows["added"] = round_values(tf.tensor_scatter_nd_add(tf.zeros([3]), [[0], [0], [2]], [1.0, 2.0, 5.0]))
    rows["taken"] = round_values(tf.tensor_scatter_nd_sub(tf.ones([2, 2], tf.int32), [[0, 1]], [4]))
    rows["text"] = to_plain([tf.as_string(5).numpy()])
    lists = (
        tf.train.FloatList(value=[0.1, 2]),
        tf.train.Int64List(value=[3]),
        tf.train.FloatList(),
        tf.train.Int64List(),
    )
    rows["arrays"] = [[np.array(one.value).dtype.name, to_plain(np.array(one.value))] for one in lists]
    return rows


def tables(tf, folder):
    rows, path, index = {}, f"{folder}/words.txt", tf.lookup.TextFileIndex
    with open(path, "w") as file:
        file.write("the\t7\nfilm\t5\nwas\t9\n")
    made = tf.lookup.TextFileInitializer
    by_line = made(path, tf.string, 0, tf.int64, index.LINE_NUMBER)
    for name, words in (
        ("lines", by_line),
        ("columns", made(path, tf.string, 0, tf.int64, 1)),
        ("whole", made(path, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER, vocab_size=2)),
    ):
        table = tf.lookup.StaticHashTable(words, -1)
        rows[name] = [to_plain(table.lookup(tf.constant(["film", "film\t5", "no"])).numpy()), int(table.size())]
    rows["vocabulary"] = to_plain(
        tf.lookup.StaticVocabularyTable(by_line, 1).lookup(tf.constant(["was", "no"])).numpy()
    )
    back = tf.lookup.StaticHashTable(made(path, tf.int64, index.LINE_NUMBER, tf.string, 0), "none")
    rows["back"] = to_plain(back.lookup(tf.constant([1, 8], tf.int64)).numpy())
    return rows


def loops(tf, folder):
    rows, d = {}, tf.data.Dataset.from_tensor_slices([1.0, 0.0, 4.0, 0.0, 2.0])
    checked = d.map(lambda x: tf.debugging.check_numerics(1.0 / x, "no"))

    def tried(data):
        found, iterator = [], iter(data)
        while True:
            try:
                found.append(to_plain(next(iterator).numpy()))
            except StopIteration:
                return found
            except tf.errors.InvalidArgumentError:
                found.append("failed")

    ways = [
        checked,
        checked.prefetch(2),
        checked.batch(2),
        checked.repeat(2),
        checked.take(2),
        checked.filter(lambda x: x < 1),
    ]
    rows["tried"] = [tried(one) for one in ways] + [tried(checked.enumerate().map(lambda n, x: n))]
    errors = tf.errors
    rows["codes"] = [
        errors.OK,
        errors.DATA_LOSS,
        errors.OUT_OF_RANGE,
        errors.NotFoundError(None, None, "why").error_code,
    ]

    def fails(error):
        def function(x):
            raise error

        try:
            list(d.map(lambda x: tf.py_function(function, [x], tf.float32)))
        except errors.OpError as caught:
            return next(
                kind.__name__
                for kind in type(caught).__mro__
                if kind.__module__.split(".")[-1] in ("errors_impl", "errors")
            )
        return None

    kinds = (ValueError, TypeError, KeyError, NotImplementedError, MemoryError, OSError)
    rows["functions"] = [fails(kind("no")) for kind in kinds]
    seeds = tf.random.split([1, 2], num=3)
    rows["seeds"] = [
        seeds.shape.as_list(),
        seeds.dtype.name,
        tf.random.experimental.stateless_split([1, 2])[0].shape.as_list(),
    ]
    return rows


def lines(tf, folder):
    rows, paths = {}, [f"{folder}/{name}.csv" for name in "ab"]
    for number, path in enumerate(paths):
        with open(path, "w") as file:
            file.write(f'size,weight,name,label\n{number},1.5,"x,y",1\n7,,NA,0\n')
    made, kinds = tf.data.experimental.CsvDataset, [tf.int32, [0.5], ["none"], tf.int64]
    rows["all"] = list_elements(made(paths, kinds, header=True, na_value="NA"))
    rows["specs"] = describe_spec(made(paths, kinds, header=True).element_spec)
    rows["chosen"] = list_elements(made(tf.constant(paths), [tf.int64, tf.int32], header=True, select_cols=[0, 3]))
    rows["left"] = list_elements(made(paths[0], [tf.int64, tf.int32], header=True, exclude_cols=[1, 2]).batch(2))
    rows["refused"] = [
        describe_error(lambda: made(paths, [[0]], select_cols=[0], exclude_cols=[1])),
        describe_error(lambda: list_elements(made(paths, [tf.int32, tf.float32, [""], [0]], header=True)))[0],
        describe_error(lambda: list_elements(made(paths, kinds)))[0],
    ]
    return rows


PROGRAMS = {one.__name__: one for one in (detection, numbers, tables, loops, lines)}

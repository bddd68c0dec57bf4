"""Programs of strangers around their record files: each takes the module and a folder, gives plain values."""

from __future__ import annotations

import numpy as np

from tests.compat.tensorflow.data_programs import listed, plain, spelled
from tests.compat.tensorflow.owned_programs import failed


def pictures():
    return np.random.default_rng(3).integers(0, 256, (2, 12, 10, 3)).astype(np.float32)


def told(tensor):
    return plain(np.round(tensor.numpy(), 3))


def detection(tf, folder):
    images, image, rows = pictures(), tf.image, {}
    boxes = np.array([[0.1, 0.2, 0.8, 0.6], [0.5, -0.3, 1.2, 0.7], [0, 0, 1, 1]], np.float32)
    rows["crops"] = told(image.crop_and_resize(images, boxes, [0, 1, 1], (3, 2)))
    rows["nearest"] = told(image.crop_and_resize(images, boxes, [0, 1, 0], [2, 3], "nearest", extrapolation_value=9))
    rows["middle"] = told(image.crop_and_resize(images[:1].astype(np.uint8), boxes[:1], [0], (1, 1)))
    frames = image.draw_bounding_boxes(images / 256, np.stack([boxes, boxes[::-1]]), colors=None)
    rows["frames"] = told(tf.reduce_sum(frames, axis=[1, 3]))
    rows["colours"] = told(
        image.draw_bounding_boxes(images[:, :4, :4] / 256, boxes[None, :1].repeat(2, 0), [[1.0, 0, 0]])
    )
    rows["grey"] = told(image.draw_bounding_boxes(images[..., :1] * 0, np.stack([boxes, boxes]), None))
    corners = np.array([[0, 0, 1, 1], [0, 0, 1.1, 0.9], [2, 2, 3, 3], [3, 3, 2.5, 2], [1, 1, 1, 1]], np.float32)
    scores = np.array([0.8, 0.9, 0.7, 0.7, 0.1], np.float32)
    keep = image.non_max_suppression
    rows["kept"] = [told(keep(corners, scores, n, *more)) for n, *more in ((5,), (1,), (5, 0.9), (5, 0.5, 0.75))]
    d = tf.data.Dataset.from_tensor_slices(images).map(
        lambda x: image.crop_and_resize(x[None], boxes, [0, 0, 0], (2, 2))
    )
    rows["mapped"] = [one.shape.as_list() for one in d]
    return rows


def patches(tf, folder):
    images, image, rows = pictures(), tf.image, {}
    for name, *given in (
        ("whole", [1, 4, 5, 1], [1, 4, 5, 1], [1, 1, 1, 1], "VALID"),
        ("around", [1, 3, 5, 1], [1, 4, 3, 1], [1, 2, 1, 1], "SAME"),
    ):
        rows[name] = told(image.extract_patches(images, *given))
    other = np.clip(images[::-1] / 256 + 0.1, 0, 1).astype(np.float32)
    rows["noise"] = [told(image.psnr(images / 256, other, 1.0)), told(image.psnr(images, images, 255))]
    rows["bytes"] = told(image.psnr(images.astype(np.uint8), images[::-1].astype(np.uint8), 255))
    rows["variation"] = [
        told(image.total_variation(tf.constant(images))),
        told(image.total_variation(tf.constant(images[0]))),
    ]
    rows["edges"] = told(image.sobel_edges(tf.constant(images[:1, :5, :4])))
    rows["slopes"] = [told(one) for one in image.image_gradients(tf.constant(images[:1, :3, :3]))]
    rows["blocks"] = [
        told(tf.nn.space_to_depth(images[:, :4, :4], 2)),
        told(tf.nn.depth_to_space(images[:, :2, :2].repeat(4, -1), 2)),
    ]
    rows["pooled"] = [
        told(pool(images, size, step, padding))
        for pool in (tf.nn.max_pool2d, tf.nn.avg_pool2d)
        for size, step, padding in ((2, 2, "SAME"), ([3, 2], [2, 3], "VALID"), (3, 2, "SAME"))
    ]
    colours = images[:1, :2, :2] / 256
    rows["yuv"] = [
        told(getattr(image, f"{a}_to_{b}")(colours))
        for a, b in (("rgb", "yuv"), ("yuv", "rgb"), ("rgb", "yiq"), ("yiq", "rgb"))
    ]
    return rows


def numbers(tf, folder):
    rows = {}
    rows["added"] = told(tf.tensor_scatter_nd_add(tf.zeros([3]), [[0], [0], [2]], [1.0, 2.0, 5.0]))
    rows["taken"] = told(tf.tensor_scatter_nd_sub(tf.ones([2, 2], tf.int32), [[0, 1]], [4]))
    rows["diagonal"] = told(tf.linalg.diag_part(np.arange(12).reshape(2, 2, 3)))
    rows["clipped"] = [told(tf.clip_by_norm([3.0, 4.0], n)) for n in (1.0, 10.0)]
    rows["rows clipped"] = told(tf.clip_by_norm([[3.0, 4.0], [0.3, 0.4]], 1.0, axes=[1]))
    rows["text"] = plain(
        [
            one.numpy()
            for one in (tf.as_string(5), tf.io.encode_base64(["a?>", "ab"]), tf.io.encode_base64("a", pad=True))
        ]
    )
    rows["bytes"] = plain(tf.io.decode_base64(["YT8-", "YWI", "YQ=="]).numpy())
    lists = (
        tf.train.FloatList(value=[0.1, 2]),
        tf.train.Int64List(value=[3]),
        tf.train.FloatList(),
        tf.train.Int64List(),
    )
    rows["arrays"] = [[np.array(one.value).dtype.name, plain(np.array(one.value))] for one in lists]
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
        rows[name] = [plain(table.lookup(tf.constant(["film", "film\t5", "no"])).numpy()), int(table.size())]
    rows["vocabulary"] = plain(tf.lookup.StaticVocabularyTable(by_line, 1).lookup(tf.constant(["was", "no"])).numpy())
    back = tf.lookup.StaticHashTable(made(path, tf.int64, index.LINE_NUMBER, tf.string, 0), "none")
    rows["back"] = plain(back.lookup(tf.constant([1, 8], tf.int64)).numpy())
    return rows


def loops(tf, folder):
    rows, d = {}, tf.data.Dataset.from_tensor_slices([1.0, 0.0, 4.0, 0.0, 2.0])
    checked = d.map(lambda x: tf.debugging.check_numerics(1.0 / x, "no"))

    def tried(data):
        found, iterator = [], iter(data)
        while True:
            try:
                found.append(plain(next(iterator).numpy()))
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
    tf.print("a", tf.constant([1, 2]), output_stream=f"file://{folder}/told")
    tf.print("b", output_stream=f"file://{folder}/told")
    with open(f"{folder}/told") as file:
        rows["printed"] = file.read()
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
    rows["all"] = listed(made(paths, kinds, header=True, na_value="NA"))
    rows["specs"] = spelled(made(paths, kinds, header=True).element_spec)
    rows["chosen"] = listed(made(tf.constant(paths), [tf.int64, tf.int32], header=True, select_cols=[0, 3]))
    rows["left"] = listed(made(paths[0], [tf.int64, tf.int32], header=True, exclude_cols=[1, 2]).batch(2))
    rows["refused"] = [
        failed(lambda: made(paths, [[0]], select_cols=[0], exclude_cols=[1])),
        failed(lambda: listed(made(paths, [tf.int32, tf.float32, [""], [0]], header=True)))[0],
        failed(lambda: listed(made(paths, kinds)))[0],
    ]
    return rows


PROGRAMS = {one.__name__: one for one in (detection, patches, numbers, tables, loops, lines)}

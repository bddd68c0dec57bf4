"""CSV lines, buckets, ragged batches, tables and other transformations. Each function takes the module and a folder."""

from __future__ import annotations

import numpy as np

from tests.compat.tensorflow.program_helpers import describe_error, describe_spec, list_elements, to_plain

LINES = ["22,7.25,male,0", "38,71.28,female,1", ",7.9,female,1", '54,,"ma,l""e",0', " 5 ,1e3,NA,9999999999"]


def columns(tf, folder):
    defaults = [[0], [0.5], ["unknown"], tf.constant([], tf.int64)]
    csv, rows = tf.io.decode_csv, {}
    rows["read"] = [to_plain(one.numpy()) for one in csv(LINES, defaults, na_value="NA")]
    rows["marks"] = to_plain([one.numpy() for one in csv("1|2|a", [[0], [0.0], [""]], field_delim="|")])
    rows["chosen"] = to_plain([one.numpy() for one in csv("1,2,3,4", [[0], [0]], select_cols=[1, 3])])
    rows["quotes kept"] = to_plain([one.numpy() for one in csv('a"b,1', [[""], [0]], use_quote_delim=False)])
    rows["shape"] = to_plain([one.numpy() for one in csv([["1,2"], ["3,4"]], [[0], [1]])])
    mapped = tf.data.Dataset.from_tensor_slices(LINES).map(lambda line: tuple(csv(line, defaults)))
    rows["mapped"], rows["specs"] = list_elements(mapped), describe_spec(mapped.element_spec)
    bad = ["x,1,a,1", "1,1,a", "1,1,a,", 'a"b,1,a,1', '"a"b,1,a,1', '"a,1', "1.5,1,a,1", "1,y,a,1", "", "1,2,a,b\r\n"]
    rows["refused"] = [describe_error(lambda line=line: csv(line, defaults)) for line in bad]
    rows["options"] = [
        describe_error(lambda: csv("1,2", [[0], [1]], select_cols=[1, 0])),
        describe_error(lambda: csv("1,2", [[0], [1]], select_cols=[1])),
        describe_error(lambda: csv("1,2", [[0, 1], [1]])),
        describe_error(lambda: csv("1,2", [[0], [1]], field_delim=";;")),
    ]
    return rows


def buckets(tf, folder):
    d, rows = tf.data.Dataset.range(1, 8).map(lambda x: tf.fill([x % 5 + 1], x)), {}
    options = [{}, {"drop_remainder": True}, {"padded_shapes": [7]}, {"padding_values": np.int64(-1)}]
    options += [{"pad_to_bucket_boundary": True}]

    def bucketed(data, **given):
        return list_elements(data.bucket_by_sequence_length(tf.size, [3, 6], [2, 2, 2], **given))

    rows["ways"] = [bucketed(d, **given) for given in options]
    pairs = d.map(lambda x: (tf.size(x), tf.stack([x, x], axis=1)))
    by_first = {"padded_shapes": ([], [None, 2]), "padding_values": (0, np.int64(9))}
    rows["pairs"] = list_elements(pairs.bucket_by_sequence_length(lambda n, x: n, [4], [3, 2], **by_first))
    older = tf.data.experimental.bucket_by_sequence_length(tf.size, [4], [2, 3])
    rows["older"] = list_elements(d.apply(older))
    rows["sizes"] = describe_error(lambda: d.bucket_by_sequence_length(tf.size, [3], [2]))
    return rows


def ragged(tf, folder):
    d, rows = tf.data.Dataset.range(1, 6), {}

    def round_values(one):
        return [one.to_list(), one.shape.as_list(), one.dtype.name, one.ragged_rank, one.row_splits.dtype.name]

    rows["batches"] = [round_values(one) for one in d.map(lambda x: tf.fill([x], x)).ragged_batch(2)]
    rows["inner"] = [one.to_list() for one in d.map(lambda x: tf.fill([2, x], x)).ragged_batch(2)]
    rows["pair"] = [
        [to_plain(a.numpy()), round_values(b)]
        for a, b in d.map(lambda x: (x, tf.fill([x, 2], x))).ragged_batch(3, True)
    ]
    rows["dense"] = list_elements(d.ragged_batch(2, row_splits_dtype=tf.int32))
    older = tf.data.experimental.dense_to_ragged_batch(3)
    rows["older"] = [round_values(one) for one in d.map(lambda x: tf.fill([x], x)).apply(older)]
    made, table = tf.RaggedTensor.from_tensor, [[1, 0, 2, 0], [0, 0, 0, 0]]
    rows["made"] = [
        round_values(made(table)),
        round_values(made(table, padding=0)),
        round_values(made(table, lengths=[2, 3])),
        round_values(made(np.arange(24).reshape(2, 3, 4), ragged_rank=2)),
        round_values(made([[[5, 0], [7, 0], [0, 0]], [[0, 0], [6, 0], [0, 0]]], padding=[0, 0])),
        round_values(made([[[5, 0, 0], [7, 0, 0]], [[0, 0, 0], [3, 0, 0]]], ragged_rank=2, padding=0)),
    ]
    constant = tf.ragged.constant
    rows["put together"] = [
        round_values(tf.ragged.stack([[1, 2], [3]])),
        round_values(tf.ragged.stack([constant([[1], [2, 3]]), constant([[4]])])),
        round_values(tf.ragged.range([3, 0, 2])),
        round_values(tf.ragged.range([0, 5], [4, 2], [2, -1])),
        round_values(tf.ragged.map_flat_values(tf.add, constant([[1], [2, 3]]), 5)),
    ]
    return rows


def tables(tf, folder):
    lookup, rows = tf.lookup, {}
    words = lookup.KeyValueTensorInitializer(["a", "b", "c"], [1, 2, 3])
    table = lookup.StaticHashTable(words, -1)
    rows["found"] = to_plain(table.lookup(tf.constant([["a", "z"], ["c", ""]])).numpy())
    rows["size"] = int(table.size())
    rows["mapped"] = list_elements(tf.data.Dataset.from_tensor_slices(["a", "q"]).map(table.lookup))
    back = lookup.StaticHashTable(lookup.KeyValueTensorInitializer([1, 2], ["x", "y"]), "none")
    rows["back"] = to_plain(back.lookup(tf.constant([2, 7])).numpy())
    numbered = lookup.KeyValueTensorInitializer(["a", "b"], [0, 1], tf.string, tf.int64)
    vocabulary = lookup.StaticVocabularyTable(numbered, 1)
    rows["vocabulary"] = [to_plain(vocabulary.lookup(tf.constant(["b", "zz"])).numpy()), int(vocabulary.size())]
    rows["other keys"] = describe_error(lambda: table.lookup(tf.constant(1)))
    return rows


def counters(tf, folder):
    d, rows, counter = tf.data.Dataset.range(1, 6), {}, tf.Variable(1)

    def count(x):
        counter.assign_add(1)
        return x * 0 + tf.cast(counter, tf.int64)

    rows["counted"] = [list_elements(d.map(count)), int(counter)]
    scaled = d.map(lambda x: x * tf.cast(counter, tf.int64))
    rows["read anew"] = [list_elements(scaled), to_plain(counter.assign_sub(4).numpy()), list_elements(scaled)]
    rows["returned"] = list_elements(d.take(1).map(lambda x: (x, counter)))
    rows["told"] = [str(counter), f"{counter}", str(counter.dtype), counter.shape.as_list(), counter.name]
    rows["arithmetic"] = to_plain([(counter * 2).numpy(), (counter + counter).numpy(), counter.read_value().numpy()])
    rows["shape"] = describe_error(lambda: counter.assign([1, 2]))
    rows["nothing"] = describe_error(tf.Variable)
    return rows


def pixels(tf, folder):
    image = tf.compat.v1.image
    small = np.arange(7 * 9 * 3, dtype=np.uint8).reshape(7, 9, 3) * np.uint8(37)
    many = np.sin(np.arange(2 * 5 * 6, dtype=np.float32)).reshape(2, 5, 6, 1)
    rows = {}
    for name, given in (("small", small), ("many", many)):
        for size in ((3, 4), (10, 13), (7, 9), (1, 1)):
            for method in (0, 1, "bilinear"):
                made = [image.resize(given, size, method, align_corners=aligned) for aligned in (False, True)]
                rows[f"{name}, {size}, {method}"] = [[one.dtype.name, to_plain(one.numpy().ravel())] for one in made]
    rows["fitted"] = image.resize(small, (4, 4), preserve_aspect_ratio=True).shape.as_list()
    rows["older"] = to_plain(image.resize_images(many, (3, 3)).numpy().ravel())
    rows["nearest"] = to_plain(image.resize_nearest_neighbor(many, (3, 3)).numpy().ravel())
    rows["centres"] = to_plain(image.resize_bilinear(many, (3, 3), half_pixel_centers=True).numpy().ravel())
    return rows


def parts(tf, folder):
    cut, numbers, square = tf.strided_slice, tf.range(10), tf.reshape(tf.range(12), [3, 4])
    found = [cut(numbers, [1], [8], [2]), cut(square, [0, 1], [2, 3]), cut(numbers, [4], [0], [-1])]
    found += [cut(square, [0, 0], [2, 1], shrink_axis_mask=2), cut(square, [1, 1], [2, 2], begin_mask=1, end_mask=2)]
    sparse = tf.sparse.from_dense([[0, 1], [2, 0]])
    words = tf.sparse.from_dense(["", "a"])
    unordered = tf.sparse.SparseTensor([[1, 0], [0, 1], [0, 0]], [5, 6, 7], [2, 2])
    rows = {"strided": [to_plain(one.numpy()) for one in found]}
    rows["sparse"] = [
        [to_plain(one.indices.numpy()), to_plain(one.values.numpy()), to_plain(one.dense_shape.numpy())]
        for one in (sparse, words, tf.sparse.reorder(unordered))
    ]
    rows["told"] = [f"{tf.constant([1, 2])}", f"{tf.constant(2.5):.2f}", f"{tf.constant(b'a')}"]
    return rows


def records(tf, folder):
    io, path = tf.io, f"{folder}/a.tfrecord"

    def example(number):
        return tf.train.Example(
            features=tf.train.Features(
                feature={
                    "x": tf.train.Feature(float_list=tf.train.FloatList(value=[number, number + 0.5])),
                    "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[number] * (number % 3))),
                    "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
                }
            )
        ).SerializeToString()

    with io.TFRecordWriter(path) as writer:
        for number in range(5):
            writer.write(example(number))
    fixed = {"x": io.FixedLenFeature([2], tf.float32), "n": io.FixedLenFeature([], tf.int64)}
    asked = {"y": io.RaggedFeature(tf.int64), "x": fixed["x"], "a": io.VarLenFeature(tf.int64), "n": fixed["n"]}
    single = tf.data.TFRecordDataset(path).map(lambda record: io.parse_single_example(record, asked))
    batched = tf.data.TFRecordDataset(path).batch(5).map(lambda record: io.parse_example(record, fixed))
    made = tf.data.experimental.make_batched_features_dataset
    once = {"num_epochs": 1, "shuffle": False}
    rows = {
        "order": [
            [*next(iter(single))],
            [*single.element_spec],
            [*io.parse_example([b""], {"y": asked["y"], "a": asked["a"]})],
        ]
    }
    rows["batch spec"] = describe_spec(batched.element_spec)
    rows["made"] = list_elements(made(f"{folder}/*.tfrecord", 2, fixed, label_key="n", **once))
    rows["dropped"] = list_elements(made(path, 2, fixed, drop_final_batch=True, **once))
    rows["no label"] = describe_error(lambda: made(path, 2, fixed, label_key="z"))[0]
    return rows


def kept(tf, folder):
    passes = []

    def made(x):
        passes.append(0)
        return {"n": x, "words": tf.strings.as_string(tf.fill([x], x)), "pair": (tf.cast(x, tf.float32), x > 1)}

    def cached():
        source = tf.data.Dataset.range(4).map(
            lambda x: tf.numpy_function(lambda y: (passes.append(0), y)[1], [x], tf.int64)
        )
        return source.map(lambda x: (x, {"twice": x * 2})).cache(f"{folder}/kept")

    rows = {"first": list_elements(cached().take(2))}
    rows["again"], count = [list_elements(cached())], len(passes)
    rows["again"] += [list_elements(cached()), len(passes) == count]
    rows["forms"] = list_elements(tf.data.Dataset.range(3).map(made).cache(f"{folder}/forms"))
    rows["repeated"] = list_elements(tf.data.Dataset.range(3).cache(f"{folder}/again").repeat(2))
    rows["nothing"] = [list_elements(tf.data.Dataset.range(0).cache(f"{folder}/none")) for _ in range(2)]
    return rows


PROGRAMS = {one.__name__: one for one in (columns, buckets, ragged, tables, counters, pixels, parts, records, kept)}

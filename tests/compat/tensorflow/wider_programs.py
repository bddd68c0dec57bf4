"""Programs in the shapes of public ones: words, tables, boxes, sounds, series; each gives plain values."""

from __future__ import annotations

import numpy as np

from tests.compat.tensorflow.data_programs import listed, plain, spelled
from tests.compat.tensorflow.owned_programs import failed
from tests.compat.tensorflow.public_programs import bytes_of, floats, ints, write

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


def review_words(tf, folder):
    """Texts of records as rows of numbers, by words and by pairs of them."""
    rows = [{"text": bytes_of(tf, text.encode()), "label": ints(tf, n % 2)} for n, text in enumerate(TEXTS)]
    path = write(tf, f"{folder}/texts.tfrecord", rows)
    kinds = {"text": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
    data = tf.data.TFRecordDataset(path).map(lambda record: tf.io.parse_single_example(record, kinds))
    vectorize = tf.keras.layers.TextVectorization(max_tokens=8, output_mode="int", output_sequence_length=5)
    vectorize.adapt(data.map(lambda x: x["text"]).batch(2))

    def to_numbers(x):
        return vectorize(tf.expand_dims(x["text"], -1))[0], x["label"]

    counted = tf.keras.layers.TextVectorization(output_mode="count", ngrams=2)
    counted.adapt(data.map(lambda x: x["text"]))
    return [
        vectorize.get_vocabulary(),
        listed(data.map(to_numbers).batch(2)),
        listed(data.batch(2).map(lambda x: (vectorize(x["text"]), x["label"]))),
        counted.get_vocabulary(),
        plain(np.asarray(counted(tf.constant(TEXTS[:2])), np.int64)),
    ]


def sentence_pieces(tf, folder):
    """Strings standardized, split, joined to pairs and looked up in a table of words."""
    words = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(["the", "cat", "dog", "ran"], tf.range(4, dtype=tf.int64)), 3
    )

    def numbers(text):
        clean = tf.strings.regex_replace(tf.strings.lower(text), "[^a-z ]", "")
        tokens = tf.strings.split(clean)
        return words.lookup(tokens), tf.strings.ngrams(tokens, 2, separator="_"), tf.size(tokens)

    data = tf.data.Dataset.from_tensor_slices(TEXTS).map(numbers)
    ids = data.map(lambda ids, pairs, size: ids)
    return [
        listed(data),
        listed(ids.padded_batch(2, padding_values=tf.constant(-1, tf.int64))),
        [one.to_list() for one in ids.ragged_batch(2)],
        int(words.size()),
    ]


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


def hashed_features(tf, folder):
    """Names and pairs of them as numbers of buckets, lists of names as counts."""
    rows = [
        {
            "user": bytes_of(tf, b"user_%d" % n),
            "item": ints(tf, n * 7),
            "tags": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"t%d" % k for k in range(n)])),
        }
        for n in range(5)
    ]
    path = write(tf, f"{folder}/events.tfrecord", rows)
    kinds = {
        "user": tf.io.FixedLenFeature([], tf.string),
        "item": tf.io.FixedLenFeature([], tf.int64),
        "tags": tf.io.RaggedFeature(tf.string),
    }

    def features(records):
        found = tf.io.parse_example(records, kinds)
        item = tf.strings.as_string(found["item"])
        tags = tf.strings.to_hash_bucket_fast(found["tags"], 50)
        return {
            "user": tf.strings.to_hash_bucket_fast(found["user"], 1000),
            "strong": tf.strings.to_hash_bucket_strong(found["user"], 1000, [3, 4]),
            "cross": tf.strings.to_hash_bucket(tf.strings.join([found["user"], item], "_X_"), 997),
            "tags": tags.to_tensor(-1),
            "num_tags": tf.cast(tags.row_lengths(), tf.float32) / 5.0,
            "sum": tf.reduce_sum(tags, axis=1),
            "print": tf.fingerprint(found["user"]),
        }

    data = tf.data.TFRecordDataset(path).batch(3).map(features)
    hashing = tf.keras.layers.Hashing(num_bins=11, mask_value="user_0")
    return [listed(data), plain(np.asarray(hashing(tf.constant([["user_0"], ["user_1"]]))))]


def padded_boxes(tf, folder):
    """Boxes of pictures in lists of one length, chosen by what they share."""
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
    kept = tf.image.combined_non_max_suppression(boxes[:, :, tf.newaxis], scores, 2, 4, 0.3, 0.5)
    return [rounded(boxes), plain(scores.numpy()), plain(counts.numpy()), *(rounded(one) for one in kept)]


def spectrograms(tf, folder):
    """Sounds as frequencies, mel bands and coefficients."""
    time = np.arange(2000, dtype=np.float32) / 8000
    rows = [{"wave": floats(tf, *np.sin(2 * np.pi * hertz * time).tolist())} for hertz in (440, 1000)]
    path = write(tf, f"{folder}/sounds.tfrecord", rows)
    kinds = {"wave": tf.io.FixedLenFeature([2000], tf.float32)}
    mel = tf.signal.linear_to_mel_weight_matrix(16, 129, 8000, 80.0, 3800.0)

    def features(record):
        wave = tf.io.parse_single_example(record, kinds)["wave"]
        spectrogram = tf.abs(tf.signal.stft(wave, frame_length=255, frame_step=128))
        bands = tf.math.log(tf.matmul(spectrogram, mel) + 1e-3)
        return spectrogram[..., tf.newaxis], tf.signal.mfccs_from_log_mel_spectrograms(bands)[..., :5]

    data = tf.data.TFRecordDataset(path).map(features, num_parallel_calls=tf.data.AUTOTUNE).batch(2)
    spectrogram, coefficients = next(iter(data))
    places = tf.argmax(spectrogram[:, :, :, 0], axis=-1)
    return [spelled(data.element_spec)[0][0], plain(places.numpy()), round(float(np.mean(coefficients.numpy())), 1)]


def series_windows(tf, folder):
    """Windows of a series, and what comes after them."""
    series = tf.data.Dataset.range(10).map(lambda x: tf.cast(x, tf.float32) ** 2)
    windows = series.window(5, shift=2, drop_remainder=True).flat_map(lambda window: window.batch(5))
    pairs = windows.map(lambda window: (window[:-1], window[-1:])).batch(2)
    pieces = tf.signal.frame(tf.range(10), 4, 3, pad_end=True, pad_value=-1)
    smooth = tf.scan(lambda a, x: 0.5 * a + x, tf.constant([1.0, 2.0, 4.0]))
    return [listed(pairs), plain(pieces.numpy()), plain(smooth.numpy())]


def segment_features(tf, folder):
    """Events of sessions put together by the number of the session."""
    ids, values = tf.constant([0, 0, 1, 3, 3, 3]), tf.constant([1.0, 2.0, 3.0, 4.0, 6.0, 5.0])
    found = [getattr(tf.math, f"segment_{way}")(values, ids) for way in ("sum", "mean", "max", "min", "prod")]
    found.append(tf.math.unsorted_segment_mean(values, tf.constant([1, 0, 1, -1, 1, 0]), 3))
    found += tf.dynamic_partition(values, ids % 2, 2)
    found.append(tf.math.bincount(ids, minlength=6))
    found.append(tf.histogram_fixed_width(values, [0.0, 10.0], nbins=5))

    def counted(ids):
        return tf.math.bincount(ids, minlength=4, maxlength=4), tf.unique_with_counts(ids).count

    data = tf.data.Dataset.from_tensor_slices([[0, 1, 1], [3, 3, 3]]).map(counted)
    return [[plain(one.numpy()) for one in found], listed(data)]


def sparse_rows(tf, folder):
    """Lists of records as sparse tensors: joined, cut, filled up, multiplied."""
    rows = [{"ids": ints(tf, *range(n, 2 * n))} for n in (2, 0, 3)]
    path = write(tf, f"{folder}/ids.tfrecord", rows)

    def parse(records):
        return tf.io.parse_example(records, {"ids": tf.io.VarLenFeature(tf.int64)})["ids"]

    ids = next(iter(tf.data.TFRecordDataset(path).batch(3).map(parse)))
    filled, empty = tf.sparse.fill_empty_rows(ids, -1)
    weighted = tf.sparse.sparse_dense_matmul(tf.cast(ids, tf.float32), tf.ones([3, 2]))
    dense = [
        tf.sparse.concat(1, [ids, ids]),
        tf.sparse.slice(ids, [0, 1], [2, 2]),
        tf.sparse.reshape(ids, [9, 1]),
        filled,
    ]
    return [
        [plain(tf.sparse.to_dense(one).numpy()) for one in dense],
        plain(empty.numpy()),
        plain(weighted.numpy()),
        plain(tf.sparse.reduce_sum(ids, 1).numpy()),
        plain(tf.sparse.to_indicator(ids, 6).numpy()),
    ]


PROGRAMS = {
    one.__name__: one
    for one in (
        *(review_words, sentence_pieces, csv_rows, hashed_features, padded_boxes, spectrograms, series_windows),
        *(segment_features, sparse_rows),
    )
}

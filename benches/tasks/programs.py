"""Tasks that run the same program with the framework that it was written for and with `recordmill.compat`."""

from __future__ import annotations

from benches.tasks.base import Ratio, Task

AS_WRITTEN, AUTOTUNE = "as written", "AUTOTUNE"
# TensorFlow without the optimization that parallelizes each `map`, although the program does not ask for it.
IN_SEQUENCE = "as written, map in sequence"
IN_ORDER, BY_KEY = "in order", "by key"

PROGRAM_TASKS = (
    Task(
        "tf-photos",
        "tf.data: photos parsed, decoded, resized to 96 x 96, scaled, shuffled, batches of 64",
        "pass",
        "photos",
        64,
        (
            Ratio("tensorflow", 2.5, AS_WRITTEN, AS_WRITTEN),
            Ratio("tensorflow", 2.5, AS_WRITTEN, IN_SEQUENCE),
            Ratio("tensorflow", 1.5, AUTOTUNE, AUTOTUNE),
        ),
        compare="twin",
    ),
    Task(
        "tf-augment",
        "tf.data: windows of photos drawn, decoded, resized to 224, mirrored by chance, normalized, batches of 128",
        "pass",
        "photos",
        128,
        (Ratio("tensorflow", 1),),
        compare="crops",
        recipe="crop",
    ),
    Task(
        "tf-center",
        "tf.data: photos decoded, made floats, their middle resized to 224 x 224, scaled, clipped, batches of 64",
        "pass",
        "photos",
        64,
        (Ratio("tensorflow", 1),),
        compare="twin",
    ),
    Task(
        "tf-digits",
        "tf.data: PNG digits parsed, decoded, scaled, batches of 128",
        "pass",
        "digits",
        128,
        (Ratio("tensorflow", 2),),
        compare="twin",
    ),
    Task(
        "tf-parse",
        "tf.io.parse_example: 39 numbers of each Example, batches of 1,024 in memory",
        "pass",
        "tabular",
        1024,
        (Ratio("tensorflow", 5),),
        compare="columns",
    ),
    Task(
        "tf-filter",
        "tf.data: raw digits parsed, decoded and scaled, half of them left out, batches of 128",
        "pass",
        "arrays",
        128,
        (Ratio("tensorflow", 1),),
        compare="twin",
    ),
    Task(
        "tf-sequences",
        "tf.data: SequenceExamples parsed one by one, padded batches of 128",
        "pass",
        "sequence",
        128,
        (Ratio("tensorflow", 1),),
        compare="twin",
    ),
    Task(
        "tf-write",
        "tf.io.TFRecordWriter: photos and labels, an Example each",
        "pack",
        "photos",
    ),
    Task(
        "mx-records",
        "mx.recordio: photo records read in order, and by random keys, and unpacked",
        "pass",
        "photos",
        compare="records",
    ),
    Task(
        "mx-center",
        "mx.io.ImageRecordIter: photos to a shorter side of 256, center crop of 227, batches of 128",
        "pass",
        "photos",
        128,
        (Ratio("mxnet", 2),),
        compare="twin",
    ),
    Task(
        "mx-crop",
        "mx.io.ImageRecordIter: photos to random-resized crops of 224, mirrored, normalized, batches of 128",
        "pass",
        "photos",
        128,
        (Ratio("mxnet", 2),),
        compare="crops",
        recipe="crop",
    ),
    Task(
        "mx-im2rec",
        "im2rec with --pass-through: photos to one .rec with its index",
        "pack",
        "photos",
        goals=(Ratio("mxnet", 5),),
    ),
    Task(
        "of-photos",
        "OneFlow's ImageNet chain: photos to random crops of 224, mirrored, normalized, batches of 125",
        "pass",
        "photos",
        125,
        (Ratio("oneflow", 2.5),),
        compare="crops",
        recipe="crop",
    ),
    Task(
        "of-pack",
        "img2ofrecord: PNG digits and a label file to five OFRecord parts",
        "pack",
        "digits",
        goals=(Ratio("ofrecord_script", 2.5),),
    ),
)

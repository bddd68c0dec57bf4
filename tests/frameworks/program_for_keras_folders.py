"""A program as people wrote it for TensorFlow: data sets of folders, by Keras."""

import os

import numpy as np
import tensorflow as tf

ROWS = np.random.default_rng(0)
CLASSES = ("cats", "dogs", "eels")
SMALL = {"image_size": (16, 12), "batch_size": 4}


def fill():
    """Pictures, texts and sounds, each in the folder of its class."""
    for name in CLASSES:
        for folder in ("pictures", "texts", "sounds"):
            os.makedirs(f"{folder}/{name}/deeper")
        for number in range(7):
            place = f"{name}/{'deeper/' if number == 3 else ''}{number:02d}"
            image = tf.constant(ROWS.integers(0, 256, (20 + number, 30, 3), dtype=np.uint8))
            if number % 2:
                tf.io.write_file(f"pictures/{place}.png", tf.io.encode_png(image))
            else:
                tf.io.write_file(f"pictures/{place}.jpg", tf.io.encode_jpeg(image))
            tf.io.write_file(f"texts/{place}.txt", f"{name} number {number}")
            sound = tf.constant(ROWS.random((50 + number, 1), dtype=np.float32))
            tf.io.write_file(f"sounds/{place}.wav", tf.audio.encode_wav(sound, 8000))


def part(value):
    """Dtype, shape, and the strings or the exact sum of the numbers."""
    if value.dtype == tf.string:
        return value.numpy().tolist()
    return value.dtype.name, value.shape.as_list(), float(value.numpy().astype(np.float64).sum()).hex()


def tell(name, data, in_order=True):
    """Classes, files and batches; of shuffled ones, how large they are."""
    print(name, getattr(data, "class_names", None), getattr(data, "file_paths", None))
    for element in data:
        parts = element if isinstance(element, tuple) else (element,)
        print(" ", [part(one) for one in parts] if in_order else [one.shape.as_list() for one in parts])


def refused(name, function, **options):
    """Print what a call raises."""
    try:
        list(function(**options))
    except ValueError as error:
        print(name, type(error).__name__, str(error)[:80])


fill()
pictures = tf.keras.utils.image_dataset_from_directory
tell("plain", pictures("pictures", shuffle=False, **SMALL))
tell("grey", pictures("pictures", shuffle=False, label_mode="categorical", color_mode="grayscale", **SMALL))
tell("nearest", pictures("pictures", shuffle=False, label_mode=None, interpolation="nearest", **SMALL))
tell("padded", pictures("pictures", shuffle=False, pad_to_aspect_ratio=True, **SMALL))
tell("two classes", pictures("pictures", class_names=["eels", "cats"], shuffle=False, label_mode="binary", **SMALL))
tell("one by one", pictures("pictures", labels=list(range(21)), shuffle=False, image_size=(8, 8), batch_size=None))
tell("shuffled", pictures("pictures", seed=5, **SMALL), in_order=False)
tell("kept", pictures("pictures", seed=5, validation_split=0.3, subset="validation", **SMALL), in_order=False)
for one in pictures("pictures", seed=5, validation_split=0.3, subset="both", **SMALL):
    tell("both", one, in_order=False)
tell("older name", tf.keras.preprocessing.image_dataset_from_directory("pictures", shuffle=False, **SMALL))
tell("texts", tf.keras.utils.text_dataset_from_directory("texts", shuffle=False, batch_size=5, max_length=6))
tell(
    "sounds",
    tf.keras.utils.audio_dataset_from_directory("sounds", shuffle=False, batch_size=5, output_sequence_length=40),
)
series = tf.keras.utils.timeseries_dataset_from_array
tell("series", series(np.arange(40.0), np.arange(40), 5, sequence_stride=2, batch_size=4))
tell("rows", series(np.arange(80.0).reshape(40, 2), None, 5, sampling_rate=2, batch_size=4))
refused("nothing there", pictures, directory="texts", **SMALL)
refused("no such labels", pictures, directory="pictures", label_mode="foo", **SMALL)
refused("three classes", pictures, directory="pictures", label_mode="binary", **SMALL)

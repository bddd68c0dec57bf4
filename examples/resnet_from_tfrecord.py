"""ResNet from TFRecord under TensorFlow's names: digits are packed, learned, interrupted, and learned further.

    python examples/resnet_from_tfrecord.py [FOLDER] [EPOCHS]

Each run goes on from the newest checkpoint in the folder, or begins with packing. The digits are scikit-learn's 1,797
scans. The import of `tf` is the only line that differs from a program for TensorFlow, which asks besides that
checkpoints be called ``.weights.h5``. Needs ``recordmill[all]`` and scikit-learn.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np

import recordmill.compat.tensorflow as tf

SIDE = 32
BATCH = 50
FILTERS = 12
TRAIN, HELD_OUT = 1500, 297


class Accuracy(tf.keras.metrics.Metric):
    """Share of the samples whose largest output is that of their label."""

    def __init__(self, name: str = "myaccuracy") -> None:
        super().__init__(name=name)
        self.right = self.add_weight(name="right", initializer="zeros")
        self.asked = self.add_weight(name="asked", initializer="zeros")

    def update_state(self, labels, outputs, sample_weight=None) -> None:
        found = tf.argmax(outputs, axis=-1, output_type=tf.int32)
        same = tf.equal(found, tf.cast(tf.squeeze(labels, axis=-1), tf.int32))
        self.right.assign_add(tf.reduce_sum(tf.cast(same, tf.float32)))
        self.asked.assign_add(tf.cast(tf.size(same), tf.float32))

    def result(self):
        return tf.math.divide_no_nan(self.right, self.asked)


def pack(folder: Path) -> None:
    """Write the digits as JPEG pictures with labels, in two files."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    pictures = (digits.images * 15.9375).astype(np.uint8).repeat(4, axis=1).repeat(4, axis=2)
    for name, rows in (("train", range(TRAIN)), ("val", range(TRAIN, TRAIN + HELD_OUT))):
        with tf.io.TFRecordWriter(str(folder / f"{name}.tfrecord")) as writer:
            for row in rows:
                encoded = tf.io.encode_jpeg(pictures[row][..., None], quality=95).numpy()
                feature = {
                    "image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[encoded])),
                    "image/label": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(digits.target[row])])),
                }
                example = tf.train.Example(features=tf.train.Features(feature=feature))
                writer.write(example.SerializeToString())


def parse(record):
    """Decode an example to an image (32, 32, 3) from 0 to 1 and a label (1,)."""
    description = {
        "image/encoded": tf.io.FixedLenFeature([], tf.string),
        "image/label": tf.io.FixedLenFeature([], tf.int64),
    }
    features = tf.io.parse_single_example(record, description)
    image = tf.io.decode_jpeg(features["image/encoded"], channels=3)
    image = tf.image.resize(image, (SIDE, SIDE)) / 255
    return image, tf.stack([tf.cast(features["image/label"], tf.int32)])


def residual(x, strides: int):
    """Add two convolutions to what goes past them."""
    layers = tf.keras.layers
    inside = layers.Conv2D(FILTERS, 3, strides, padding="same", use_bias=False)(x)
    inside = tf.nn.relu(layers.BatchNormalization(momentum=0.8)(inside))
    inside = layers.Conv2D(FILTERS, 3, padding="same", use_bias=False)(inside)
    inside = layers.BatchNormalization(momentum=0.8)(inside)
    past = x if strides == 1 else layers.Conv2D(FILTERS, 1, strides, use_bias=False)(x)
    return tf.nn.relu(inside + past)


def make_resnet(num_classes: int):
    """Return a small residual network, ready to learn."""
    tf.keras.utils.set_random_seed(1)
    image = tf.keras.Input((SIDE, SIDE, 3))
    x = tf.keras.layers.Conv2D(FILTERS, 3, 2, padding="same")(image)
    for strides in (1, 2, 2):
        x = residual(x, strides)
    x = tf.keras.layers.Dense(num_classes, activation="softmax")(tf.reduce_mean(x, axis=[1, 2]))
    model = tf.keras.Model(image, x)
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
    model.compile(loss=tf.losses.SparseCategoricalCrossentropy(), optimizer=optimizer, metrics=[Accuracy()])
    return model


def main(folder: Path, epochs: int) -> None:
    """Learn up to a number of epochs in all, from where the last run ended."""
    checkpoints = folder / "ckpt"
    if not checkpoints.is_dir():
        checkpoints.mkdir(parents=True)
        pack(folder)
    train = tf.data.TFRecordDataset(str(folder / "train.tfrecord")).repeat().map(parse)
    train = train.shuffle(buffer_size=TRAIN, seed=7).batch(BATCH).prefetch(tf.data.AUTOTUNE)
    val = tf.data.TFRecordDataset(str(folder / "val.tfrecord")).map(parse).batch(HELD_OUT)

    model = make_resnet(10)
    done = len(list(checkpoints.iterdir()))
    newest = tf.train.latest_checkpoint(str(checkpoints))
    if newest is None:
        print("from scratch")
    else:
        print(f"from {Path(newest).name}")
        model.load_weights(newest)
    callback = tf.keras.callbacks.ModelCheckpoint(
        filepath=str(checkpoints / "ckpt{epoch}-loss{loss:.3f}-accuracy{myaccuracy:.3f}"),
        save_freq="epoch",
        save_weights_only=True,
        monitor="myaccuracy",
        verbose=1,
    )
    model.fit(
        train,
        initial_epoch=done,
        epochs=epochs,
        steps_per_epoch=TRAIN // BATCH,
        validation_data=val,
        validation_steps=1,
        callbacks=[callback],
        verbose=2,
    )
    loss, accuracy = model.evaluate(val, steps=1, verbose=0)
    print(f"{accuracy:.1%} of {HELD_OUT} digits held out were recognized, loss {loss:.3f}")


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp(prefix="resnet-"))
    main(where, int(sys.argv[2]) if len(sys.argv) > 2 else 3)

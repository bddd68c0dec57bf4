"""A program as people wrote it for TensorFlow: pack pictures, feed them, learn, keep weights."""

import hashlib
import os

import numpy as np
import tensorflow as tf

BATCH = 8


def tell(array):
    """Shape, dtype and a hash."""
    array = np.ascontiguousarray(array)
    return array.shape, array.dtype.name, hashlib.sha256(array.tobytes()).hexdigest()[:16]


def scene(number, height, width):
    """Picture with a slope, and a disc whose color tells its class."""
    y, x = np.mgrid[:height, :width]
    inside = (x - width // 2) ** 2 + (y - height // 2) ** 2 < (9 + number % 7) ** 2
    colors = [x + number, y * 2, 90 + 0 * x]
    colors[number % 3] = np.where(inside, 250, colors[number % 3])
    return np.stack(colors, axis=-1).clip(0, 255).astype(np.uint8)


def write(path, numbers):
    """Write an Example for each picture."""
    with tf.io.TFRecordWriter(path) as writer:
        for number in numbers:
            picture = tf.io.encode_png(scene(number, 60 + number % 5, 70 + number % 3)).numpy()
            feature = {
                "image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[picture])),
                "image/label": tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 3])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())


description = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string),
    "image/label": tf.io.FixedLenFeature([], tf.int64),
}


def parse(record):
    features = tf.io.parse_single_example(record, description)
    features["image/encoded"] = tf.io.decode_jpeg(features["image/encoded"], channels=3)
    image = features["image/encoded"]
    image = tf.image.resize(image, (48, 48))
    image = image / 255
    return image, tf.stack([tf.cast(features["image/label"], "int32")])


write("train.tfrecord", range(40))
write("val.tfrecord", range(40, 56))
raw = tf.data.TFRecordDataset("train.tfrecord")
print(sum(1 for _ in raw), tf.train.Example.FromString(next(iter(raw)).numpy()).features.feature["image/label"])

for images, labels in raw.map(parse).batch(BATCH).take(3):
    print(tell(images.numpy()), labels.numpy().ravel().tolist(), images.shape, labels.dtype.name)

train = raw.repeat()
train = train.map(parse)
train = train.shuffle(buffer_size=1024)
train = train.batch(BATCH)
train = train.prefetch(buffer_size=-1)
images, labels = next(iter(train))
print(images.shape, set(labels.numpy().ravel().tolist()) <= {0, 1, 2})
in_order = raw.repeat().map(parse, num_parallel_calls=tf.data.AUTOTUNE).batch(BATCH)
val = tf.data.TFRecordDataset("val.tfrecord").repeat().map(parse).batch(BATCH)


class MySparseAccuracy(tf.keras.metrics.Metric):
    """Share of right answers."""

    def __init__(self, batch, name="myaccuracy"):
        super().__init__(name=name)
        self.batch = batch
        self.right = self.add_weight(name="right", initializer="zeros")
        self.seen = self.add_weight(name="seen", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = tf.argmax(y_pred, axis=1, output_type=tf.int32)
        right = tf.equal(tf.reshape(tf.cast(y_true, tf.int32), [-1]), y_pred)
        self.right.assign_add(tf.reduce_sum(tf.cast(right, tf.float32)))
        self.seen.assign_add(tf.cast(tf.shape(y_pred)[0], tf.float32))

    def result(self):
        return self.right / self.seen


class Net(tf.keras.Model):
    """Convolution, activation, mean, and a layer that chooses."""

    def __init__(self, num_classes):
        super().__init__()
        self.conv = tf.keras.layers.Conv2D(4, 5, strides=4, kernel_initializer=tf.keras.initializers.Constant(0.01))
        self.choose = tf.keras.layers.Dense(num_classes, kernel_initializer="zeros", activation="softmax")

    def call(self, inputs):
        features = tf.nn.relu(self.conv(inputs))
        means = tf.reduce_mean(features, axis=[1, 2])
        return self.choose(tf.concat([means, tf.reduce_mean(inputs, axis=[1, 2])], axis=1))


def make():
    model = Net(3)
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.3)
    model.compile(
        loss=tf.losses.SparseCategoricalCrossentropy(), optimizer=optimizer, metrics=[MySparseAccuracy(BATCH)]
    )
    model(tf.zeros((1, 48, 48, 3)))
    return model


os.makedirs("ckpt1")
print(tf.train.latest_checkpoint("./ckpt1"), tf.train.latest_checkpoint("./nowhere"))
model = make()
callbacks = [
    tf.keras.callbacks.ModelCheckpoint(
        filepath="./ckpt1/ckpt-{epoch}-loss{loss:.2f}.weights.h5",
        save_freq="epoch",
        save_weights_only=True,
        monitor="loss",
        verbose=0,
    )
]
history = model.fit(
    in_order, epochs=3, steps_per_epoch=7, validation_data=val, validation_steps=2, callbacks=callbacks, verbose=0
).history
for name in sorted(history):
    print(name, [f"{value:.3f}" for value in history[name]])
print(sorted(os.listdir("ckpt1")))

again = make()
again.load_weights("./ckpt1/" + max(os.listdir("ckpt1")))
print([f"{value:.3f}" for value in again.evaluate(val, steps=2, verbose=0)])
outputs = again.predict(tf.data.TFRecordDataset("val.tfrecord").map(parse).batch(BATCH), verbose=0)
print(outputs.shape, outputs.argmax(axis=1).tolist())

"""``tf.keras``: training on datasets, checkpoints, and programs' own losses and metrics."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from tests.adapters.conftest import IGNORED_WARNINGS

os.environ.setdefault("KERAS_BACKEND", "jax")
pytestmark = [pytest.mark.deep, *IGNORED_WARNINGS]

ROWS = np.random.default_rng(1).normal(size=(40, 4)).astype(np.float32)
LABELS = (ROWS[:, :1] > 0).astype(np.int64)


def data(batch: int = 8, *, endless: bool = False):
    dataset = tf.data.Dataset.from_tensor_slices((ROWS, LABELS)).batch(batch)
    return dataset.repeat() if endless else dataset


def sequential():
    return tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2, activation="softmax")])


def functional():
    inputs = tf.keras.Input((4,))
    return tf.keras.Model(inputs, tf.keras.layers.Dense(2, activation="softmax")(inputs))


def subclassed():
    class Net(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = tf.keras.layers.Dense(2)

        def call(self, inputs):
            return tf.nn.softmax(self.dense(inputs))

    return Net()


def compiled(make=functional, loss=None):
    tf.keras.utils.set_random_seed(1)
    model = make()
    loss = loss or tf.losses.SparseCategoricalCrossentropy()
    model.compile(tf.optimizers.Adam(0.02), loss, metrics=["accuracy"])
    return model


def weights(model) -> list[list[float]]:
    return [np.asarray(one).tolist() for one in model.get_weights()]


@pytest.mark.parametrize("make", [sequential, functional, subclassed])
def test_fit_on_dataset_equals_fit_on_arrays(make) -> None:
    fed, given = compiled(make), compiled(make)
    history = fed.fit(data(), epochs=3, validation_data=data(), verbose=0).history
    expected = given.fit(ROWS, LABELS, batch_size=8, shuffle=False, epochs=3, verbose=0).history
    assert history["loss"] == pytest.approx(expected["loss"], rel=1e-5)
    np.testing.assert_allclose(fed.get_weights()[0], given.get_weights()[0], rtol=1e-4)
    assert fed.evaluate(data(), verbose=0) == pytest.approx([history["val_loss"][-1], history["val_accuracy"][-1]])
    assert fed.predict(data(), verbose=0).shape == (40, 2)


def test_epochs_of_infinite_dataset_continue_where_the_last_ended() -> None:
    stepped, whole = compiled(), compiled()
    stepped.fit(data(endless=True), epochs=2, steps_per_epoch=5, verbose=0)
    whole.fit(data(), epochs=2, verbose=0)
    assert weights(stepped) == weights(whole)
    uneven = compiled()
    uneven.fit(data(endless=True), epochs=5, steps_per_epoch=2, verbose=0)
    assert weights(uneven) == weights(whole)


def test_validation_on_infinite_dataset_starts_anew_each_time() -> None:
    frozen = compiled()
    frozen.optimizer.learning_rate = 0.0
    options = {"validation_data": data(endless=True), "validation_steps": 2}
    history = frozen.fit(data(), epochs=3, verbose=0, **options).history
    assert len(set(history["val_loss"])) == 1
    first = frozen.evaluate(ROWS[:16], LABELS[:16], verbose=0)
    assert history["val_loss"][0] == pytest.approx(first[0], rel=1e-5)


@pytest.mark.parametrize("method", ["fit", "evaluate", "predict"])
def test_infinite_dataset_without_steps_is_rejected(method) -> None:
    with pytest.raises(ValueError, match="the dataset is infinite; pass steps_per_epoch"):
        getattr(compiled(), method)(data(endless=True), verbose=0)


def test_dataset_with_targets_or_batch_size_is_rejected() -> None:
    model = compiled()
    with pytest.raises(ValueError, match="y must not be given"):
        model.fit(data(), LABELS, verbose=0)
    with pytest.raises(ValueError, match="batch_size must not be given"):
        model.fit(data(), batch_size=4, verbose=0)


def test_class_weight_equals_sample_weight() -> None:
    weighed, given = compiled(), compiled()
    weighed.fit(data(), class_weight={0: 0.5, 1: 3.0}, verbose=0)
    sample_weight = np.where(LABELS[:, 0] == 1, 3.0, 0.5).astype(np.float32)
    given.fit(ROWS, LABELS, sample_weight=sample_weight, batch_size=8, shuffle=False, verbose=0)
    np.testing.assert_allclose(weighed.get_weights()[0], given.get_weights()[0], rtol=1e-4)


def test_methods_on_batch_accept_tensors() -> None:
    rows, labels = tf.constant(ROWS[:8]), tf.constant(LABELS[:8])
    one, other = compiled(), compiled()
    assert one.train_on_batch(rows, labels) == other.train_on_batch(ROWS[:8], LABELS[:8])
    assert one.test_on_batch(rows, labels) == other.test_on_batch(ROWS[:8], LABELS[:8])
    np.testing.assert_array_equal(one.predict_on_batch(rows), other.predict_on_batch(ROWS[:8]))


def test_training_resumed_from_checkpoint_ends_with_same_weights(tmp_path) -> None:
    callback = tf.keras.callbacks.ModelCheckpoint(
        filepath=f"{tmp_path}/ckpt-loss{{loss:.2f}}resnet_accuracy{{accuracy:.3f}}",
        save_freq="epoch",
        save_weights_only=True,
        monitor="accuracy",
    )
    whole, stopped = compiled(), compiled()
    whole.fit(data(), epochs=4, verbose=0)
    history = stopped.fit(data(), epochs=2, verbose=0, callbacks=[callback]).history
    newest = tf.train.latest_checkpoint(tmp_path)
    last = f"ckpt-loss{history['loss'][-1]:.2f}resnet_accuracy{history['accuracy'][-1]:.3f}.weights.h5"
    assert os.path.basename(newest) == last
    resumed = compiled()
    resumed.load_weights(newest)
    resumed.fit(data(), initial_epoch=2, epochs=4, verbose=0)
    assert weights(resumed) == weights(whole)


def test_checkpoint_infers_mode_from_name_of_metric(tmp_path) -> None:
    class Rising(tf.keras.metrics.Metric):
        def __init__(self) -> None:
            super().__init__(name="myaccuracy")
            self.count = self.add_weight(name="count", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None) -> None:
            self.count.assign_add(tf.reduce_mean(tf.cast(tf.greater_equal(y_pred, 0.0), tf.float32)))

        def result(self):
            return tf.identity(self.count)

        def reset_state(self) -> None:
            pass

    model = compiled()
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=[Rising()])
    path = str(tmp_path / "{epoch}")
    best = tf.keras.callbacks.ModelCheckpoint(path, monitor="myaccuracy", save_best_only=True, save_weights_only=True)
    model.fit(data(), epochs=2, verbose=0, callbacks=[best])
    assert sorted(os.listdir(tmp_path)) == ["1.weights.h5", "2.weights.h5"]


def test_checkpoint_of_model_is_loaded_by_keras(tmp_path) -> None:
    model = compiled()
    model.fit(data(), verbose=0, callbacks=[tf.keras.callbacks.ModelCheckpoint(str(tmp_path / "m{epoch}"))])
    found = tf.train.latest_checkpoint(tmp_path)
    assert found == str(tmp_path / "m1.keras")
    assert weights(tf.keras.models.load_model(found)) == weights(model)
    with pytest.raises(TypeError, match="options"):
        tf.keras.callbacks.ModelCheckpoint("a", options=object())


def test_loss_of_tensorflow_operations_has_gradients() -> None:
    def loss(y_true, y_pred):
        hot = tf.one_hot(tf.squeeze(tf.cast(y_true, tf.int32), axis=-1), 2)
        return -tf.reduce_mean(tf.reduce_sum(hot * tf.math.log(y_pred + 1e-7), axis=-1))

    ours = compiled(loss=loss).fit(data(), epochs=2, verbose=0).history["loss"]
    theirs = compiled().fit(data(), epochs=2, verbose=0).history["loss"]
    assert ours == pytest.approx(theirs, rel=1e-4) and ours[1] < ours[0]


def test_operation_without_keras_function_is_rejected_by_name() -> None:
    inputs = tf.keras.Input((4,))
    assert tf.reduce_mean(inputs, axis=1).shape == (None,)
    with pytest.raises(
        NotImplementedError, match=r"operation 'array.unstack' is not supported on tensors of Keras's backend"
    ):
        tf.unstack(inputs)


def test_modules_below_tf_keras_are_those_of_keras() -> None:
    import keras
    from recordmill.compat.tensorflow.keras.applications import resnet50
    from recordmill.compat.tensorflow.keras.layers import Dense

    assert Dense is keras.layers.Dense and resnet50.ResNet50 is keras.applications.resnet50.ResNet50
    assert tf.keras.Model is keras.Model and tf.losses.MeanSquaredError is keras.losses.MeanSquaredError
    assert tf.keras.backend.floatx is keras.backend.floatx
    with pytest.raises(AttributeError, match=r"tf\.keras\.backend\.sum is not supported; use tf\.keras\.ops"):
        tf.keras.backend.sum  # noqa: B018
    assert tf.losses.Reduction.NONE == "none"
    assert tf.keras.callbacks.EarlyStopping is keras.callbacks.EarlyStopping
    assert issubclass(tf.keras.callbacks.ModelCheckpoint, keras.callbacks.ModelCheckpoint)
    with pytest.raises(ModuleNotFoundError, match="nothing_of_that_name"):
        __import__("recordmill.compat.tensorflow.keras.nothing_of_that_name")
    assert "tensorflow" not in sys.modules


def test_legacy_modules_of_keras_are_available() -> None:
    from recordmill.compat.tensorflow.keras.preprocessing.image import ImageDataGenerator
    from recordmill.compat.tensorflow.keras.preprocessing.text import Tokenizer

    words = Tokenizer()
    words.fit_on_texts(["the cat", "the dog"])
    padded = tf.keras.preprocessing.sequence.pad_sequences(words.texts_to_sequences(["the dog", "cat"]), padding="post")
    assert padded.tolist() == [[1, 3], [2, 0]]
    assert len(tf.keras.preprocessing.sequence.skipgrams([1, 2, 3], 4, 1, negative_samples=0, seed=1)[0]) == 4
    images = ImageDataGenerator(rescale=0.5).flow(np.ones((4, 8, 8, 3)), np.arange(4), batch_size=2, shuffle=False)
    assert images[0][0].mean() == 0.5 and tf.keras.preprocessing.image is not None
    assert "tensorflow" not in sys.modules


def test_metric_may_return_variable() -> None:
    class Positives(tf.keras.metrics.Metric):
        def __init__(self, name="positives", **kwargs) -> None:
            super().__init__(name=name, **kwargs)
            self.total = self.add_weight(name="total", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.total.assign_add(tf.reduce_sum(tf.cast(y_true, tf.float32)))

        def result(self):
            return self.total

    model = functional()
    model.compile("sgd", tf.losses.SparseCategoricalCrossentropy(), metrics=[Positives()])
    assert model.fit(data(), epochs=2, verbose=0).history["positives"] == [LABELS.sum()] * 2
    assert model.evaluate(data(), verbose=0)[1] == LABELS.sum()

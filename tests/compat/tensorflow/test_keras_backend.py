"""tf.keras.backend: the functions that programs call K.sum, K.dot or K.clip, in pipelines and in losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.keras import backend as K  # noqa: N812 (their name for it)

MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)


def listed(tensor: Any) -> Any:
    return np.asarray(tensor.numpy()).tolist()


def test_functions_when_called_on_tensors_then_have_the_arguments_of_keras() -> None:
    matrix = tf.constant(MATRIX)
    assert tf.keras.backend is K and listed(K.sum(matrix, axis=-1, keepdims=True)) == [[3], [12]]
    assert listed(K.dot(matrix, tf.transpose(matrix))) == (MATRIX @ MATRIX.T).tolist()
    assert listed(K.dot(tf.ones([2, 2, 3]), tf.ones([3, 1]))) == [[[3], [3]], [[3], [3]]]
    assert listed(K.clip(matrix, 1, 4)) == [[1, 1, 2], [3, 4, 4]] and listed(K.clip(matrix, None, 1))[1] == [1, 1, 1]
    assert listed(K.argmax(matrix)) == [2, 2] == listed(2 - K.argmin(matrix))
    assert listed(K.mean(K.equal(matrix, 3.0))) == pytest.approx(1 / 6) and listed(K.mean(matrix, 0)) == [1.5, 2.5, 3.5]
    assert listed(K.concatenate([matrix, matrix])) == np.concatenate([MATRIX, MATRIX], -1).tolist()
    assert listed(K.flatten(matrix)) == listed(K.batch_flatten(tf.reshape(matrix, [1, 2, 3])))[0] == [*range(6)]
    assert K.int_shape(K.expand_dims(matrix)) == (2, 3, 1) and K.ndim(K.squeeze(K.expand_dims(matrix, 0), 0)) == 2
    assert listed(K.sqrt(tf.constant([-1.0, 4.0]))) == [0, 2] and K.dtype(matrix) == "float32"
    assert listed(K.arange(2, 5)) == [2, 3, 4] == listed(K.arange(5))[2:] and K.get_value(matrix).shape == (2, 3)
    assert listed(K.permute_dimensions(matrix, (1, 0))) == MATRIX.T.tolist()
    assert listed(K.repeat_elements(matrix, 2, 0)) == MATRIX.repeat(2, 0).tolist()
    assert listed(K.switch(tf.constant(True), lambda: matrix, 0.0)) == MATRIX.tolist()
    assert listed(K.max(K.abs(-matrix))) == 5 and listed(K.cast(K.any(matrix > 4), "int32")) == 1
    K.set_random_seed(3)
    first = listed(K.random_uniform([2], dtype="float32")), listed(K.random_normal([2], dtype="float64"))
    K.set_random_seed(3)
    assert first == (listed(K.random_uniform([2], dtype="float32")), listed(K.random_normal([2], dtype="float64")))
    tf.random.set_seed(None)


def test_rotation_when_written_with_the_backend_then_runs_in_map() -> None:
    def turned(image):
        turn = tf.constant([[0.0, 1.0], [-1.0, 0.0]])
        rows, columns = tf.repeat(tf.range(1, -1, -1), 2), tf.tile(tf.range(-1, 1), [2])
        places = K.cast(K.dot(turn, K.cast(tf.stack([rows, columns]), "float32")), "int32")
        places = K.clip(places, -1, 1)
        found = tf.gather_nd(image, tf.transpose(tf.stack([1 - K.clip(places[0], 0, 1), places[1] + 1]) % 2))
        return tf.reshape(found, [2, 2, 3])

    images = tf.data.Dataset.from_tensor_slices(np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3)).map(turned)
    assert [one.shape for one in images.batch(2)] == [[2, 2, 2, 3]]


def test_settings_of_tensorflow_when_they_change_no_result_then_are_taken() -> None:
    tf.config.optimizer.set_jit(True)
    tf.config.optimizer.set_experimental_options({"auto_mixed_precision": True})
    tf.config.experimental.enable_op_determinism()
    tf.config.set_soft_device_placement(True)
    tf.debugging.set_log_device_placement(False)
    tf.debugging.disable_traceback_filtering()
    tf.config.experimental_run_functions_eagerly(False)
    assert tf.config.optimizer.get_jit() == "autoclustering" and tf.config.get_soft_device_placement()
    assert tf.config.optimizer.get_experimental_options() == {"auto_mixed_precision": True}
    with pytest.raises(AttributeError, match="no attribute 'set_jitt'"):
        _ = tf.config.optimizer.set_jitt


@pytest.mark.deep
def test_losses_when_written_with_the_backend_then_train() -> None:
    def dice(true, found):
        true, found = K.flatten(K.cast(true, K.floatx())), K.flatten(found)
        return 1 - (2 * K.sum(true * found) + 1) / (K.sum(true) + K.sum(found) + K.epsilon())

    def both(true, found):
        return dice(true, found) + K.mean(K.binary_crossentropy(true, K.clip(found, K.epsilon(), 1 - K.epsilon())))

    model = tf.keras.Sequential([tf.keras.layers.Input((3,)), tf.keras.layers.Dense(1, activation="sigmoid")])
    model.compile("sgd", loss=both, metrics=[dice])
    data = tf.data.Dataset.from_tensor_slices((MATRIX, [[0.0], [1.0]])).batch(2)
    history = model.fit(data, epochs=3, verbose=0).history
    assert history["loss"][-1] < history["loss"][0] and np.isfinite(history["dice"]).all()

    class Focal(tf.losses.Loss):
        def call(self, true, found):
            entropy = tf.nn.sigmoid_cross_entropy_with_logits(labels=true, logits=found)
            return tf.reduce_sum(tf.pow(1.0 - tf.nn.sigmoid(found), 2.0) * entropy + tf.nn.gelu(found), axis=-1)

    model.compile("sgd", loss=Focal())
    assert np.isfinite(model.fit(data, epochs=2, verbose=0).history["loss"]).all()
    assert listed(K.constant([1, 2])) == [1, 2] and K.constant([1, 2]).dtype == tf.float32
    assert listed(K.eye(2)) == [[1, 0], [0, 1]]

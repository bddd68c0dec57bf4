"""``tf.config`` and ``tf.debugging``: settings that change no result are accepted."""

from __future__ import annotations

import pytest

import recordmill.compat.tensorflow as tf


def test_settings_without_effect_are_accepted() -> None:
    tf.config.optimizer.set_jit(True)
    tf.config.optimizer.set_experimental_options({"auto_mixed_precision": True})
    tf.config.experimental.enable_op_determinism()
    tf.config.set_soft_device_placement(True)
    tf.debugging.set_log_device_placement(False)
    tf.debugging.disable_traceback_filtering()
    assert tf.data.experimental.get_structure(tf.data.Dataset.range(3)) == tf.TensorSpec([], tf.int64)
    with pytest.raises(TypeError, match="a Dataset or an Iterator"):
        tf.data.experimental.get_structure(3)
    tf.config.experimental_run_functions_eagerly(False)
    assert tf.config.optimizer.get_jit() == "autoclustering" and tf.config.get_soft_device_placement()
    assert tf.config.optimizer.get_experimental_options() == {"auto_mixed_precision": True}
    with pytest.raises(AttributeError, match="no attribute 'set_jitt'"):
        _ = tf.config.optimizer.set_jitt

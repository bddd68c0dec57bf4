"""tf.distribute: strategies of one replica change nothing."""

from __future__ import annotations

from typing import Any

import pytest

import recordmill.compat.tensorflow as tf


@pytest.mark.parametrize(
    "make_strategy",
    [
        tf.distribute.MirroredStrategy,
        lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
        tf.distribute.get_strategy,
    ],
)
def test_strategy_of_one_replica_changes_nothing(make_strategy: Any) -> None:
    def make_data(context: Any) -> Any:
        assert context.get_per_replica_batch_size(6) == 6
        return tf.data.Dataset.range(4).shard(context.num_input_pipelines, context.input_pipeline_id)

    strategy = make_strategy()
    with strategy.scope():
        data = strategy.distribute_datasets_from_function(make_data)
    assert [int(one) for one in strategy.experimental_distribute_dataset(data)] == [0, 1, 2, 3]
    assert strategy.num_replicas_in_sync == 1 and strategy.run(lambda x, y=0: x + y, (2,), {"y": 3}) == 5
    assert strategy.experimental_local_results(7) == (7,)
    assert float(strategy.reduce("SUM", tf.constant([1.0, 2.0]), axis=0)) == 3
    assert float(strategy.reduce("MEAN", tf.constant(5.0), axis=None)) == 5
    with pytest.raises(ValueError, match="reduce_op"):
        strategy.reduce("MAX", tf.constant([1.0]), axis=0)


def test_several_devices_are_rejected() -> None:
    with pytest.raises(NotImplementedError, match="only one device is supported, got 2"):
        tf.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"])
    with pytest.raises(NotImplementedError, match="TPU"):
        tf.distribute.TPUStrategy()
    with pytest.raises(AttributeError, match="get_strategy"):
        _ = tf.distribute.MultiWorkerMirroredStrategy
    assert not tf.distribute.has_strategy()


def test_input_context_rejects_batch_size_that_does_not_divide() -> None:
    assert tf.distribute.InputContext(2, 0, 2).get_per_replica_batch_size(6) == 3
    with pytest.raises(ValueError, match="must be divisible by the number of replicas, got 5 and 2"):
        tf.distribute.InputContext(2, 0, 2).get_per_replica_batch_size(5)

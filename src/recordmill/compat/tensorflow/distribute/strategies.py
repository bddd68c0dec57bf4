"""Strategies of one replica: what TensorFlow makes of them on a machine without graphics processors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from recordmill.compat.tensorflow.core.tensor import as_tensor
from recordmill.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class InputContext:
    """Which part of the data a pipeline is to read: all of it, here."""

    num_input_pipelines: int = 1
    input_pipeline_id: int = 0
    num_replicas_in_sync: int = 1

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Rows of a batch that each replica gets."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by `num_replicas_in_sync` "
                f"{self.num_replicas_in_sync}"
            )
        return global_batch_size // self.num_replicas_in_sync


class Strategy:
    """The default strategy: one replica."""

    num_replicas_in_sync = 1

    def scope(self) -> contextlib.AbstractContextManager[Strategy]:
        """Context in which a model is made; nothing changes in it."""
        return contextlib.nullcontext(self)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Return the data set itself: there is one replica."""
        del options
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Callable[[InputContext], Any], options: Any = None) -> Any:
        """Return the data set that a function makes for the only pipeline."""
        del options
        return dataset_fn(InputContext())

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Call a function, for the only replica."""
        del options
        return fn(*args, **(kwargs or {}))

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Values of all replicas: one."""
        return (value,)

    def gather(self, value: Any, axis: int) -> Any:
        """Values of all replicas, one behind the other: those of the only one."""
        del axis
        return as_tensor(value)

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """Sum or mean over replicas, and over an axis if there is one."""
        from recordmill.compat.tensorflow.core.dispatch import run

        kind = str(getattr(reduce_op, "name", reduce_op)).lower()
        if kind not in ("sum", "mean"):
            raise ValueError(f"reduce_op is 'SUM' or 'MEAN', not {reduce_op!r}")
        return as_tensor(value) if axis is None else run(f"math.reduce_{kind}", value, axis)


class MirroredStrategy(Strategy):
    """One replica, as this package works on processors only."""

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: Any = None) -> None:
        del cross_device_ops
        if devices is not None and not isinstance(devices, str) and len(devices) > 1:
            raise NotImplementedError(
                f"tf.distribute.MirroredStrategy of {len(devices)} devices is not supported: divide the data with "
                "Dataset.shard and train with JAX or PyTorch"
            )


class OneDeviceStrategy(Strategy):
    """One replica, on whatever device Keras chooses."""

    def __init__(self, device: str) -> None:
        del device

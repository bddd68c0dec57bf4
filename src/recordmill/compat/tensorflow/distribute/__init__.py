"""``tf.distribute``: strategies with one replica, like TensorFlow's on a machine without GPUs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from recordmill.compat.tensorflow.core.absent import make_absent_getattr
from recordmill.compat.tensorflow.core.dispatch import call_operation
from recordmill.compat.tensorflow.core.tensor import as_tensor

__all__ = [
    "InputContext",
    "MirroredStrategy",
    "OneDeviceStrategy",
    "Strategy",
    "TPUStrategy",
    "get_strategy",
    "has_strategy",
]
__getattr__ = make_absent_getattr(__name__)


@dataclass(frozen=True, slots=True)
class InputContext:
    """``tf.distribute.InputContext``: the part of the data that a pipeline reads; by default, all data."""

    num_input_pipelines: int = 1
    input_pipeline_id: int = 0
    num_replicas_in_sync: int = 1

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Return the batch size of each replica."""
        if global_batch_size % self.num_replicas_in_sync:
            replicas = self.num_replicas_in_sync
            raise ValueError(
                f"global_batch_size must be divisible by the number of replicas, got {global_batch_size} and {replicas}"
            )
        return global_batch_size // self.num_replicas_in_sync


class Strategy:
    """``tf.distribute.Strategy``: the default strategy, with one replica."""

    num_replicas_in_sync = 1

    def scope(self) -> contextlib.AbstractContextManager[Strategy]:
        """Return a context manager without effect."""
        return contextlib.nullcontext(self)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Return the dataset itself."""
        del options
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Callable[[InputContext], Any], options: Any = None) -> Any:
        """Return ``dataset_fn(InputContext())``, because there is only one pipeline."""
        del options
        return dataset_fn(InputContext())

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Return ``fn(*args, **kwargs)``, computed by the only replica."""
        del options
        return fn(*args, **(kwargs or {}))

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Return a tuple with the value of the only replica."""
        return (value,)

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """Return the sum or mean over `axis`; without an axis, return the value itself, as there is one replica."""
        kind = str(getattr(reduce_op, "name", reduce_op)).lower()
        if kind not in ("sum", "mean"):
            raise ValueError(f"reduce_op must be 'SUM' or 'MEAN', got {reduce_op!r}")
        return as_tensor(value) if axis is None else call_operation(f"math.reduce_{kind}", value, axis)


class MirroredStrategy(Strategy):
    """``tf.distribute.MirroredStrategy`` with one replica; several devices are not supported."""

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: Any = None) -> None:
        del cross_device_ops
        if devices is not None and not isinstance(devices, str) and len(devices) > 1:
            raise NotImplementedError(
                f"only one device is supported, got {len(devices)}; run one process per device, and use Dataset.shard"
            )


class OneDeviceStrategy(Strategy):
    """``tf.distribute.OneDeviceStrategy``; the device has no effect."""

    def __init__(self, device: str) -> None:
        del device


class TPUStrategy:
    """``tf.distribute.TPUStrategy``: exists so that programs can refer to it; creating one raises an error."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("TPUs are not supported: use tf.distribute.get_strategy()")


_DEFAULT = Strategy()


def get_strategy() -> Strategy:
    """``tf.distribute.get_strategy``: return the default strategy."""
    return _DEFAULT


def has_strategy() -> bool:
    """``tf.distribute.has_strategy``: return False, because the default strategy is always in use."""
    return False

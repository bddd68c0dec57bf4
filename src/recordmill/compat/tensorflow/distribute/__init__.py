"""``tf.distribute``: strategies of one replica, as on a machine without GPUs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from recordmill.compat.tensorflow.core.absent import absent
from recordmill.compat.tensorflow.core.dispatch import run
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
__getattr__ = absent(__name__)


@dataclass(frozen=True, slots=True)
class InputContext:
    """Part of the data that a pipeline reads: all of it, by default."""

    num_input_pipelines: int = 1
    input_pipeline_id: int = 0
    num_replicas_in_sync: int = 1

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Return the batch size of each replica."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(f"{global_batch_size} cannot be divided by {self.num_replicas_in_sync} replicas")
        return global_batch_size // self.num_replicas_in_sync


class Strategy:
    """The default strategy: one replica."""

    num_replicas_in_sync = 1

    def scope(self) -> contextlib.AbstractContextManager[Strategy]:
        """Return a context manager without effect."""
        return contextlib.nullcontext(self)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Return the dataset itself."""
        del options
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Callable[[InputContext], Any], options: Any = None) -> Any:
        """Return the dataset that a function makes for the only pipeline."""
        del options
        return dataset_fn(InputContext())

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Call a function."""
        del options
        return fn(*args, **(kwargs or {}))

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Return the values of all replicas."""
        return (value,)

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """Return the sum or mean over an axis, if there is one."""
        kind = str(getattr(reduce_op, "name", reduce_op)).lower()
        if kind not in ("sum", "mean"):
            raise ValueError(f"reduce_op must be 'SUM' or 'MEAN', got {reduce_op!r}")
        return as_tensor(value) if axis is None else run(f"math.reduce_{kind}", value, axis)


class MirroredStrategy(Strategy):
    """Strategy of one replica; several devices are not supported."""

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: Any = None) -> None:
        del cross_device_ops
        if devices is not None and not isinstance(devices, str) and len(devices) > 1:
            raise NotImplementedError(f"{len(devices)} devices are not supported: use Dataset.shard")


class OneDeviceStrategy(Strategy):
    """Strategy of one replica."""

    def __init__(self, device: str) -> None:
        del device


class TPUStrategy:
    """Not supported; the name exists so that programs can refer to it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("TPUs are not supported: use tf.distribute.get_strategy()")


_DEFAULT = Strategy()


def get_strategy() -> Strategy:
    """Return the strategy in use."""
    return _DEFAULT


def has_strategy() -> bool:
    """Return whether a strategy other than the default one is in use."""
    return False

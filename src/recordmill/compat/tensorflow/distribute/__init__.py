"""``tf.distribute``: the strategy of programs that found nothing to distribute to."""

from __future__ import annotations

from typing import Any, NoReturn

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.distribute.strategies import (
    InputContext,
    MirroredStrategy,
    OneDeviceStrategy,
    Strategy,
)

__all__ = ["InputContext", "MirroredStrategy", "OneDeviceStrategy", "Strategy", "get_strategy", "has_strategy"]

_REFUSED = ("CentralStorageStrategy", "MultiWorkerMirroredStrategy", "ParameterServerStrategy", "TPUStrategy")
_modules, _names = lazy(__name__, {}, {"cluster_resolver": "distribute.cluster_resolver"})


_DEFAULT = Strategy()


def get_strategy() -> Strategy:
    """Strategy in use."""
    return _DEFAULT


def has_strategy() -> bool:
    """Whether another strategy than the default one is in use."""
    return False


def _refused(name: str) -> NoReturn:
    raise NotImplementedError(
        f"tf.distribute.{name} is not supported: use tf.distribute.get_strategy(), which trains in this process, or "
        "divide the data with Dataset.shard and train with JAX or PyTorch"
    )


def __getattr__(name: str) -> Any:
    """Refuse strategies when they are made, so that what stands beside them is not in the way."""
    if name in _REFUSED:
        return lambda *args, **kwargs: _refused(name)  # noqa: ARG005
    return _modules(name)


def __dir__() -> list[str]:
    return sorted({*_names(), *__all__})

"""Options of data sets: TensorFlow's hints, none of which changes elements or their order here."""

from __future__ import annotations

from typing import Any

_GROUPS: dict[str, tuple[str, ...]] = {
    "autotune": ("autotune_algorithm", "cpu_budget", "enabled", "initial_parallelism", "ram_budget"),
    "experimental_distribute": ("auto_shard_policy", "num_devices"),
    "experimental_optimization": (
        *("apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch"),
        *("map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization", "noop_elimination"),
        *("parallel_batch", "seq_interleave_prefetch", "shuffle_and_repeat_fusion"),
    ),
    "experimental_service": ("pinned",),
    "threading": ("max_intra_op_parallelism", "private_threadpool_size"),
}
_PLAIN = (
    *("dataset_name", "deterministic", "experimental_external_state_policy", "experimental_slack"),
    *("experimental_symbolic_checkpoint", "experimental_warm_start", "framework_type"),
)
_SAME = {"experimental_deterministic": "deterministic", "experimental_threading": "threading"}


class _Group:
    """Options of one subject; those that were not set are None."""

    _names: tuple[str, ...]

    def __init__(self, names: tuple[str, ...]) -> None:
        object.__setattr__(self, "_names", names)
        for name in names:
            object.__setattr__(self, name, None)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Group) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class ThreadingOptions(_Group):
    """How many threads TensorFlow would use."""

    def __init__(self) -> None:
        super().__init__(_GROUPS["threading"])


class Options(_Group):
    """Options of a data set. Order is always deterministic here; the number of threads is ours to choose."""

    autotune: Any
    threading: Any

    def __init__(self) -> None:
        super().__init__((*_PLAIN, *_GROUPS))
        for name, inside in _GROUPS.items():
            object.__setattr__(self, name, ThreadingOptions() if name == "threading" else _Group(inside))

    def __getattr__(self, name: str) -> Any:
        """Older names of the same options."""
        if name in _SAME:
            return getattr(self, _SAME[name])
        raise AttributeError(f"'Options' object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a known option."""
        super().__setattr__(_SAME.get(name, name), value)

    def merge(self, options: Options) -> Options:
        """Options of both; those of the other one win."""
        merged = Options()
        for source in (self, options):
            for name in _PLAIN:
                _take(merged, source, name)
            for group, names in _GROUPS.items():
                for name in names:
                    _take(getattr(merged, group), getattr(source, group), name)
        return merged


def _take(target: Any, source: Any, name: str) -> None:
    value = getattr(source, name)
    if value is not None:
        setattr(target, name, value)

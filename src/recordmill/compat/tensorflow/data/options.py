"""``tf.data.Options``: accepted for compatibility; no option changes elements or their order."""

from __future__ import annotations

from typing import Any

# Groups of options and the options of each, as in TensorFlow 2.21; "" holds the options of `Options` itself.
_NAMES: dict[str, str] = {
    "": "dataset_name deterministic experimental_external_state_policy experimental_slack "
    "experimental_symbolic_checkpoint experimental_warm_start framework_type",
    "autotune": "autotune_algorithm cpu_budget enabled initial_parallelism ram_budget",
    "experimental_distribute": "auto_shard_policy num_devices",
    "experimental_optimization": "apply_default_optimizations autotune autotune_buffers filter_fusion "
    "filter_parallelization inject_prefetch map_and_batch_fusion map_and_filter_fusion map_fusion "
    "map_parallelization noop_elimination parallel_batch seq_interleave_prefetch shuffle_and_repeat_fusion",
    "experimental_service": "pinned",
    "threading": "max_intra_op_parallelism private_threadpool_size",
}
_ALIASES = {"experimental_deterministic": "deterministic", "experimental_threading": "threading"}


class _OptionGroup:
    """Options that are None until they are set; setting an unknown one raises."""

    def __init__(self, group: str) -> None:
        vars(self).update(dict.fromkeys(_NAMES[group].split()))

    def __setattr__(self, name: str, value: Any) -> None:
        name = _ALIASES.get(name, name)
        if name not in vars(self):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        vars(self)[name] = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OptionGroup) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class Options(_OptionGroup):
    """Options of a dataset."""

    def __init__(self) -> None:
        super().__init__("")
        vars(self).update({group: _OptionGroup(group) for group in _NAMES if group})

    def __getattr__(self, name: str) -> Any:
        """Resolve older names of options."""
        if name in _ALIASES:
            return getattr(self, _ALIASES[name])
        raise AttributeError(f"'Options' object has no attribute {name!r}")

    def merge(self, options: Options) -> Options:
        """Return the options of both; those of the argument take precedence."""
        merged = Options()
        for source in (self, options):
            _copy_set(source, merged)
            for group in filter(None, _NAMES):
                _copy_set(getattr(source, group), getattr(merged, group))
        return merged


def _copy_set(source: _OptionGroup, target: _OptionGroup) -> None:
    for name, value in vars(source).items():
        if value is not None and not isinstance(value, _OptionGroup):
            setattr(target, name, value)

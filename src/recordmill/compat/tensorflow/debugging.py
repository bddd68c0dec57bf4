"""``tf.debugging``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

# module: the names that come from it
MEMBERS = table(
    {
        "ops.asserting": "Assert assert_all_finite assert_equal assert_greater assert_greater_equal assert_less "
        "assert_less_equal assert_near assert_negative assert_non_negative assert_non_positive "
        "assert_none_equal assert_positive check_numerics",
        "ops.asserting_shapes": "assert_integer assert_rank assert_rank_at_least assert_rank_in "
        "assert_same_float_dtype assert_scalar assert_shapes assert_type is_numeric_tensor",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)


def set_log_device_placement(enabled: bool) -> None:
    """Nothing: there is one kind of device."""
    del enabled


def enable_traceback_filtering() -> None:
    """Nothing: tracebacks are whole."""


disable_traceback_filtering = enable_traceback_filtering

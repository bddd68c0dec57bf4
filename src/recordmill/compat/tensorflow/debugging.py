"""``tf.debugging``: assertions on values and shapes."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes, map_names_to_sources

MEMBERS = map_names_to_sources(
    {
        "@debugging": "Assert assert_equal assert_greater assert_greater_equal assert_less assert_less_equal "
        "assert_negative assert_non_negative assert_non_positive assert_none_equal assert_positive assert_shapes "
        "check_numerics",
    }
)
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS)

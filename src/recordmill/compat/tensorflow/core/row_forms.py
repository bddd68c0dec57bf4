"""What operations do to ragged and sparse tensors: the table, and how a call is told to hold one.

An entry names the function that is called instead of the operation: with the operation itself, then its arguments.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow.core.composite import Composite

# Done to each value by itself; other arguments are the same for all.
_VALUES = (
    "array.identity array.ones_like array.saturate_cast array.zeros_like image.convert_image_dtype math.abs "
    "math.ceil math.clip_by_value math.cos math.exp math.expm1 math.floor math.invert math.is_finite math.is_inf "
    "math.is_nan math.log math.log1p math.logical_not math.negative math.reciprocal math.rint math.round math.rsqrt "
    "math.sigmoid math.sign math.sin math.sqrt math.square math.tan math.tanh nn.leaky_relu nn.relu nn.relu6 "
    "strings.as_string strings.decode_base64 strings.encode_base64 strings.length strings.lower "
    "strings.regex_full_match strings.regex_replace strings.strip strings.substr strings.to_hash_bucket "
    "strings.to_hash_bucket_fast strings.to_hash_bucket_strong strings.to_number strings.unicode_transcode "
    "strings.upper io.decode_raw"
)
# Done to the values of two or three tensors that broadcast.
_PAIRS = (
    "array.where bitwise.and bitwise.or bitwise.xor math.add math.and math.atan2 math.divide math.divide_no_nan "
    "math.equal math.equal_or_false math.floordiv math.floormod math.greater math.greater_equal math.less "
    "math.less_equal math.logical_and math.logical_or math.logical_xor math.maximum math.minimum math.multiply "
    "math.multiply_no_nan math.not_equal math.not_equal_or_true math.or math.pow math.squared_difference "
    "math.subtract math.truediv math.truncatediv math.truncatemod math.xor"
)
_REDUCTIONS = "reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum"
FORMS: dict[str, str] = {
    **dict.fromkeys(_VALUES.split(), "ops.ragged_values:of_values"),
    **dict.fromkeys(_PAIRS.split(), "ops.ragged_values:of_pairs"),
    **{f"math.{name}": f"ops.ragged_reducing:{name}" for name in _REDUCTIONS.split()},
    "array.concat": "ops.ragged_joining:concat",
    "array.expand_dims": "ops.ragged_joining:expand_dims",
    "array.gather": "ops.ragged_joining:gather",
    "array.one_hot": "ops.ragged_values:one_hot",
    "array.rank": "ops.ragged_values:rank",
    "array.reverse": "ops.ragged_joining:reverse",
    "array.size": "ops.ragged_values:size",
    "array.split": "ops.ragged_shares:split",
    "array.stack": "ops.ragged_joining:stack",
    "array.tile": "ops.ragged_shares:tile",
    "lookup.find": "ops.ragged_values:found",
    "lookup.changing_find": "ops.ragged_values:found",
    "math.reduce_std": "ops.ragged_shares:reduce_std",
    "math.reduce_variance": "ops.ragged_shares:reduce_variance",
    "nn.softmax": "ops.ragged_shares:softmax",
    "strings.bytes_split": "ops.ragged_values:of_deeper_values",
    "strings.join": "ops.ragged_values:strings_joined",
    "strings.reduce_join": "ops.ragged_values:strings_of_rows",
    "strings.split": "ops.ragged_values:of_deeper_values",
    "strings.unicode_decode": "ops.ragged_values:of_deeper_values",
    "strings.unicode_split": "ops.ragged_values:of_deeper_values",
}
_PACKAGE = "recordmill.compat.tensorflow"


def held_in(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether arguments hold a ragged or sparse tensor, also in a list."""
    for one in (*args, *kwargs.values()):
        if isinstance(one, Composite):
            return True
        if type(one) in (list, tuple) and any(isinstance(inner, Composite) for inner in one):
            return True
    return False


@functools.cache
def form_of(name: str) -> Callable[..., Any]:
    """Find what an operation does to them."""
    place, _, function = FORMS[name].partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(f"{_PACKAGE}.{place}"), function)
    return found

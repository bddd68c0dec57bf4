"""What TensorFlow's graphs compute otherwise where they do not know how large an image is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.data.recorded import recorded_in
from recordmill.compat.tensorflow.data.structures import leaves
from recordmill.compat.tensorflow.ops.specs import TensorSpec

# Operations whose arguments may all be values, and those whose results are as long as values say.
_TAKE_SEVERAL = frozenset({"array.stack", "array.concat"})
_SIZED_BY_VALUES = frozenset(
    f"array.{name}"
    for name in (
        *("range", "fill", "zeros", "ones", "boolean_mask", "where", "unique", "unique_with_counts", "repeat"),
        *("dynamic_partition", "dynamic_stitch"),
    )
)
_COUNTS = frozenset({"math.bincount", *(f"math.segment_{name}" for name in ("max", "mean", "min", "prod", "sum"))})


def are_fixed(spec: Any) -> bool:
    """Whether all elements have one size, and hold no strings that become images of any size."""
    return all(
        isinstance(leaf, TensorSpec)
        and leaf.dtype != dtypes.string
        and leaf.shape.rank is not None
        and None not in leaf.shape.as_list()
        for leaf in leaves(spec)
    )


def keeps_sizes(calls: Iterable[Any]) -> bool:
    """Whether calls give results of one size for arguments of one size."""
    return all(map(_keeps_size, calls))


def _keeps_size(call: Any) -> bool:
    name = str(call.name)
    if name.startswith("math.") or name in _TAKE_SEVERAL:
        return name not in _COUNTS
    by_values = name in _SIZED_BY_VALUES or not name.startswith(("array.", "image.", "nn."))
    return not by_values and next(recorded_in((call.args[1:], call.kwargs)), None) is None


def told(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], *, fixed: bool
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of a call as a graph has them."""
    if name != "image.central_crop" or len(args) + len(kwargs) != 2:
        return args, kwargs
    image = args[0] if args else kwargs.get("image")
    fraction = args[1] if len(args) > 1 else kwargs.get("central_fraction")
    if type(fraction) is not float or _is_known(getattr(image, "spec", None), fixed):
        return args, kwargs
    return (image, np.float32(fraction)), {}


def _is_known(spec: TensorSpec | None, fixed: bool) -> bool:
    if spec is None or spec.shape.rank is None:
        return fixed
    return None not in spec.shape.as_list()[-3:-1]

"""Infer the dtypes and shapes of symbolic tensors, for `element_spec` and `shape`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.io.csv_lines import column_dtype
from recordmill.compat.tensorflow.io.parsing import ordered_feature_names
from recordmill.compat.tensorflow.ops.specs import TensorSpec


def infer_specs(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the specs of a call's result, nested like the result; unknown specs are None."""
    rule = _RULES.get(name)
    try:
        return None if rule is None else rule(*args, **kwargs)
    except (TypeError, ValueError, AttributeError, IndexError):
        # An argument is invalid, or its spec is unknown. Invalid arguments raise an error when the operation runs.
        return None


def _infer_feature_spec(feature: Any, *outer: int | None) -> TensorSpec | None:
    kind = type(feature).__name__
    if kind == "FixedLenSequenceFeature":
        return TensorSpec([*outer, None, *feature.shape], feature.dtype)
    return TensorSpec([*outer, *feature.shape], feature.dtype) if kind == "FixedLenFeature" else None


def _infer_parse_example_specs(serialized: Any, features: Any, *_: Any, **__: Any) -> dict[str, TensorSpec | None]:
    return {key: _infer_feature_spec(features[key], *serialized.spec.shape) for key in ordered_feature_names(features)}


def _infer_parse_sequence_specs(
    serialized: Any, context_features: Any = None, sequence_features: Any = None, *_: Any, **__: Any
) -> tuple[dict[str, TensorSpec | None], ...]:
    return tuple(_infer_parse_example_specs(serialized, part or {}) for part in (context_features, sequence_features))


def _infer_decode_csv_specs(records: Any, record_defaults: Any, *_: Any, **__: Any) -> list[TensorSpec]:
    return [TensorSpec(records.spec.shape, column_dtype(one)) for one in record_defaults]


def _infer_decode_raw_spec(input_bytes: Any, out_type: Any, *_: Any, **__: Any) -> TensorSpec:
    return TensorSpec([*input_bytes.spec.shape, None], out_type)


def _infer_decode_image_spec(contents: Any, channels: int = 0, *_: Any, **options: Any) -> TensorSpec:
    del contents
    dtype = options.get("dtype", dtypes.uint8)
    return TensorSpec([None, None, channels or None], dtype)


def _infer_resize_spec(images: Any, size: Any, method: Any = "bilinear", *_: Any, **options: Any) -> TensorSpec | None:
    if options.get("preserve_aspect_ratio"):
        return None
    shape = images.spec.shape
    dtype = images.spec.dtype if method in (1, "nearest") else dtypes.float32
    return TensorSpec([*shape[:-3], int(size[0]), int(size[1]), shape[-1]], dtype)


def _infer_reshape_spec(tensor: Any, shape: Any, *_: Any, **__: Any) -> TensorSpec | None:
    if not all(isinstance(one, int | np.integer) for one in shape):
        return None
    return TensorSpec([None if one < 0 else int(one) for one in shape], tensor.spec.dtype)


def _infer_cast_spec(x: Any, dtype: Any, *_: Any, **__: Any) -> TensorSpec:
    return TensorSpec(x.spec.shape, dtype)


def _infer_arithmetic_spec(x: Any, y: Any, *_: Any, **__: Any) -> Any:
    """Return the spec of one operand if the other operand is a Python number; otherwise, return None."""
    if isinstance(y, int | float):
        return x.spec
    return y.spec if isinstance(x, int | float) else None


def _infer_division_spec(x: Any, y: Any, *_: Any, **__: Any) -> Any:
    return x.spec if x.spec.dtype.is_floating and isinstance(y, int | float) else None


def _infer_shape_spec(input: Any, out_type: Any = dtypes.int32, **_: Any) -> TensorSpec:  # noqa: A002 (TensorFlow's name)
    return TensorSpec([input.spec.shape.rank], out_type)


def _infer_jpeg_shape_spec(contents: Any, output_type: Any = dtypes.int32, **_: Any) -> TensorSpec:
    del contents
    return TensorSpec([3], output_type)


def _infer_bounding_box_specs(image_size: Any, *_: Any, **__: Any) -> list[TensorSpec]:
    """Return the specs of a random crop window: offset, size, and corners as fractions of the image size."""
    dtype = image_size.spec.dtype if image_size.spec is not None else dtypes.int32
    return [TensorSpec([3], dtype), TensorSpec([3], dtype), TensorSpec([1, 1, 4], dtypes.float32)]


def _infer_unstack_specs(value: Any, num: Any = None, axis: Any = 0, **_: Any) -> list[TensorSpec | None] | None:
    if value.spec is None or value.spec.shape.rank is None:
        return None if num is None else [None] * int(num)
    lengths = value.spec.shape.as_list()
    count = lengths.pop(axis) or num
    return None if count is None else [TensorSpec(lengths, value.spec.dtype)] * int(count)


def _infer_indexed_row_spec(tensor: Any, key: Any, **_: Any) -> TensorSpec | None:
    is_number = isinstance(key, int | np.integer) and not isinstance(key, bool)
    return TensorSpec(tensor.spec.shape[1:], tensor.spec.dtype) if is_number and tensor.spec.shape.rank else None


_ELEMENTWISE = ("add", "subtract", "multiply", "negative", "abs", "maximum", "minimum", "floordiv", "floormod")
_FLIPS = ("flip_left_right", "flip_up_down", "random_flip_left_right", "random_flip_up_down")
_RULES: dict[str, Callable[..., Any]] = {
    "array.shape": _infer_shape_spec,
    "array.unstack": _infer_unstack_specs,
    "array.getitem": _infer_indexed_row_spec,
    "array.reshape": _infer_reshape_spec,
    "array.cast": _infer_cast_spec,
    "array.identity": lambda input, **_: input.spec,  # noqa: A006 (TensorFlow's name)
    "io.extract_jpeg_shape": _infer_jpeg_shape_spec,
    "io.parse_example": _infer_parse_example_specs,
    "io.parse_single_example": _infer_parse_example_specs,
    "io.parse_single_sequence_example": _infer_parse_sequence_specs,
    "io.decode_csv": _infer_decode_csv_specs,
    "io.decode_jpeg": _infer_decode_image_spec,
    "io.decode_png": _infer_decode_image_spec,
    "io.decode_raw": _infer_decode_raw_spec,
    "image.sample_distorted_bounding_box": _infer_bounding_box_specs,
    "image.stateless_sample_distorted_bounding_box": _infer_bounding_box_specs,
    "image.resize": _infer_resize_spec,
    "image.older_resize": _infer_resize_spec,
    "image.convert_image_dtype": _infer_cast_spec,
    **{f"image.{name}": lambda image, *_, **__: image.spec for name in _FLIPS},
    "math.truediv": _infer_division_spec,
    "math.divide": _infer_division_spec,
    **{f"math.{name}": _infer_arithmetic_spec for name in _ELEMENTWISE},
}

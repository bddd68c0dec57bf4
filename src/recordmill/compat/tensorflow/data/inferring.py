"""Dtypes and shapes of what operations give, as far as they follow from the arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.io.csv_lines import column_dtype
from recordmill.compat.tensorflow.io.parsing import names_of
from recordmill.compat.tensorflow.ops.specs import TensorSpec

_ELEMENTWISE = ("add", "subtract", "multiply", "negative", "abs", "maximum", "minimum", "floordiv", "floormod")


def inferred(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Specs of the result of a call."""
    rule = _RULES.get(name)
    try:
        return None if rule is None else rule(*args, **kwargs)
    except (TypeError, ValueError, AttributeError, IndexError):
        return None  # the operation itself tells what is wrong with its arguments


def _parsed(serialized: Any, features: Any, *unused: Any, **others: Any) -> dict[str, TensorSpec | None]:
    del serialized, unused, others
    return {key: _feature(features[key]) for key in names_of(features)}


def _parsed_sequence(
    serialized: Any, context_features: Any = None, sequence_features: Any = None, *unused: Any, **others: Any
) -> tuple[dict[str, TensorSpec | None], ...]:
    """Of the context, and of the frames."""
    del serialized, unused, others
    parts = (context_features or {}, sequence_features or {})
    return tuple({key: _feature(part[key]) for key in names_of(part)} for part in parts)


def _parsed_batch(serialized: Any, features: Any, *unused: Any, **others: Any) -> dict[str, TensorSpec | None]:
    """Fixed features with the axis of the records in front."""
    del unused, others
    rows, found = serialized.spec.shape, {key: _feature(features[key]) for key in names_of(features)}
    return {key: None if one is None else TensorSpec([*rows, *one.shape], one.dtype) for key, one in found.items()}


def _feature(feature: Any) -> TensorSpec | None:
    kind = type(feature).__name__
    if kind == "FixedLenSequenceFeature":
        return TensorSpec([None, *feature.shape], feature.dtype)
    return TensorSpec(feature.shape, feature.dtype) if kind == "FixedLenFeature" else None


def _csv(records: Any, record_defaults: Any, *unused: Any, **others: Any) -> list[TensorSpec]:
    """A column for each default."""
    del unused, others
    return [TensorSpec(records.spec.shape, column_dtype(one)) for one in record_defaults]


def _image(contents: Any, channels: int = 0, *unused: Any, **others: Any) -> TensorSpec:
    del contents, unused
    return TensorSpec([None, None, channels or None], others.get("dtype", dtypes.uint8))


def _resized(images: Any, size: Any, method: Any = "bilinear", *unused: Any, **others: Any) -> TensorSpec | None:
    del unused
    if others.get("preserve_aspect_ratio") or images.spec is None:
        return None
    shape = images.spec.shape
    dtype = images.spec.dtype if method == "nearest" else dtypes.float32
    return TensorSpec([*shape[:-3], int(size[0]), int(size[1]), shape[-1]], dtype)


def _resized_older(images: Any, size: Any, method: Any = 0, *unused: Any, **others: Any) -> TensorSpec | None:
    return _resized(images, size, "nearest" if method in (1, "nearest") else "", *unused, **others)


def _raw(input_bytes: Any, out_type: Any, *unused: Any, **others: Any) -> TensorSpec:
    del unused, others
    return TensorSpec([*input_bytes.spec.shape, None], out_type)


def _reshaped(tensor: Any, shape: Any, *unused: Any, **others: Any) -> TensorSpec | None:
    """Lengths that are given as numbers."""
    del unused, others
    if not isinstance(shape, list | tuple) or not all(isinstance(one, int | np.integer) for one in shape):
        return None
    return TensorSpec([None if one < 0 else int(one) for one in shape], tensor.spec.dtype)


def _cast(x: Any, dtype: Any, *unused: Any, **others: Any) -> TensorSpec:
    del unused, others
    return TensorSpec(x.spec.shape, dtype)


def _same(x: Any, *unused: Any, **others: Any) -> Any:
    del unused, others
    return x.spec


def _with_constant(x: Any, y: Any, *unused: Any, **others: Any) -> TensorSpec | None:
    """Python numbers change neither dtype nor shape."""
    del unused, others
    if isinstance(y, int | float):
        return x.spec  # type: ignore[no-any-return]
    if isinstance(x, int | float):
        return y.spec  # type: ignore[no-any-return]
    return None


def _divided(x: Any, y: Any, *unused: Any, **others: Any) -> TensorSpec | None:
    del unused, others
    floating = x.spec is not None and x.spec.dtype.is_floating and isinstance(y, int | float)
    return x.spec if floating else None


def _shape(input: Any, out_type: Any = dtypes.int32, **others: Any) -> TensorSpec:  # noqa: A002 (TensorFlow's name)
    del others
    return TensorSpec([input.spec.shape.rank], out_type)


def _jpeg_shape(contents: Any, output_type: Any = dtypes.int32, **others: Any) -> TensorSpec:
    del contents, others
    return TensorSpec([3], output_type)


def _box(image_size: Any, *unused: Any, **others: Any) -> list[TensorSpec]:
    """Where the box begins, its size, and the box as fractions."""
    del unused, others
    dtype = image_size.spec.dtype if image_size.spec is not None else dtypes.int32
    return [TensorSpec([3], dtype), TensorSpec([3], dtype), TensorSpec([1, 1, 4], dtypes.float32)]


def _unstacked(value: Any, num: Any = None, axis: Any = 0, **others: Any) -> list[TensorSpec | None] | None:
    del others
    shape = None if value.spec is None else value.spec.shape
    length = num if shape is None or shape.rank is None else shape[axis]
    if length is None:
        return None
    if shape is None or shape.rank is None:
        return [None] * int(length)
    lengths = shape.as_list()
    del lengths[axis]
    return [TensorSpec(lengths, value.spec.dtype)] * int(length)


def _row(tensor: Any, key: Any, **others: Any) -> TensorSpec | None:
    """Rows by number; anything else is not known."""
    del others
    is_number = isinstance(key, int | np.integer) and not isinstance(key, bool)
    return TensorSpec(tensor.spec.shape[1:], tensor.spec.dtype) if is_number and tensor.spec.shape.rank else None


_RULES: dict[str, Callable[..., Any]] = {
    "array.shape": _shape,
    "array.unstack": _unstacked,
    "array.getitem": _row,
    "io.extract_jpeg_shape": _jpeg_shape,
    "image.sample_distorted_bounding_box": _box,
    "image.stateless_sample_distorted_bounding_box": _box,
    "io.parse_example": _parsed_batch,
    "io.parse_single_example": _parsed,
    "io.parse_single_sequence_example": _parsed_sequence,
    "io.decode_csv": _csv,
    "io.decode_jpeg": _image,
    "io.decode_raw": _raw,
    "array.reshape": _reshaped,
    "io.decode_png": _image,
    "image.resize": _resized,
    "image.older_resize": _resized_older,
    "array.cast": _cast,
    "array.identity": _same,
    "image.convert_image_dtype": _cast,
    "image.flip_left_right": _same,
    "image.flip_up_down": _same,
    "image.random_flip_left_right": _same,
    "image.random_flip_up_down": _same,
    "math.truediv": _divided,
    "math.divide": _divided,
    **{f"math.{name}": _with_constant for name in _ELEMENTWISE},
}

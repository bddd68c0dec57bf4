"""``Dataset.bucket_by_sequence_length``: batches of elements of about one length."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import as_tensor
from recordmill.compat.tensorflow.data.structures import children, mapped, whole
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Buckets:
    """Lengths divided into ranges, each with a number of elements to a batch."""

    length: Callable[..., Any]
    boundaries: list[int]
    sizes: list[int]

    def bucket(self, *element: Any) -> Any:
        """Number of an element's bucket."""
        return as_tensor(
            bisect_right(self.boundaries, whole(self.length(*element), "the length of an element")), "int64"
        )

    def size(self, bucket: Any) -> int:
        """Elements of a batch of a bucket."""
        return self.sizes[int(bucket)]

    def longest(self, bucket: Any) -> int:
        """Greatest length in a bucket."""
        if int(bucket) == len(self.boundaries):
            raise InvalidArgumentError(
                "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
            )
        return self.boundaries[int(bucket)] - 1


def buckets_of(length: Callable[..., Any], boundaries: Sequence[Any], sizes: Sequence[Any]) -> Buckets:
    """Buckets as they were asked for."""
    if len(sizes) != len(boundaries) + 1:
        raise ValueError(
            "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but `len(bucket_batch_sizes)="
            f"{len(sizes)}` and `len(bucket_boundaries)={len(boundaries)}`."
        )
    found = [whole(one, "a bucket boundary") for one in boundaries]
    if sorted(set(found)) != found:
        raise ValueError(f"bucket_boundaries must rise, not be {found}")
    return Buckets(length, found, [whole(one, "a bucket batch size") for one in sizes])


def filled_shapes(spec: Any, shapes: Any, length: int | None) -> Any:
    """Shapes to pad to, with a length for those that are unknown."""
    if isinstance(spec, TensorSpec):
        return _filled(spec.shape if shapes is None else shapes, length)
    if shapes is None:
        return mapped(lambda leaf: _filled(leaf.shape, length), spec)
    parts = children(spec) or []
    if isinstance(spec, tuple):
        return tuple(filled_shapes(one, shape, length) for one, shape in zip(parts, shapes, strict=True))
    return {key: filled_shapes(spec[key], shapes[key], length) for key in spec}


def _filled(shape: Any, length: int | None) -> TensorShape:
    known = shape if isinstance(shape, TensorShape) else TensorShape(shape)
    return known if known.rank is None else TensorShape([length if one in (None, -1) else one for one in known])

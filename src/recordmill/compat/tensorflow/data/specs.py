"""What elements are: dtypes and shapes, as far as they are known."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.structures import leaves, mapped, same_form


class TensorSpec:
    """Shape and dtype of tensors.

    Parameters
    ----------
    shape : TensorShape or what makes one
    dtype : DType or what names one
    name : str, optional
    """

    __slots__ = ("dtype", "name", "shape")

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        self.shape, self.dtype, self.name = TensorShape(shape), dtypes.as_dtype(dtype), name

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """Spec of one tensor.

        Parameters
        ----------
        tensor : Tensor
        name : str, optional

        Returns
        -------
        TensorSpec
        """
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a tensor, or tensors of another spec, could be of this one.

        Parameters
        ----------
        other : Tensor or TensorSpec

        Returns
        -------
        bool
        """
        return bool(self.dtype == other.dtype) and self.shape.is_compatible_with(other.shape)

    def __eq__(self, other: object) -> bool:
        """Compare shape and dtype."""
        if not isinstance(other, TensorSpec):
            return False
        return self.shape == other.shape and self.dtype == other.dtype and self.name == other.name

    def __hash__(self) -> int:
        """Hash of shape and dtype."""
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        """TensorFlow's spelling."""
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by what it holds."""
        dims = None if self.shape.rank is None else self.shape.as_list()
        return TensorSpec, (dims, self.dtype, self.name)


class DatasetSpec:
    """Spec of data sets whose elements are of a spec.

    Parameters
    ----------
    element_spec : structure of TensorSpec
    """

    __slots__ = ("element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self.element_spec = element_spec

    def __eq__(self, other: object) -> bool:
        """Compare the specs of the elements."""
        return isinstance(other, DatasetSpec) and bool(self.element_spec == other.element_spec)

    def __hash__(self) -> int:
        """Hash of the type: element specs may be dicts."""
        return hash(DatasetSpec)

    def __repr__(self) -> str:
        """TensorFlow's spelling."""
        return f"DatasetSpec({self.element_spec!r}, TensorShape([]))"


def spec_of(value: Any) -> Any:
    """Structure of the specs of an element.

    Parameters
    ----------
    value : structure of Tensor

    Returns
    -------
    structure of TensorSpec
        A sparse or ragged tensor is told by its shape and dtype; a data set by the spec of its elements.
    """
    return mapped(_spec, value)


def _spec(leaf: Any) -> Any:
    if hasattr(leaf, "element_spec"):
        return DatasetSpec(leaf.element_spec)
    return TensorSpec(leaf.shape, leaf.dtype)


def with_axis(spec: Any, length: int | None) -> Any:
    """Specs of elements that are put together.

    Parameters
    ----------
    spec : structure of TensorSpec
    length : int, optional
        Of the new first axis.

    Returns
    -------
    structure of TensorSpec
    """
    return mapped(lambda leaf: TensorSpec(TensorShape([length]) + leaf.shape, leaf.dtype), spec)


def without_axis(spec: Any) -> Any:
    """Specs of the rows of elements.

    Parameters
    ----------
    spec : structure of TensorSpec

    Returns
    -------
    structure of TensorSpec
    """
    return mapped(lambda leaf: TensorSpec(leaf.shape[1:] if leaf.shape.rank is not None else None, leaf.dtype), spec)


def common(one: Any, other: Any) -> Any:
    """Specs of which both are: lengths that differ are unknown.

    Parameters
    ----------
    one, other : structure of TensorSpec

    Returns
    -------
    structure of TensorSpec

    Raises
    ------
    TypeError
        They nest otherwise, or have other dtypes.
    """
    if not same_form(one, other) or any(
        getattr(a, "dtype", None) != getattr(b, "dtype", None) for a, b in zip(leaves(one), leaves(other), strict=True)
    ):
        raise TypeError(f"Incompatible dataset elements:\n  {one} vs.   {other}")
    return mapped(_common, one, other)


def _common(one: Any, other: Any) -> Any:
    if isinstance(one, DatasetSpec):
        return one
    if one.shape.rank is None or one.shape.rank != other.shape.rank:
        return TensorSpec(None, one.dtype)
    return TensorSpec([a if a == b else None for a, b in zip(one.shape, other.shape, strict=True)], one.dtype)

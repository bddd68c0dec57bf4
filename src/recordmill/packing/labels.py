"""Labels in the kind that they are stored in, checked all at once."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import FeatureError, LabelError
from recordmill.formats.base import PayloadCodec
from recordmill.packing.sources.base import Items, Labels
from recordmill.schema import Feature, Kind
from recordmill.types import Ragged

LabelKind = Literal["int32", "int64", "float32", "vector"]
LABEL_KINDS: tuple[str, ...] = get_args(LabelKind)
# Kind of whole labels where the payload's own readers expect another one than int64.
_USUAL: dict[str, Kind] = {"ofrecord": "int32", "irheader": "float32"}


def whole_kind(codec: PayloadCodec) -> Kind:
    """Kind in which a payload usually stores whole numbers."""
    return _USUAL.get(codec.name, "int64")


def convert_labels(items: Items, kind: LabelKind | None, codec: PayloadCodec) -> tuple[Feature, Labels]:
    """Labels of all items as they are stored."""
    labels = _even(items.labels, vector=kind == "vector")
    flat = np.asarray(labels.data if isinstance(labels, Ragged) else labels.reshape(-1))
    stored = _stored_kind(flat, kind, codec)
    bad = _misfits(flat, stored)
    if kind is None and flat.dtype.kind == "f":
        bad |= ~np.isfinite(flat)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise _refused(items, _row_of(labels, at), flat[at].item(), stored)
    values: NDArray[Any] = flat.astype(stored)
    if isinstance(labels, Ragged):
        return Feature(stored, (None,)), Ragged(values, labels.row_splits)
    return Feature(stored, labels.shape[1:]), values.reshape(labels.shape)


def _even(labels: Labels | None, *, vector: bool) -> Labels:
    """Labels as one array where every item has equally many."""
    if labels is None:
        raise ValueError("the items have no labels")
    if isinstance(labels, Ragged):
        counts = np.diff(labels.row_splits)
        if len(counts) and (counts == counts[0]).all():
            labels = np.asarray(labels.data).reshape(len(counts), counts[0])
    if not isinstance(labels, Ragged):
        if labels.ndim == 2 and labels.shape[1] == 1 and not vector:
            return labels[:, 0]
        if labels.ndim == 1 and vector:
            return labels[:, None]
    return labels


def _stored_kind(flat: NDArray[Any], kind: LabelKind | None, codec: PayloadCodec) -> Kind:
    usual = whole_kind(codec)
    if kind is None:
        with np.errstate(invalid="ignore"):
            whole = flat.dtype.kind in "iu" or bool((np.isfinite(flat) & (flat == np.floor(flat))).all())
            return usual if whole else "float32"
    stored: Kind = "float32" if kind == "vector" else kind
    allowed = ("float32",) if usual == "float32" else getattr(codec, "kinds", ())
    if stored not in allowed:
        raise FeatureError(
            f"labels in {codec.name} payloads cannot be {stored}",
            kind="feature_mismatch",
            expected=" or ".join(one for one in allowed if one != "bytes") or "no label",
            found=stored,
            hint="leave label_kind= out, or choose another format",
        )
    return stored


def _misfits(flat: NDArray[Any], kind: Kind) -> NDArray[np.bool_]:
    """Labels that would change when they are stored: out of range, fractions, or whole numbers beyond float32."""
    with np.errstate(invalid="ignore", over="ignore"):
        if kind == "float32":
            whole = flat == np.floor(flat)
            return np.asarray(whole & np.isfinite(flat) & (flat.astype(np.float32).astype(flat.dtype) != flat))
        limits = np.iinfo(kind)
        if flat.dtype.kind in "iu":
            return np.asarray((flat < limits.min) | (flat > limits.max))
        return np.asarray(~((flat == np.floor(flat)) & (flat >= limits.min) & (flat < float(limits.max) + 1)))


def _row_of(labels: Labels, at: int) -> int:
    if isinstance(labels, Ragged):
        return int(np.searchsorted(labels.row_splits, at, "right")) - 1
    return at // max(int(np.prod(labels.shape[1:])), 1)


def _refused(items: Items, row: int, value: Any, kind: Kind) -> LabelError:
    place = items.describe_origin(row)
    if isinstance(value, float) and not math.isfinite(value):
        exact, hint = "a finite number", 'fill the gap in the list; label_kind="float32" stores it as it is'
    else:
        exact, hint = _expected(value, kind)
    return LabelError(
        f"the label of {items.names[row]!r} cannot be stored as {kind}" + (f", {place}" if place else ""),
        kind="bad_label",
        shard=items.paths()[row],
        expected=exact,
        found=repr(value),
        hint=hint,
    )


def _expected(value: Any, kind: Kind) -> tuple[str, str]:
    """What a label ought to be, and how to go on."""
    exact = "a label that float32 holds exactly" if kind == "float32" else f"a whole number that fits {kind}"
    whole = not isinstance(value, float) or value.is_integer()
    wider = '"int64"' if whole else '"float32"'
    return exact, f"label_kind={wider}, in a format that has it"

"""The schema of examples of which only some are known at a time."""

from __future__ import annotations

from recordmill.errors import FeatureError
from recordmill.schema import Feature, Schema


def merge_schemas(known: Schema | None, new: Schema) -> Schema:
    """Narrowest schema that fits the examples of both.

    Parameters
    ----------
    known : Schema or None
    new : Schema

    Returns
    -------
    Schema

    Raises
    ------
    FeatureError
        A feature has another kind in one than in the other.
    """
    if known is None:
        return new
    merged = {}
    for name in dict.fromkeys((*known, *new)):
        if name not in known or name not in new:
            feature = known.get(name) or new[name]
            merged[name] = _widened(feature, optional=True)
            continue
        first, second = known[name], new[name]
        if (first.kind, first.sequence) != (second.kind, second.sequence):
            message = f"feature {name!r} changes its kind"
            hint = "give the kinds: ShardWriter(..., schema=...)"
            raise FeatureError(message, kind="feature_mismatch", expected=first.kind, found=second.kind, hint=hint)
        same = first.shape == second.shape and first.optional == second.optional
        merged[name] = first if same else _widened(first, optional=first.optional or second.optional)
    return Schema(merged)


def _widened(feature: Feature, *, optional: bool) -> Feature:
    shape = (None, None) if feature.sequence else (None,)
    return Feature(feature.kind, shape, feature.sequence, optional)

"""Errors of decoders, with the record that they are about."""

from __future__ import annotations

from typing import Any, NoReturn

from recordmill.compat.oneflow.tensors import Place
from recordmill.errors import FeatureError, RecordmillError


def refuse(feature: str, place: Place, message: str, expected: str | None = None, found: str | None = None) -> NoReturn:
    """Raise a FeatureError about a feature of a record."""
    raise FeatureError(
        f"{message}, in feature {feature!r}",
        kind="feature_mismatch",
        expected=expected,
        found=found,
        shard=place.shard,
        record=place.record,
        offset=place.offset,
    )


def placed(error: RecordmillError, place: Place) -> RecordmillError:
    """Copy of an error that names the record."""
    parts: dict[str, Any] = error.parts() | {"shard": place.shard, "record": place.record, "offset": place.offset}
    return type(error)(error.message, **parts)


def unsupported(name: str, value: Any, hint: str) -> NoReturn:
    """Refuse an option by name."""
    raise NotImplementedError(f"{name}={value!r} is not supported: {hint}")

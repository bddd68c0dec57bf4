"""Codec that does not parse payloads. An example has one feature, ``payload``, with the unchanged bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recordmill.errors import FeatureError
from recordmill.formats.base import FeatureSummary, InferredFeatures
from recordmill.schema import Feature, Schema
from recordmill.types import Ragged

FEATURE = "payload"


@dataclass(frozen=True, slots=True)
class RawCodec:
    """Codec that returns each payload unchanged, as the feature ``payload``."""

    name: str = "raw"
    kind: None = None

    @property
    def is_recognizable(self) -> bool:
        """Return False: `accepts` cannot detect this codec, because it accepts all payloads."""
        return False

    def compile_schema(self, schema: Schema) -> None:
        """Raise FeatureError unless the schema has exactly one feature, the byte string ``payload``."""
        if set(schema) != {FEATURE} or schema[FEATURE] != Feature("bytes"):
            message = "the only feature of raw payloads must be a single byte string"
            raise FeatureError(message, kind="feature_mismatch", expected=FEATURE, found=", ".join(schema))

    def build_columns(self, parsed: Sequence[Any], schema: Schema, num_records: int) -> dict[str, Any]:
        """Return the unchanged payloads as the only column, named ``payload``."""
        del schema, num_records
        return {FEATURE: parsed[0]}

    def parse(self, payloads: Ragged, schema: Schema) -> dict[str, Any]:
        """Return the unchanged payloads as the only column, named ``payload``."""
        self.compile_schema(schema)
        return {FEATURE: payloads}

    def serialize(
        self, examples: Sequence[Mapping[str, Any]], schema: Schema | None, first: int, known: Schema | None = None
    ) -> Ragged:
        """Return the value of the feature ``payload`` of each example.

        Raises
        ------
        FeatureError
            If an example has other features, or its payload is not bytes.
        """
        del schema, first, known
        for example in examples:
            if set(example) != {FEATURE}:
                message = "an example with a raw payload must have one feature"
                raise FeatureError(message, kind="feature_mismatch", expected=FEATURE, found=", ".join(example))
        return Ragged.from_rows([_to_bytes(example[FEATURE]) for example in examples])

    def infer_features(self, payloads: Ragged) -> InferredFeatures:
        """Infer the feature ``payload`` and summarize the lengths of its byte strings."""
        lengths = np.diff(payloads.row_splits)
        sizes = (int(lengths.min(initial=0)), int(lengths.max(initial=0)))
        summary = FeatureSummary(Feature("bytes"), len(payloads), (1, 1), sizes)
        return InferredFeatures(len(payloads), {FEATURE: summary})

    def accepts(self, payloads: Ragged) -> bool:
        """Return True, because any byte string is a raw payload."""
        del payloads
        return True


def _to_bytes(payload: Any) -> bytes:
    try:
        return bytes(memoryview(payload))
    except TypeError:
        message = f"feature {FEATURE!r} cannot be stored"
        raise FeatureError(message, kind="feature_mismatch", feature=FEATURE, expected="bytes") from None


RAW = RawCodec()

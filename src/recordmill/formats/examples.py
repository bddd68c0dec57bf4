"""Serialize examples for a writer; errors name the record, the feature and the value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recordmill.errors import FeatureError
from recordmill.formats.base import PayloadCodec
from recordmill.formats.values import shorten
from recordmill.schema import Schema
from recordmill.types import Ragged


def serialize_examples(
    codec: PayloadCodec,
    examples: Sequence[Mapping[str, Any]],
    schema: Schema | None,
    first: int,
    known: Schema | None,
) -> Ragged:
    """Serialize examples, of which the first one becomes record `first` of the writer.

    Parameters
    ----------
    codec : PayloadCodec
    examples : sequence of mapping
    schema : Schema or None
        Kinds and shapes that the values must have.
    first : int
        Position of the first example in the writer.
    known : Schema or None
        Without a schema: the features of earlier examples.

    Returns
    -------
    Ragged of uint8

    Raises
    ------
    FeatureError
        If the payload cannot store a value; `record` is the position of its example in the writer.
    """
    try:
        return codec.serialize(examples, schema, first, known)
    except FeatureError as caught:
        error = caught
    # Examples are serialized by columns, so the error of all of them may describe a value of any record. The first
    # `num_valid` examples can be serialized, the first `num_invalid` cannot.
    num_valid, num_invalid = 0, len(examples)
    while num_invalid - num_valid > 1:
        count = (num_valid + num_invalid) // 2
        try:
            codec.serialize(examples[:count], schema, first, known)
            num_valid = count
        except FeatureError as caught:
            error, num_invalid = caught, count
    error.record = first + num_valid
    if error.found is None and error.feature is not None:
        error.found = shorten(examples[num_valid].get(error.feature))
    raise error

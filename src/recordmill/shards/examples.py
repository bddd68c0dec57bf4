"""Check the examples that a writer receives, and serialize them; errors name the record, the feature and the value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recordmill.errors import ExampleTypeError, FeatureError, LimitError
from recordmill.formats.base import PayloadCodec
from recordmill.formats.values import short_repr
from recordmill.schema import Schema
from recordmill.types import Ragged


def copy_example(example: Mapping[str, Any], record: int) -> dict[str, Any]:
    """Return an example as a dict; raise ExampleTypeError if it is not a mapping.

    Parameters
    ----------
    example : mapping of str to value
    record : int
        Position of the example in the writer.

    Returns
    -------
    dict of str to value
    """
    if type(example) is not dict and not isinstance(example, Mapping):
        raise example_type_error(
            "an example must be a mapping", "a mapping from feature names to values", example, record
        )
    return dict(example)


def example_type_error(message: str, expected: str, value: object, record: int) -> ExampleTypeError:
    """Create the ExampleTypeError for a record whose value has the wrong type.

    Parameters
    ----------
    message, expected : str
    value : object
        The record.
    record : int
        Position of the record in the writer.

    Returns
    -------
    ExampleTypeError
    """
    found = f"{type(value).__name__} {short_repr(value)}"
    return ExampleTypeError(message, kind="bad_type", record=record, expected=expected, found=found)


def serialize_examples(
    codec: PayloadCodec,
    examples: Sequence[Mapping[str, Any]],
    schema: Schema | None,
    first: int,
    known: Schema | None,
) -> Ragged:
    """Serialize examples. `first` is the position of the first example among all records of the writer.

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
    ExampleTypeError
        If a feature name is not a string.
    FeatureError
        If the payload cannot store a value; `record` is the position of its example in the writer.
    LimitError
        If an example is too large for a message.
    """
    _check_feature_names(examples, first)
    error: FeatureError | LimitError
    try:
        return codec.serialize(examples, schema, first, known)
    except (FeatureError, LimitError) as caught:
        error = caught
    # Examples are serialized column by column, so the reported example may not be the first invalid one. Bisection
    # finds the first invalid example: serializing `num_valid` examples succeeds, and serializing `num_invalid` fails.
    num_valid, num_invalid = 0, len(examples)
    while num_invalid - num_valid > 1:
        count = (num_valid + num_invalid) // 2
        try:
            codec.serialize(examples[:count], schema, first, known)
            num_valid = count
        except (FeatureError, LimitError) as caught:
            error, num_invalid = caught, count
    error.record = first + num_valid
    if isinstance(error, FeatureError) and error.found is None and error.feature is not None:
        error.found = short_repr(examples[num_valid].get(error.feature))
    raise error


def _check_feature_names(examples: Sequence[Mapping[str, Any]], first: int) -> None:
    if all(isinstance(name, str) for name in set().union(*examples)):
        return
    for record, example in enumerate(examples, first):
        for name in example:
            if not isinstance(name, str):
                raise ExampleTypeError(
                    "a feature name must be a str",
                    kind="bad_type",
                    record=record,
                    expected="str",
                    found=short_repr(name),
                )

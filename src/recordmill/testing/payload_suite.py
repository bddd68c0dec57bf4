"""Conformance tests for payload codecs, as a base class whose subclasses set the codec and its oracle.

The tests compare the `Contents` that codec and oracle return: the kind of each feature and the `repr` of its values, so
that NaN equals NaN and -0.0 differs from 0.0. A feature list has one row of values per frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, ClassVar

import numpy as np
from hypothesis import HealthCheck, given, settings, strategies as st

from recordmill import _core
from recordmill.formats.native import NativeCodec
from recordmill.schema import Feature, Schema
from recordmill.testing import strategies
from recordmill.testing.faults import OracleError
from recordmill.testing.framing_suite import pack_payloads
from recordmill.types import FeatureList, Ragged

# Hypothesis warns if several classes inherit a test method. These classes inherit test methods on purpose.
inherited = settings(suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow])

# Maps each feature name to its kind and the `repr` of its values. Names of feature lists have the prefix "list:".
Contents = dict[str, tuple[str, list[Any]]]
Plain = tuple[str | None, Sequence[Any]]


def value_reprs(values: Any) -> list[Any]:
    """Return the `repr` of each value. An array of rows becomes a list of lists."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    return [value_reprs(value) if isinstance(value, list | np.ndarray | Ragged) else repr(value) for value in values]


def convert_features_to_reprs(features: Mapping[str, Plain]) -> Contents:
    """Replace the values of features by their `repr`, so that tests can compare them; omit features of kind None."""
    return {name: (kind, value_reprs(values)) for name, (kind, values) in features.items() if kind is not None}


def convert_feature_lists_to_reprs(lists: Mapping[str, Sequence[Plain]]) -> Contents:
    """Replace the values of feature lists by their `repr`, so that tests can compare the lists.

    If the features of one list differ in kind, the list gets the kind ``mixed`` and no values.
    """
    contents: Contents = {}
    for name, frames in lists.items():
        kinds = sorted({kind for kind, _ in frames if kind is not None})
        if len(kinds) == 1:
            contents["list:" + name] = (kinds[0], [value_reprs(values) for _, values in frames])
        elif kinds:
            contents["list:" + name] = ("mixed", [])
    return contents


def parse_contents(codec: NativeCodec, payload: bytes) -> Contents:
    """Parse one payload with the native parser, one feature at a time; return kind and values of each feature."""
    packed = pack_payloads([payload])
    rows, fault = _core.survey(codec.kind, packed.data, packed.row_splits)
    if fault is not None:
        fault_kind, _, offset, *_ = fault
        raise OracleError(fault_kind, offset)
    contents: Contents = {}
    for key, is_list, kind, mixed, *_ in rows:
        if kind is None:
            continue
        if mixed:
            contents["list:" + key.decode("utf-8", "surrogateescape")] = ("mixed", [])
            continue
        name = key.decode("utf-8", "surrogateescape")
        shape = (None, None) if is_list else (None,)
        feature = Feature(kind, shape, sequence=is_list, optional=True)
        found = codec.parse(packed, Schema({name: feature}))[name]
        contents["list:" * is_list + name] = (kind, value_reprs(found[0]))
    return contents


def build_writer_schema(features: Mapping[str, Plain]) -> Schema:
    """Return a schema in which each feature is optional and has any number of values."""
    kinds: dict[str, Any] = {name: kind for name, (kind, _) in features.items() if kind}
    return Schema({name: Feature(kind, (None,), optional=True) for name, kind in kinds.items()})


def to_writer_values(kind: str, values: Sequence[Any]) -> Any:
    """Convert the values of a feature to the type that a writer accepts: a list of bytes, or an array."""
    return list(values) if kind == "bytes" else np.array(values, kind)


@st.composite
def schemas_and_examples(draw: st.DrawFn, kinds: Mapping[int, str]) -> tuple[Schema, list[dict[str, Plain]]]:
    """Draw a schema and matching examples; features have fixed or varying numbers of values, and some are missing."""
    names = draw(st.lists(strategies.names(), min_size=1, max_size=4, unique=True))
    features: dict[str, Feature] = {}
    columns: dict[str, list[Plain | None]] = {}
    num_records = draw(st.integers(1, 6))
    for name in names:
        kind, count = draw(st.sampled_from(sorted(kinds.values()))), draw(st.sampled_from((None, 1, 3)))
        optional = count is None and draw(st.booleans())
        shape = () if count == 1 else (count,)
        features[name] = Feature(kind, shape, optional=optional)  # type: ignore[arg-type]
        least, most = (0, 4) if count is None else (count, count)
        row = st.tuples(st.just(kind), st.lists(strategies.values(kind), min_size=least, max_size=most))
        cell: st.SearchStrategy[Any] = st.one_of(st.none(), row) if optional else row
        columns[name] = draw(st.lists(cell, min_size=num_records, max_size=num_records))
    examples = [
        {name: plain for name in names if (plain := columns[name][row]) is not None} for row in range(num_records)
    ]
    return Schema(features), examples


class PayloadTests:
    """Base class of tests that compare a payload codec with its oracle. Each payload maps names to features.

    Attributes
    ----------
    codec : NativeCodec
    kinds : mapping of int to str
        Field numbers and kinds of the message.
    decode : callable
        Oracle that returns the contents of a payload, or raises `OracleError`.
    encode : callable
        Oracle that returns the canonical payload with the given features.
    encode_unusual : callable
        Function that returns a valid but unusual payload with the given features.
    canonical, unusual : callable
        Functions that return strategies of canonical and of unusual payloads.
    literals : tuple of (example, str)
        Examples and their hexadecimal bytes, from the specification.
    """

    codec: ClassVar[NativeCodec]
    kinds: ClassVar[Mapping[int, str]]
    decode: ClassVar[Callable[[bytes], Contents]]
    encode: ClassVar[Callable[[Mapping[str, Plain]], bytes]]
    encode_unusual: ClassVar[Callable[[Mapping[str, Plain], Random], bytes]]
    canonical: ClassVar[Callable[[], st.SearchStrategy[bytes]]]
    unusual: ClassVar[Callable[[], st.SearchStrategy[bytes]]]
    literals: ClassVar[tuple[tuple[Mapping[str, Any], str], ...]]

    @classmethod
    def pytest_generate_tests(cls, metafunc: Any) -> None:
        """Parametrize tests over `literals`, the examples from the specification."""
        if "literal" in metafunc.fixturenames:
            metafunc.parametrize("literal", cls.literals, ids=lambda literal: literal[1][:24] or "empty")

    def read_or_fault_kind(self, read: Callable[[bytes], Contents], payload: bytes) -> Contents | str:
        """Return the result of `read(payload)`, or the fault kind if `read` raises OracleError."""
        try:
            return read(payload)
        except OracleError as error:
            return error.kind

    def parse(self, payload: bytes) -> Contents:
        """Parse one payload with the codec under test."""
        return parse_contents(self.codec, payload)

    def test_serialize_writes_bytes_of_specification(self, literal: tuple[Mapping[str, Any], str]) -> None:
        example, text = literal
        assert self.codec.serialize([example], None, 0)[0].hex() == text.replace(" ", "")

    @inherited
    @given(st.data())
    def test_parse_of_canonical_payload_agrees_with_oracle(self, data: st.DataObject) -> None:
        payload = data.draw(type(self).canonical())
        assert self.parse(payload) == type(self).decode(payload)

    @inherited
    @given(st.data())
    def test_parse_of_unusual_payload_agrees_with_oracle(self, data: st.DataObject) -> None:
        payload = data.draw(type(self).unusual())
        assert self.parse(payload) == type(self).decode(payload)

    @inherited
    @given(st.data())
    def test_parse_of_mutated_payload_agrees_with_oracle(self, data: st.DataObject) -> None:
        intact = data.draw(st.one_of(type(self).canonical(), type(self).unusual()))
        payload = data.draw(strategies.mutations(intact))
        expected = self.read_or_fault_kind(type(self).decode, payload)
        assert self.read_or_fault_kind(self.parse, payload) == expected
        packed = pack_payloads([payload])
        framed = _core.frame(packed.data, packed.row_splits, _core.FrameKind("tfrecord"))[0]
        source = _core.Source.from_bytes(framed)
        faults = _core.verify(source, _core.FrameKind("tfrecord"), self.codec.kind)[1]
        assert [fault[0] for fault in faults] == ([expected] if isinstance(expected, str) else [])

    @inherited
    @given(st.data())
    def test_parse_of_several_payloads_fills_columns_with_every_row(self, data: st.DataObject) -> None:
        schema, examples = data.draw(schemas_and_examples(self.kinds))
        rng = data.draw(st.randoms(use_true_random=False))
        payloads = [
            type(self).encode_unusual(row, rng) if rng.random() < 0.3 else type(self).encode(row) for row in examples
        ]
        columns = self.codec.parse(pack_payloads(payloads), schema)
        assert list(columns) == list(schema)
        for name, feature in schema.items():
            expected = [list(row.get(name, (None, []))[1]) for row in examples]
            expected = [row[0] for row in expected] if feature.shape == () else expected
            assert len(columns[name]) == len(examples)
            assert isinstance(columns[name], Ragged) == (feature.kind == "bytes" or None in feature.shape)
            assert value_reprs(columns[name]) == value_reprs(expected), name

    @inherited
    @given(st.data())
    def test_serialize_of_several_examples_agrees_with_oracle(self, data: st.DataObject) -> None:
        schema, examples = data.draw(schemas_and_examples(self.kinds))
        written = [
            {
                name: to_writer_values(kind or "", values)[0]
                if schema[name].shape == ()
                else to_writer_values(kind or "", values)
                for name, (kind, values) in row.items()
            }
            for row in examples
        ]
        found = self.codec.serialize(written, schema, 0)
        assert list(found) == [type(self).encode(row) for row in examples]

    def test_serialize_writes_feature_list_only_to_sequence_example(self) -> None:
        example = {"a": FeatureList([[1], [2, 3]])}
        if self.codec.name == "sequence_example":
            payload = self.codec.serialize([example], None, 0)[0]
            assert self.parse(payload) == {"list:a": ("int64", [["1"], ["2", "3"]])}
        else:
            message = ""
            try:
                self.codec.serialize([example], None, 0)
            except ValueError as error:
                message = str(error)
            assert "list" in message

"""Tests that every payload codec passes: inherit `PayloadTests`, name the codec and its oracle.

Both sides tell a payload in one form, `Told`: per feature its kind and its values spelled out, so that NaN equals
NaN and -0.0 differs from 0.0. A feature list has a row of values per frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from recordmill import _core
from recordmill.formats.native import NativeCodec
from recordmill.schema import Feature, Schema
from recordmill.testing import strategies
from recordmill.testing.faults import OracleError
from recordmill.testing.framing_suite import splits_of
from recordmill.types import FeatureList, Ragged

inherited = settings(suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow])

# Name of a feature, with "list:" in front of a feature list's, to its kind and values.
Told = dict[str, tuple[str, list[Any]]]
Plain = tuple[str | None, Sequence[Any]]


def spelled(values: Any) -> list[Any]:
    """Values, or rows of values, as text that tells all of them apart."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    return [spelled(value) if isinstance(value, list | np.ndarray | Ragged) else repr(value) for value in values]


def tell_features(features: Mapping[str, Plain]) -> Told:
    """Features as the oracle decodes them; those without a kind hold nothing that could be told."""
    return {name: (kind, spelled(values)) for name, (kind, values) in features.items() if kind is not None}


def tell_lists(lists: Mapping[str, Sequence[Plain]]) -> Told:
    """Feature lists as the oracle decodes them; lists of several kinds are told as ``mixed``."""
    told: Told = {}
    for name, frames in lists.items():
        kinds = sorted({kind for kind, _ in frames if kind is not None})
        if len(kinds) == 1:
            told["list:" + name] = (kinds[0], [spelled(values) for _, values in frames])
        elif kinds:
            told["list:" + name] = ("mixed", [])
    return told


def native_told(codec: NativeCodec, payload: bytes) -> Told:
    """What the native parser reads from one payload, feature by feature."""
    packed = splits_of([payload])
    rows, fault = _core.survey(codec.kind, packed.data, packed.row_splits)
    if fault is not None:
        raise OracleError(fault[0], fault[2])
    told: Told = {}
    for key, is_list, kind, mixed, *_ in rows:
        if kind is None:
            continue
        if mixed:
            told["list:" + key.decode("utf-8", "surrogateescape")] = ("mixed", [])
            continue
        name = key.decode("utf-8", "surrogateescape")
        shape = (None, None) if is_list else (None,)
        feature = Feature(kind, shape, sequence=is_list, optional=True)
        found = codec.parse(packed, Schema({name: feature}))[name]
        told["list:" * is_list + name] = (kind, spelled(found[0]))
    return told


def schema_of(features: Mapping[str, Plain]) -> Schema:
    """Schema under which one example with these features can be written."""
    kinds: dict[str, Any] = {name: kind for name, (kind, _) in features.items() if kind}
    return Schema({name: Feature(kind, (None,), optional=True) for name, kind in kinds.items()})


def written(kind: str, values: Sequence[Any]) -> Any:
    """Values as a caller would hand them over."""
    return list(values) if kind == "bytes" else np.array(values, kind)


@st.composite
def tables(draw: st.DrawFn, kinds: Mapping[int, str]) -> tuple[Schema, list[dict[str, Plain]]]:
    """Draw a schema and examples that fit it: fixed counts, varying ones, features that some lack."""
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
        {name: plain for name in names if (plain := columns[name][place]) is not None} for place in range(num_records)
    ]
    return Schema(features), examples


class PayloadTests:
    """What holds for each codec whose messages are maps of features.

    Attributes
    ----------
    codec : NativeCodec
    kinds : mapping of int to str
        Field numbers and kinds of the message.
    decode : callable
        Oracle: a payload as `Told`, or an `OracleError`.
    encode : callable
        Oracle: the canonical payload of features.
    odd : callable
        A legal but odd payload of features.
    canonical, unusual : callable
        Strategies: canonical payloads; pairs of an odd payload and what it tells.
    literals : tuple of (example, str)
        Examples and the hexadecimal bytes that they become, from the specification.
    """

    codec: ClassVar[NativeCodec]
    kinds: ClassVar[Mapping[int, str]]
    decode: ClassVar[Callable[[bytes], Told]]
    encode: ClassVar[Callable[[Mapping[str, Plain]], bytes]]
    odd: ClassVar[Callable[[Mapping[str, Plain], Random], bytes]]
    canonical: ClassVar[Callable[[], st.SearchStrategy[bytes]]]
    unusual: ClassVar[Callable[[], st.SearchStrategy[bytes]]]
    literals: ClassVar[tuple[tuple[Mapping[str, Any], str], ...]]

    @classmethod
    def pytest_generate_tests(cls, metafunc: pytest.Metafunc) -> None:
        """Give tests the literals."""
        if "literal" in metafunc.fixturenames:
            metafunc.parametrize("literal", cls.literals, ids=lambda literal: literal[1][:24] or "empty")

    def outcome(self, read: Callable[[bytes], Told], payload: bytes) -> Told | str:
        """What a reader tells of a payload, or the kind of its fault."""
        try:
            return read(payload)
        except OracleError as error:
            return error.kind

    def told(self, payload: bytes) -> Told:
        """What the native parser tells."""
        return native_told(self.codec, payload)

    def test_serialize_of_literal_example_when_written_then_bytes_are_those_of_the_specification(
        self, literal: tuple[Mapping[str, Any], str]
    ) -> None:
        example, text = literal
        assert self.codec.serialize([example], None, 0)[0].hex() == text.replace(" ", "")

    @inherited
    @given(st.data())
    def test_parse_of_canonical_payload_when_read_then_agrees_with_the_oracle(self, data: st.DataObject) -> None:
        payload = data.draw(type(self).canonical())
        assert self.told(payload) == type(self).decode(payload)

    @inherited
    @given(st.data())
    def test_parse_of_unusual_payload_when_read_then_agrees_with_the_oracle(self, data: st.DataObject) -> None:
        payload = data.draw(type(self).unusual())
        assert self.told(payload) == type(self).decode(payload)

    @inherited
    @given(st.data())
    def test_parse_of_mutated_payload_when_read_then_agrees_with_the_oracle(self, data: st.DataObject) -> None:
        sound = data.draw(st.one_of(type(self).canonical(), type(self).unusual()))
        payload = data.draw(strategies.mutations(sound))
        expected = self.outcome(type(self).decode, payload)
        assert self.outcome(self.told, payload) == expected
        packed = splits_of([payload])
        framed = _core.frame(packed.data, packed.row_splits, _core.FrameKind.TFRECORD)[0]
        source = _core.Source.from_bytes(framed)
        faults = _core.verify(source, _core.FrameKind.TFRECORD, self.codec.kind)[1]
        assert [fault[0] for fault in faults] == ([expected] if isinstance(expected, str) else [])

    @inherited
    @given(st.data())
    def test_parse_of_tables_when_read_at_once_then_columns_hold_every_row(self, data: st.DataObject) -> None:
        schema, examples = data.draw(tables(self.kinds))
        rng = data.draw(st.randoms(use_true_random=False))
        payloads = [type(self).odd(row, rng) if rng.random() < 0.3 else type(self).encode(row) for row in examples]
        columns = self.codec.parse(splits_of(payloads), schema)
        assert list(columns) == list(schema)
        for name, feature in schema.items():
            want = [list(row.get(name, (None, []))[1]) for row in examples]
            want = [row[0] for row in want] if feature.shape == () else want
            assert len(columns[name]) == len(examples)
            assert isinstance(columns[name], Ragged) == (feature.kind == "bytes" or None in feature.shape)
            assert spelled(columns[name]) == spelled(want), name

    @inherited
    @given(st.data())
    def test_serialize_of_tables_when_written_at_once_then_payloads_are_the_oracles(self, data: st.DataObject) -> None:
        schema, examples = data.draw(tables(self.kinds))
        given_ = [
            {
                name: written(kind or "", values)[0] if schema[name].shape == () else written(kind or "", values)
                for name, (kind, values) in row.items()
            }
            for row in examples
        ]
        found = self.codec.serialize(given_, schema, 0)
        assert list(found) == [type(self).encode(row) for row in examples]

    def test_feature_list_when_the_codec_has_none_then_is_refused_or_written(self) -> None:
        example = {"a": FeatureList([[1], [2, 3]])}
        if self.codec.name == "sequence_example":
            payload = self.codec.serialize([example], None, 0)[0]
            assert self.told(payload) == {"list:a": ("int64", [["1"], ["2", "3"]])}
        else:
            with pytest.raises(ValueError, match="list"):
                self.codec.serialize([example], None, 0)

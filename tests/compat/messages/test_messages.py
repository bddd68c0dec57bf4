"""Messages by themselves: wording of refusals, parts that are looked at before they are set, copies, bad bytes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from recordmill.errors import PayloadError
from tests.compat.messages.twins import (
    Example,
    Feature,
    FeatureList,
    Features,
    Int32s,
    List1,
    List2,
    List3,
    OFFeature,
    OFRecord,
)


@pytest.mark.parametrize(
    "act, kind, text",
    [
        (lambda: List3([1]), TypeError, "No positional arguments allowed"),
        (lambda: Feature(value=[1]), ValueError, 'Protocol message Feature has no "value" field.'),
        (lambda: List3(value=[1.0]), TypeError, "'float' object cannot be interpreted as an integer"),
        (lambda: List3(value=3), TypeError, "must assign iterable"),
        (lambda: List3(value=[2**63]), ValueError, "Value out of range: 9223372036854775808"),
        (lambda: List1(value=["a"]), TypeError, "expected bytes, str found"),
        (lambda: List1(value=[np.zeros(3)]), TypeError, "expected bytes, numpy.ndarray found"),
        (lambda: List2(value=["1"]), TypeError, "must be real number, not str"),
        (lambda: Feature(int64=List2()), TypeError, "dict or instance of same class"),
        (lambda: Feature().CopyFrom(List2()), TypeError, "Parameter to CopyFrom"),
        (lambda: Feature().HasField("nothing"), ValueError, 'has no "nothing" field'),
        (lambda: List3().HasField("value"), ValueError, "does not have presence"),
        (lambda: Feature().WhichOneof("sort"), ValueError, 'has no "sort" field'),
        (lambda: Feature().ClearField("nothing"), ValueError, 'has no "nothing" field'),
        (lambda: setattr(Feature(), "int64", List3()), AttributeError, "Assignment not allowed to message field"),
        (lambda: setattr(List3(), "value", [1]), AttributeError, "Assignment not allowed to map, or repeated field"),
        (lambda: setattr(Feature(), "nothing", 1), AttributeError, "nothing"),
        (lambda: delattr(Feature(), "int64"), AttributeError, "Cannot delete field attribute"),
        (lambda: Features().feature.__setitem__("a", Feature()), ValueError, "may not be assigned"),
        (lambda: Features().feature.__delitem__("a"), KeyError, "Key not present in map"),
        (lambda: Features().feature[3], TypeError, "expected str"),
        (lambda: Features().feature["\ud800"], UnicodeEncodeError, "surrogates"),
        (lambda: FeatureList(feature=[{}]).feature.__setitem__(0, Feature()), TypeError, "not support assignment"),
        (lambda: FeatureList().feature.append(List3()), TypeError, "Parameter to MergeFrom"),
        (lambda: hash(Feature()), TypeError, "unhashable"),
        (lambda: Example.FromString("text"), TypeError, "expected bytes, str found"),
    ],
)
def test_message_when_misused_then_says_so_in_protobufs_words(
    act: Callable[[], Any], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind) as caught:
        act()
    assert text in str(caught.value)


def test_field_when_only_looked_at_then_stays_absent() -> None:
    example = Example()
    assert list(example.features.feature) == [] and example.features.feature.get("k") is None
    assert not example.HasField("features") and example.SerializeToString() == b"" and str(example) == ""


def test_value_when_appended_deep_inside_then_everything_around_it_is_present() -> None:
    example = Example()
    entries = example.features.feature
    entries["k"].int64.value.append(3)
    assert example.HasField("features") and example.features.feature["k"].WhichOneof("kind") == "int64"
    assert example.SerializeToString().hex() == "0a0c0a0a0a016b12051a030a0103"


def test_oneof_when_another_kind_is_set_then_the_first_is_a_message_of_its_own() -> None:
    feature = Feature(int64={"value": [1]})
    before = feature.int64
    feature.float32.value.append(2)
    before.value.append(5)
    assert feature.WhichOneof("kind") == "float32" and list(before.value) == [1, 5]
    assert str(feature) == "float32 {\n  value: 2\n}\n" and list(feature.int64.value) == []


def test_message_put_into_another_when_changed_later_then_only_itself_changes() -> None:
    feature = Feature(int64={"value": [1]})
    record = Features(feature={"a": feature})
    steps = FeatureList(feature=[feature])
    feature.int64.value[0] = 9
    assert record.feature["a"].int64.value == [1] == steps.feature[0].int64.value


def test_part_that_is_held_when_its_message_is_cleared_and_copied_then_the_copy_stays() -> None:
    record = Example()
    held = record.features
    record.Clear()
    held.feature["a"].int64.value.append(1)
    copied = copy.deepcopy(record)
    held.feature["a"].int64.value.append(2)
    assert list(copied.features.feature["a"].int64.value) == [1]
    assert list(record.features.feature["a"].int64.value) == [1, 2]


def test_map_when_used_as_a_mapping_then_behaves_like_one() -> None:
    entries = Features(feature={"a": {}, "b": {"int64": {"value": [1]}}}).feature
    assert sorted(entries) == ["a", "b"] and "a" in entries and len(entries) == 2
    assert {key: value.WhichOneof("kind") for key, value in entries.items()} == {"a": None, "b": "int64"}
    assert entries.pop("a") == Feature() and entries.pop("a", None) is None
    other = Features(feature={"b": {"float32": {}}}).feature
    entries.MergeFrom(other)
    assert entries["b"].WhichOneof("kind") == "float32" and entries.get_or_create("c") == Feature()
    del entries["c"]
    entries.clear()
    assert not entries


def test_list_of_messages_when_edited_then_holds_what_it_was_told() -> None:
    steps = FeatureList().feature
    added = steps.add(int64={"value": [1]})
    added.int64.value.append(2)
    steps.extend([Feature(), Feature(float32={})])
    steps.insert(0, Feature(bytes={"value": [b"x"]}))
    assert [step.WhichOneof("kind") for step in steps] == ["bytes", "int64", None, "float32"]
    steps.reverse()
    steps.remove(Feature())
    del steps[0]
    assert steps.pop().bytes.value == [b"x"] and steps == [Feature(int64={"value": [1, 2]})]
    steps.sort(key=lambda step: len(step.int64.value))
    assert steps[0:1] == [added] and repr(steps) == repr(list(steps))


def test_message_when_copied_or_pickled_then_is_equal_and_apart() -> None:
    record = OFRecord(feature={"é": {"float64": {"value": [0.1]}}, "n": {"int32": {"value": [-1]}}})
    for copied in (copy.deepcopy(record), copy.copy(record), pickle.loads(pickle.dumps(record))):
        assert copied == record and copied is not record
        copied.feature["n"].int32.value.append(1)
        assert copied != record and record.feature["n"].int32.value == [-1]


def test_message_when_merged_then_lists_grow_and_map_entries_are_replaced() -> None:
    feature = Feature(int64={"value": [1]})
    feature.MergeFrom(Feature(int64={"value": [2]}))
    assert feature.int64.value == [1, 2]
    record = Features(feature={"a": feature})
    record.MergeFrom(Features(feature={"a": {"int64": {"value": [3]}}}))
    assert record.feature["a"].int64.value == [3]
    record.CopyFrom(record)
    assert record.feature["a"].int64.value == [3]


def test_text_when_a_record_has_every_kind_then_is_protobufs() -> None:
    record = OFRecord()
    record.feature["b"].bytes.value.append(b'\x00\n"\xff')
    record.feature['a"é'].float64.value.extend([0.1, 1e300, -0.0])
    assert str(record) == (
        'feature {\n  key: "a\\"é"\n  value {\n    float64 {\n      value: 0.1\n      value: 1e+300\n'
        '      value: -0\n    }\n  }\n}\nfeature {\n  key: "b"\n  value {\n    bytes {\n'
        '      value: "\\000\\n\\"\\377"\n    }\n  }\n}\n'
    )


def test_list_when_used_with_numpy_then_is_an_array_of_its_values() -> None:
    assert np.asarray(Int32s(value=np.arange(3)).value).tolist() == [0, 1, 2]
    assert np.array(List2(value=[0.5]).value, np.float32).dtype == np.float32


@pytest.mark.parametrize("cls", [Example, OFRecord])
@pytest.mark.parametrize(
    "data", [b"\xff", b"\x0a\x05", b"\x00\x00", b"\x0c", b"\x07", b"\x0b" * 200, b"\x0a\x02\x12\x05"]
)
def test_bytes_that_are_no_message_when_parsed_then_raise_an_error_with_an_offset(cls: Any, data: bytes) -> None:
    with pytest.raises(PayloadError, match="Error parsing message with type") as caught:
        cls.FromString(data)
    assert isinstance(caught.value, ValueError) and caught.value.offset is not None
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_names_that_are_not_utf8_when_parsed_then_are_kept_by_proto2_and_refused_by_proto3() -> None:
    data = b"\x0a\x05\x0a\x01\xff\x12\x00"
    record = OFRecord.FromString(data)
    assert list(record.feature) == ["\udcff"] and record.SerializeToString() == data
    assert 'key: "\\377"' in str(record)
    with pytest.raises(PayloadError, match="not UTF-8"):
        Features.FromString(data)


def test_entry_with_a_field_more_when_parsed_then_counts_in_proto2_alone() -> None:
    data = bytes.fromhex("0a070a016112001801")
    assert OFRecord.FromString(data).feature["a"] == OFFeature()
    assert not Features.FromString(data).feature and Features.FromString(data).SerializeToString() == data[:1] + (
        b"\x07\x0a\x01a\x12\x00\x18\x01"
    )

"""Errors of writers: they name the record, the feature and the value, and nothing remains of the output."""

from __future__ import annotations

import pickle
from collections import UserDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm

Write = Callable[..., Any]


def write_examples(path: Path, examples: list[Any], **options: Any) -> None:
    with rm.ShardWriter(path, **options) as writer:
        for example in examples:
            writer.write(example)


def pack_examples(path: Path, examples: list[Any], **options: Any) -> None:
    rm.pack(examples, path, **options)


WRITE = pytest.mark.parametrize("write", [write_examples, pack_examples])

# An example that cannot be stored, the feature that the error names, and the value that it shows.
INVALID: list[tuple[str, dict[str, Any], Any, str | None, str]] = [
    ("tfrecord", {"a": 7}, {"a": object}, "a", "<class 'object'>"),
    ("tfrecord", {"a": 7}, {"a": "text"}, "a", "'text'"),
    ("tfrecord", {"a": 7}, {"a": 2**70}, "a", str(2**70)),
    ("tfrecord", {"a": 7}, {"a": [5, 2**63]}, "a", str(2**63)),
    ("tfrecord", {"a": 7}, {"a": [[1], [2, 3]]}, "a", "[[1], [2, 3]]"),
    ("tfrecord", {"a": 7}, {"a": 1j}, "a", "1j"),
    ("tfrecord", {"a": b"x"}, {"a": 7}, "a", "7"),
    ("tfrecord", {"a": b"x"}, {"a": [b"y", 7]}, "a", "7"),
    ("tfrecord", {"a": 7}, {"a": bytes(1000)}, "a", r"b'\x00\x00"),
    ("tfrecord", {"a": 7}, {"a": "x" * 1000}, "a", "'xxxx"),
    ("tfrecord", {"a": 7}, {"a": rm.FeatureList([[1]])}, "a", "FeatureList"),
    ("ofrecord", {"a": np.int32(7)}, {"a": 0.5}, "a", "0.5"),
    ("recordio", {"image": b"x", "label": 7}, {"image": b"x", "label": "seven"}, "label", "'seven'"),
    ("recordio", {"image": b"x", "label": 7}, {"image": b"x", "id": -1}, "id", "-1"),
    ("recordio", {"image": b"x", "label": 7}, {"image": 7}, "image", "7"),
    ("recordio", {"image": b"x", "label": 7}, {"picture": b"x"}, None, "image, picture"),
]


@WRITE
@pytest.mark.parametrize("num_before", [1, 300])
@pytest.mark.parametrize("format_name, valid, invalid, feature, found", INVALID, ids=range(len(INVALID)))
def test_writer_names_record_and_value_that_cannot_be_stored(
    tmp_path: Path,
    write: Write,
    format_name: str,
    valid: Any,
    invalid: Any,
    feature: str | None,
    found: str,
    num_before: int,
) -> None:
    examples = [valid] * num_before + [invalid] + [valid] * 20
    with pytest.raises(rm.FeatureError) as caught:
        write(tmp_path / "part", examples, format=format_name)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.record, error.feature) == (num_before, feature)
    assert (error.found or "").startswith(found) and len(error.found) < 100
    assert f"record {num_before}" in str(error)
    assert list(tmp_path.iterdir()) == []


@WRITE
def test_schema_violation_names_record_of_all_shards(tmp_path: Path, write: Write) -> None:
    schema = rm.Schema({"a": rm.Feature("int64"), "b": rm.Feature("int64", (2,))})
    valid = {"a": 1, "b": [1, 2]}
    cases: list[tuple[dict[str, Any], str | None, str]] = [
        ({"a": 1, "b": [1, 2, 3]}, "b", "3 values"),
        ({"a": 1}, "b", "none"),
        ({"a": 0.5, "b": [1, 2]}, "a", "0.5"),
        ({"a": 1, "b": [1, 2], "c": 3}, None, "a, b, c"),
    ]
    for invalid, feature, found in cases:
        with pytest.raises(rm.FeatureError) as caught:
            write(tmp_path / "part", [*[valid] * 700, invalid, valid], schema=schema, shards=3)
        assert (caught.value.record, caught.value.feature, caught.value.found) == (700, feature, found)
        assert list(tmp_path.iterdir()) == []


@WRITE
@pytest.mark.parametrize("example", ["text", 7, None, [1, 2], [("a", 1)], {1, 2}, np.zeros(3)], ids=repr)
def test_writer_rejects_example_that_is_not_a_mapping(tmp_path: Path, write: Write, example: Any) -> None:
    with pytest.raises(TypeError, match="an example must be a mapping") as caught:
        write(tmp_path / "part", [{"a": 1}] * 300 + [example])
    error = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(error, rm.ExampleTypeError) and isinstance(error, rm.FeatureError)
    assert error.record == 300 and type(example).__name__ in (error.found or "")
    assert list(tmp_path.iterdir()) == []


@WRITE
@pytest.mark.parametrize("name", [1, None, b"a", ("a",)])
def test_writer_rejects_feature_name_that_is_not_a_string(tmp_path: Path, write: Write, name: Any) -> None:
    with pytest.raises(TypeError, match="a feature name must be a str") as caught:
        write(tmp_path / "part", [{"a": 1}, {"a": 1, name: 2}])
    assert isinstance(caught.value, rm.ExampleTypeError)
    assert (caught.value.record, caught.value.found) == (1, repr(name))
    assert list(tmp_path.iterdir()) == []


def test_writer_accepts_any_mapping(tmp_path: Path) -> None:
    write_examples(tmp_path / "part", [UserDict(a=1), {np.str_("a"): 2}])
    assert [example["a"] for example in rm.open(tmp_path)] == [1, 2]


@pytest.mark.parametrize("value", [5, "text", [1, 2], None, 0.5], ids=repr)
def test_raw_payload_must_be_bytes(tmp_path: Path, value: Any) -> None:
    with pytest.raises(rm.FeatureError, match="feature 'payload' cannot be stored") as caught:
        write_examples(tmp_path / "part", [{"payload": b"x"}, {"payload": value}], payload="raw")
    assert (caught.value.record, caught.value.feature, caught.value.found) == (1, "payload", repr(value))
    writer = rm.PayloadWriter(tmp_path / "file", format="tfrecord")
    with pytest.raises(TypeError, match="a payload must be bytes"):
        writer.write(value)
    writer.discard()
    assert list(tmp_path.iterdir()) == []


def test_failed_writer_raises_its_error_again_and_writes_nothing(tmp_path: Path) -> None:
    writer = rm.ShardWriter(tmp_path / "part", shards=2)

    def write() -> None:
        for number in range(1000):
            writer.write({"a": object() if number == 3 else number})

    with pytest.raises(rm.FeatureError) as caught:
        write()
    assert caught.value.record == 3 and list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="is closed"):
        writer.write({"a": 1})
    with pytest.raises(rm.FeatureError) as again:
        writer.close()
    assert again.value is caught.value
    writer.discard()
    assert list(tmp_path.iterdir()) == []


def test_with_block_that_ignores_error_of_write_does_not_write_the_other_records(tmp_path: Path) -> None:
    def write() -> None:
        with rm.ShardWriter(tmp_path / "part") as writer:
            writer.write({"a": 1})
            with pytest.raises(rm.ExampleTypeError):
                writer.write("text")  # type: ignore[arg-type]

    with pytest.raises(rm.ExampleTypeError):
        write()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("writer_class", [rm.ShardWriter, rm.PayloadWriter])
def test_close_after_failed_write_does_not_commit_a_part_of_the_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer_class: Any
) -> None:
    writer = writer_class(tmp_path / "a.tfrecord", format="tfrecord")
    writer.write(bytes(100))
    with monkeypatch.context() as patch:
        patch.setattr("os.write", lambda fd, data: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(rm.WriteError):
            writer.write(bytes(5 << 20))
    with pytest.raises(rm.WriteError, match="No space left"):
        writer.close()
    assert list(tmp_path.iterdir()) == []

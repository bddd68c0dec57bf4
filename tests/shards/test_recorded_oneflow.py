"""Parts and messages read by OneFlow 0.9.0: all records and values are equal and in the same order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.errors import RecordmillError
from recordmill.formats.ofrecord.payload import OFRECORD_MESSAGE
from recordmill.storage.local import natural_sort_key
from recordmill.testing.framing_suite import pack_payloads
from tests.recorded import (
    KINDS,
    RECORDINGS,
    copy_recordings,
    decode_features,
    load_cases,
    load_recording,
    to_comparable,
    to_writable,
)

SETS = load_cases("oneflow/parts/expected.json", "sets")
CANONICAL = load_cases("oneflow/messages.json", "canonical")
ODD = load_cases("oneflow/messages.json", "odd")
DAMAGES = [case for case in load_cases("oneflow/damage/expected.json", "cases") if case["directory"] != "missing"]


def name_of(case: Any) -> str:
    return str(case.get("directory") or case.get("name"))


def read(payload: bytes) -> dict[str, Any] | None:
    """Return the features of a payload with floats as bits; None if it cannot be parsed."""
    packed = pack_payloads([payload])
    found = OFRECORD_MESSAGE.infer_features(packed)
    if found.fault is not None:
        return None
    kinds = {name: summary.feature.kind for name, summary in found.features.items()}
    schema = rm.Schema({name: rm.Feature(kind, (None,), optional=True) for name, kind in kinds.items()})
    columns = OFRECORD_MESSAGE.parse(packed, schema)
    return {name: (kind, to_comparable(kind, columns[name][0])) for name, kind in kinds.items()}


def part_paths(folder: Path, num_parts: int) -> list[str]:
    """Return the first parts, as OneFlow opens them."""
    return sorted((str(path) for path in folder.iterdir()), key=natural_sort_key)[:num_parts]


def test_oneflow_recordings_are_complete() -> None:
    assert len(load_recording("oneflow/parts/expected.json")["sets"]) >= 11
    assert len(load_recording("oneflow/messages.json")["canonical"]) >= 100
    assert len(load_recording("oneflow/messages.json")["odd"]) >= 40
    assert len(load_recording("oneflow/damage/expected.json")["cases"]) >= 50


@pytest.mark.parametrize("case", SETS, ids=name_of)
def test_parts_have_records_of_oneflow(case: dict[str, Any], tmp_path: Path) -> None:
    folder = copy_recordings("oneflow/parts", tmp_path) / case["directory"]
    payloads = [bytes.fromhex(text) for text in case["records"]]
    paths = part_paths(folder, case["num_parts"])
    dataset = rm.open(paths, format="ofrecord", payload="raw")
    assert [example["payload"] for example in dataset] == payloads
    assert list(rm.ShardReader(paths, format="ofrecord")) == payloads
    assert [read(payload) for payload in payloads] == [decode_features(features) for features in case["examples"]]


@pytest.mark.parametrize("case", [case for case in SETS if set(case["fields"]) == {"images", "labels"}], ids=name_of)
def test_parts_have_columns_of_oneflow_decoders(case: dict[str, Any], tmp_path: Path) -> None:
    folder = copy_recordings("oneflow/parts", tmp_path) / case["directory"]
    schema = rm.Schema({"images": rm.Feature("bytes"), "labels": rm.Feature("int32", (1,))})
    dataset = rm.open(part_paths(folder, case["num_parts"]), format="ofrecord", schema=schema)
    columns = dataset.to_numpy()
    num_records = len(dataset)
    images, labels = (case["fields"][name]["values"][:num_records] for name in ("images", "labels"))
    assert [image.hex() for image in columns["images"]] == images
    assert columns["labels"].dtype == np.int32
    assert [label.astype("<i4").tobytes().hex() for label in columns["labels"]] == labels


@pytest.mark.parametrize("place", range(len(CANONICAL)))
def test_written_message_is_byte_identical_to_protobuf(place: int) -> None:
    case = CANONICAL[place]
    payload = bytes.fromhex(case["serialized"])
    assert read(payload) == decode_features(case["features"])
    if all(entry["kind"] for entry in case["features"].values()):
        example = {name: to_writable(entry) for name, entry in case["features"].items()}
        schema = rm.Schema(
            {name: rm.Feature(KINDS[entry["kind"]], (None,)) for name, entry in case["features"].items()}
        )
        ours = OFRECORD_MESSAGE.serialize([example], schema, 0)[0]
        if has_prefix_pair([*schema]):
            assert sorted(ours) == sorted(payload)
        else:
            assert ours == payload


def has_prefix_pair(names: list[str]) -> bool:
    """Return True if the order of keys depends on protobuf: version 3.20 (OneFlow) puts "a" before "ab", upb after."""
    return any(first != second and second.startswith(first) for first in names for second in names)


@pytest.mark.parametrize("case", ODD, ids=name_of)
def test_unusual_message_is_read_like_protobuf(case: dict[str, Any]) -> None:
    found, expected = read(bytes.fromhex(case["serialized"])), case["protobuf"]
    if "error" in expected:
        assert found is None
        return
    assert found is not None
    odd_keys = {
        name for name in found if name.encode("utf-8", "surrogateescape").hex() in expected.get("keys_not_utf8", ())
    }
    assert len(odd_keys) == len(expected.get("keys_not_utf8", ()))
    plain = {name: value for name, value in found.items() if name not in odd_keys}
    assert plain == decode_features(expected["features"])


@pytest.mark.parametrize("case", DAMAGES, ids=name_of)
def test_damaged_parts_yield_only_intact_records(case: dict[str, Any], tmp_path: Path) -> None:
    """OneFlow continues from the start or aborts the process; we return the intact records and raise an error."""
    folder = RECORDINGS / "oneflow/damage" / case["directory"]
    paths = part_paths(folder, case["num_parts"]) if folder.is_dir() else [str(folder)]
    found: list[bytes] = []
    error: RecordmillError | None = None
    try:
        for payload in rm.ShardReader(paths, format="ofrecord", compression=None, index="never"):
            found.append(payload)  # noqa: PERF402
    except RecordmillError as caught:
        error = caught
    if error is not None:
        assert error.hint
        assert error.shard
        assert isinstance(error, rm.FormatError) or error.record == len(found)
    else:
        decoded = case.get("decoded", {}).get("images")
        readable = [read(payload) for payload in found]
        if decoded and None not in readable:
            images = [row["images"][1][0].hex() for row in readable if row and "images" in row]
            assert decoded[: len(images)] == images[: len(decoded)]

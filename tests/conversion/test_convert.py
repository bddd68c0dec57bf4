"""`convert` writes records of any format to shards of any other format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill as rm


def write(path: Path, examples: list[Any], **options: Any) -> Path:
    with rm.ShardWriter(path, **options) as writer:
        for example in examples:
            writer.write(example)
    return path


def numbered(count: int) -> list[dict[str, Any]]:
    return [
        {
            "label": number,
            "name": f"n{number}",
            "scores": np.arange(number % 3, dtype=np.float32),
            "image": bytes([number]),
        }
        for number in range(count)
    ]


def labels(path: Any) -> list[int]:
    return [int(example["label"]) for example in rm.open(path)]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    examples = numbered(20)
    # The writer distributes records round-robin; in this order, the shards contain consecutive labels.
    return write(tmp_path / "in" / "train", [examples[row % 3 * 7 + row // 3] for row in range(20)], shards=3)


def test_convert_copies_payloads_to_another_number_of_shards(source: Path, tmp_path: Path) -> None:
    result = rm.convert(source, tmp_path / "out" / "train", shards=4)
    assert (result.num_records, len(result.paths), result.skipped) == (20, 4, [])
    payloads = [payload for path in result.paths for payload in rm.ShardReader(path)]
    assert payloads == [
        payload
        for path in sorted(source.parent.glob("train-*"))
        if path.suffix != ".idx"
        for payload in rm.ShardReader(path)
    ]
    assert rm.verify(result.paths).ok


def test_convert_to_ofrecord_and_back_gives_the_same_bytes(source: Path, tmp_path: Path) -> None:
    rm.convert(source, tmp_path / "b", format="ofrecord", shards=2)
    result = rm.convert(tmp_path / "b", tmp_path / "c.tfrecord", format="tfrecord")
    direct = rm.convert(source, tmp_path / "d.tfrecord")
    assert Path(result.paths[0]).read_bytes() == Path(direct.paths[0]).read_bytes()


values = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3).map(lambda row: np.array(row, np.int64)),
    st.lists(st.floats(width=32), max_size=3).map(lambda row: np.array(row, np.float32)),
    st.lists(st.binary(max_size=3), min_size=1, max_size=3),
)
examples = st.lists(
    st.dictionaries(st.sampled_from(["a", "b", "image/encoded"]), values, min_size=1), min_size=1, max_size=6
)


@given(examples)
def test_convert_there_and_back_keeps_canonical_bytes(tmp_path_factory: pytest.TempPathFactory, records: Any) -> None:
    folder = tmp_path_factory.mktemp("round")
    with rm.ShardWriter(folder / "a.tfrecord", index="never") as writer:
        for record in records:
            payload = folder / "p.tfrecord"
            with rm.ShardWriter(payload, overwrite=True) as single:
                single.write(record)
            writer.write(rm.ShardReader(payload)[0])
    rm.convert(folder / "a.tfrecord", folder / "b", format="ofrecord", payload="ofrecord")
    rm.convert(folder / "b", folder / "c.tfrecord", payload="example")
    assert (folder / "c.tfrecord").read_bytes() == (folder / "a.tfrecord").read_bytes()


def test_convert_applies_options_in_order(source: Path, tmp_path: Path) -> None:
    rm.convert(source, tmp_path / "out", where="label >= 4 and len(scores) > 0", skip=2, take=3)
    assert labels(tmp_path / "out") == [7, 8, 10]
    rm.convert(source, tmp_path / "shuffled", skip=10, shuffle=1)
    assert sorted(labels(tmp_path / "shuffled")) == list(range(10, 20)) != labels(tmp_path / "shuffled")


def test_convert_selects_renames_and_casts_features(source: Path, tmp_path: Path) -> None:
    rm.convert(source, tmp_path / "a", drop=["scores"], rename={"name": "title"}, cast={"label": "float32"})
    assert set(rm.open(tmp_path / "a").schema) == {"label", "title", "image"}
    assert rm.open(tmp_path / "a").schema["label"].kind == "float32"
    rm.convert(source, tmp_path / "b.rec", select=["image", "label"], cast={"label": "float32"})
    example = rm.open(tmp_path / "b.rec")[3]
    assert (example["image"], float(example["label"]), int(example["id"])) == (b"\x03", 3.0, 3)


@pytest.mark.parametrize(
    "options, feature",
    [
        ({"format": "recordio"}, "label"),
        ({"format": "recordio", "drop": ["label"]}, "scores"),
        ({"format": "recordio", "drop": ["label", "scores"]}, "name"),
        ({"drop": ["labl"]}, "labl"),
        ({"cast": {"label": "int32"}}, "label"),
        ({"rename": {"label": "name"}}, "name"),
    ],
)
def test_convert_refuses_what_cannot_be_stored(source: Path, tmp_path: Path, options: Any, feature: str) -> None:
    with pytest.raises(rm.FeatureError) as caught:
        rm.convert(source, tmp_path / "out" / "x", **options)
    assert caught.value.feature == feature
    assert not (tmp_path / "out").exists()


def test_convert_refuses_sequences_in_ofrecord(tmp_path: Path) -> None:
    words = rm.FeatureList([[1], [2, 3]])
    write(tmp_path / "s.tfrecord", [{"label": 1, "words": words}], payload="sequence_example")
    with pytest.raises(rm.FeatureError, match="words"):
        rm.convert(tmp_path / "s.tfrecord", tmp_path / "o", format="ofrecord")
    rm.convert(tmp_path / "s.tfrecord", tmp_path / "t.tfrecord", rename={"label": "class"})
    assert set(rm.open(tmp_path / "t.tfrecord").schema) == {"class", "words"}


def test_convert_merges_sources_of_several_formats(source: Path, tmp_path: Path) -> None:
    other = write(
        tmp_path / "other",
        [{"label": 100, "extra": 1.5}],
        format="ofrecord",
        schema={"label": rm.Feature("int64"), "extra": rm.Feature("float32")},
    )
    rm.convert([source, other], tmp_path / "all", format="tfrecord", shuffle=3, shards=2)
    assert sorted(labels(tmp_path / "all")) == [*range(20), 100]
    assert {len(example["extra"]) for example in rm.open(tmp_path / "all")} == {0, 1}


@pytest.mark.parametrize("workers", [1, 3])
def test_convert_reports_damage_with_its_place(source: Path, tmp_path: Path, workers: int) -> None:
    path = next(path for path in sorted(source.parent.iterdir()) if path.name.startswith("train-00001"))
    with rm.ShardReader(path) as reader:
        offset = int(reader.index.offsets[2])
    data = bytearray(path.read_bytes())
    data[offset + 14] ^= 1
    path.write_bytes(data)
    with pytest.raises(rm.DamageError) as caught:
        rm.convert(path, tmp_path / "out", format="ofrecord", workers=workers)
    assert (caught.value.shard, caught.value.record, caught.value.offset) == (str(path), 2, offset)
    assert not list(tmp_path.glob("*out*"))
    result = rm.convert(path, tmp_path / "out", format="ofrecord", workers=workers, on_error="skip")
    assert result.num_records == 6
    assert [(record.shard, record.record) for record in result.skipped] == [(str(path), 2)]


def test_convert_resumes_after_an_interruption(source: Path, tmp_path: Path) -> None:
    def interrupt(done: int, total: int | None) -> None:
        if done >= 10:
            raise KeyboardInterrupt

    options: dict[str, Any] = {"format": "recordio", "payload": "example", "shards": 4, "resume": True}
    with pytest.raises(KeyboardInterrupt):
        rm.convert(source, tmp_path / "out" / "train", progress=interrupt, **options)
    with pytest.raises(rm.ResumeError):
        rm.convert(source, tmp_path / "out" / "train", **options, skip=1)
    counts: list[int] = []
    rm.convert(source, tmp_path / "out" / "train", progress=lambda done, total: counts.append(done), **options)
    assert counts[0] == 5
    rm.convert(source, tmp_path / "again" / "train", **(options | {"resume": False}))
    for path in (tmp_path / "again").glob("*"):
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()


def test_convert_writes_results_of_dataset_functions(source: Path, tmp_path: Path) -> None:
    dataset = (
        rm.open(source)
        .filter(lambda sample: sample["label"] % 2 == 0)
        .map(lambda sample: {"twice": sample["label"] * 2})
    )
    result = rm.convert(dataset, tmp_path / "out", where="twice > 8", take=3, workers=2)
    assert result.num_records == 3
    assert [int(example["twice"]) for example in rm.open(tmp_path / "out")] == [12, 16, 20]
    with pytest.raises(ValueError, match="pickled"):
        rm.convert(dataset, tmp_path / "other", worker_kind="processes")
    with pytest.raises(ValueError, match="batch"):
        rm.convert(dataset.batch(2), tmp_path / "other")


def test_convert_keeps_the_order_of_a_dataset(source: Path, tmp_path: Path) -> None:
    dataset = rm.open(source).shuffle(seed=1).skip(2).take(7)
    rm.convert(dataset, tmp_path / "out", shards=3)
    assert labels(tmp_path / "out") == [int(sample["label"]) for sample in dataset]


@pytest.mark.deep
@pytest.mark.usefixtures("_light_main")
def test_convert_in_processes_writes_the_same_bytes(source: Path, tmp_path: Path) -> None:
    rm.convert(source, tmp_path / "a", format="ofrecord")
    rm.convert(source, tmp_path / "b", format="ofrecord", workers=2, worker_kind="processes")
    files = [min(tmp_path.glob(f"{name}*")).read_bytes() for name in "ab"]
    assert files[0] == files[1]


def test_convert_never_replaces_its_source(source: Path) -> None:
    with pytest.raises(rm.InputError):
        rm.convert(source, source, overwrite=True)
    assert labels(source) == list(range(20))

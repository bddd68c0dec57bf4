"""Class names of shards: in the manifest, in the index, and in ``labels.txt``."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordmill as rm

JPEG = b"\xff\xd8\xff\xe0 a photograph"


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    for name in ("cat", "dog"):
        (tmp_path / "pets" / name).mkdir(parents=True)
        (tmp_path / "pets" / name / "1.jpg").write_bytes(JPEG)
    rm.pack(tmp_path / "pets", tmp_path / "out/train", shards=2)
    return tmp_path / "out"


def write_shards(folder: Path) -> Path:
    with rm.ShardWriter(folder / "train", shards=2) as writer:
        for number in range(4):
            writer.write({"image": JPEG, "label": number % 2})
    return folder


def test_classes_of_packed_folder_are_known_to_dataset_and_info(packed: Path) -> None:
    assert rm.open(packed).classes == rm.info(packed).classes == ["cat", "dog"]


def test_classes_are_read_from_index_of_single_shard_and_without_manifest(packed: Path) -> None:
    shard = packed / "train-00001-of-00002.tfrecord"
    assert rm.open(shard).classes == rm.info(shard).classes == ["cat", "dog"]
    (packed / ".train.manifest.json").unlink()
    assert rm.open(packed).classes == rm.info(packed).classes == ["cat", "dog"]


def test_classes_survive_stages_and_pickling(packed: Path) -> None:
    dataset = rm.open(packed).shuffle(seed=1).map(lambda sample: sample).batch(2)
    assert dataset.classes == ["cat", "dog"]
    assert rm.mix([rm.open(packed), rm.open(packed).take(1)], weights=[1, 1]).classes == ["cat", "dog"]


@pytest.mark.parametrize("stage", ["none", "take", "map"])
def test_convert_keeps_classes_of_shards_without_manifest(packed: Path, tmp_path: Path, stage: str) -> None:
    (packed / ".train.manifest.json").unlink()
    dataset = rm.open(packed)
    sources = {"none": packed, "take": dataset.take(1), "map": dataset.map(lambda sample: sample)}
    rm.convert(sources[stage], tmp_path / "new/train", format="ofrecord")
    assert rm.open(tmp_path / "new").classes == ["cat", "dog"]


def test_split_and_salvage_keep_classes(packed: Path, tmp_path: Path) -> None:
    rm.split(packed, tmp_path / "parts", {"a": 0.5, "b": 0.5})
    rm.salvage(packed, tmp_path / "saved/train")
    for path in (tmp_path / "parts/a", tmp_path / "parts/b", tmp_path / "saved"):
        assert rm.open(path).classes == ["cat", "dog"]


def test_convert_and_salvage_store_classes_of_labels_file(tmp_path: Path) -> None:
    source = write_shards(tmp_path / "in")
    (source / "labels.txt").write_text("cat\ndog\n")
    rm.convert(source, tmp_path / "new/train")
    rm.salvage(source, tmp_path / "saved/train")
    for path in (tmp_path / "new", tmp_path / "saved"):
        assert rm.open(path).classes == ["cat", "dog"]


def test_convert_of_shards_with_other_classes_keeps_none(packed: Path, tmp_path: Path) -> None:
    rm.convert([packed, write_shards(tmp_path / "plain")], tmp_path / "new/train")
    assert rm.open(tmp_path / "new").classes is None


def test_mixture_of_other_classes_has_none(packed: Path, tmp_path: Path) -> None:
    other = rm.open(write_shards(tmp_path / "plain"))
    assert other.classes is None
    assert rm.mix([rm.open(packed), other], weights=[1, 1]).classes is None


@pytest.mark.parametrize("text", ["cat\ndog\n", "\ufeffcat\r\ndog\r\n\n", "1:dog\n0:cat\n"])
def test_labels_file_beside_shards_is_read(tmp_path: Path, text: str) -> None:
    folder = write_shards(tmp_path / "plain")
    (folder / "labels.txt").write_text(text, "utf-8")
    for source in (folder, folder / "train", folder / "train-*", folder / "train-00000-of-00002.tfrecord"):
        assert rm.open(source).classes == rm.info(source).classes == ["cat", "dog"]
    assert len(rm.open(folder)) == 4 and rm.info(folder).complete and rm.verify(folder).ok
    assert len(rm.build_index(folder)) == 2


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b'{"1.jpg": 0}\n', b"0\t1.0\ta.jpg\n", b"cat\n\ndog\n"])
def test_labels_file_with_other_content_is_ignored(tmp_path: Path, data: bytes) -> None:
    folder = write_shards(tmp_path / "plain")
    (folder / "labels.txt").write_bytes(data)
    assert rm.open(folder).classes is None and len(rm.open(folder)) == 4


def test_stored_classes_win_over_labels_file(packed: Path) -> None:
    (packed / "labels.txt").write_text("a\nb\n")
    assert rm.open(packed).classes == rm.info(packed).classes == ["cat", "dog"]


def test_rebuilt_index_keeps_classes(packed: Path) -> None:
    (packed / ".train.manifest.json").unlink()
    rm.build_index(packed)
    assert rm.open(packed).classes == ["cat", "dog"]


def test_exported_labels_file_keeps_names_that_look_like_numbered_lines(tmp_path: Path) -> None:
    shards = write_shards(tmp_path / "plain")
    rm.export(shards, tmp_path / "photos", to="folder", classes=["0:a", "1:b"], class_folders=False)
    (shards / "labels.txt").write_bytes((tmp_path / "photos/labels.txt").read_bytes())
    assert rm.open(shards).classes == ["0:a", "1:b"]

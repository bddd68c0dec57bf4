"""What `pack` refuses and leaves alone, and examples from iterables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from recordmill import ShardWriter, info
from recordmill.errors import FeatureError, InputError, OutputExistsError, WriteError
from recordmill.packing.pack import pack
from recordmill.packing.sources import ImageFolder
from tests.packing.packed import FORMATS, everything, read, visible
from tests.packing.pictures import jpeg
from tests.pictures import encode


def test_pack_when_source_is_a_path_then_it_is_found(class_folders: Path, tmp_path: Path) -> None:
    assert pack(str(class_folders), tmp_path / "train").num_records == 14


@pytest.mark.parametrize("name, format_", [("a.rec", "recordio"), ("a.of", "ofrecord"), ("a.tfrec", "tfrecord")])
def test_pack_when_destination_ends_like_a_format_then_is_that_shard(
    flat_folder: Path, tmp_path: Path, name: str, format_: str
) -> None:
    packed = pack(ImageFolder(flat_folder, labels=None), tmp_path / name, entry_points=True)
    with ShardWriter(tmp_path / f"b-{name}") as writer:
        writer.write({"image": b"", "label": 1})
    for path in (*packed.paths, *writer.paths):
        assert Path(path).name.endswith(name) and info(path).shards[0].format == format_


def test_pack_when_destination_ends_like_another_format_then_the_named_one_holds(
    flat_folder: Path, tmp_path: Path
) -> None:
    packed = pack(ImageFolder(flat_folder, labels=None), tmp_path / "a.rec", format="tfrecord")
    assert [Path(path).name for path in packed.paths] == ["a.rec-00000-of-00001.tfrecord"]


@pytest.mark.parametrize("format_", FORMATS)
def test_pack_when_output_is_there_then_is_refused_and_left_alone(
    flat_folder: Path, tmp_path: Path, format_: str
) -> None:
    source, options = ImageFolder(flat_folder, labels=None), {"format": format_, "shards": 3}
    first = pack(source, tmp_path / "out/train", **options)
    before = everything(tmp_path / "out")
    with pytest.raises(OutputExistsError, match="overwrite"):
        pack(source, tmp_path / "out/train", shuffle=1, **options)
    assert everything(tmp_path / "out") == before
    second = pack(source, tmp_path / "out/train", shuffle=1, overwrite=True, **options)
    assert second.paths == first.paths and everything(tmp_path / "out") != before


def test_pack_when_the_index_is_there_then_is_refused(flat_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "train.idx").write_text("mine")
    with pytest.raises(OutputExistsError, match=r"train\.idx"):
        pack(ImageFolder(flat_folder, labels=None), tmp_path / "train.rec", format="recordio")
    assert (tmp_path / "train.idx").read_text() == "mine" and not (tmp_path / "train.rec").exists()


def test_pack_when_the_folder_cannot_be_written_then_is_named(flat_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for place in (tmp_path / "file" / "train", Path("/proc/recordmill/train")):
        with pytest.raises(WriteError, match=str(place)):
            pack(ImageFolder(flat_folder, labels=None), place, workers=2)


@pytest.mark.parametrize(
    "options",
    [
        {"shards": 0}, {"shards": 2, "max_shard_bytes": 9}, {"max_shard_bytes": 0}, {"format": "tar"},
        {"payload": "json"}, {"compression": "zip"}, {"format": "ofrecord", "compression": "gzip"}, {"quality": 9},
        {"resize": 9}, {"color": True}, {"encode": "gif"}, {"encode": "png", "quality": 90},
        {"encode": "jpeg", "quality": 0}, {"encode": "jpeg", "resize": 0}, {"encode": "jpeg", "center_crop": -1},
        {"mask": "jpeg"}, {"check": "all"}, {"workers": 0}, {"worker_kind": "fibres"}, {"on_error": "ignore"},
        {"label_kind": "text"}, {"label_kind": "int64"}, {"schema": {}}, {"mask": "raw"},
    ],
)  # fmt: skip
def test_pack_when_an_option_means_nothing_then_is_refused(flat_folder: Path, tmp_path: Path, options: dict) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        pack(ImageFolder(flat_folder, labels=None), tmp_path / "out/train", **options)
    assert not (tmp_path / "out").exists()


def test_pack_when_the_destination_is_empty_then_is_refused(flat_folder: Path) -> None:
    with pytest.raises(ValueError, match="prefix of the shard names"):
        pack(ImageFolder(flat_folder, labels=None), "")


@pytest.mark.parametrize("name, fine", [("name", True), ("image", False), ("label", False)])
def test_pack_when_two_features_have_one_name_then_is_refused(
    class_folders: Path, tmp_path: Path, name: str, fine: bool
) -> None:
    if fine:
        assert pack(ImageFolder(class_folders), tmp_path / "a", keep_name=name).num_records == 14
        return
    with pytest.raises(FeatureError, match=name):
        pack(ImageFolder(class_folders), tmp_path / "a", keep_name=name)


@pytest.mark.parametrize("format_", FORMATS)
def test_examples_when_packed_then_have_the_bytes_of_the_shard_writer(tmp_path: Path, format_: str) -> None:
    image = "images" if format_ == "ofrecord" else "image"
    examples = [{image: jpeg(seed), "label": np.float32(seed)} for seed in range(5)]
    result = pack(iter(examples), tmp_path / "a/train", format=format_, shards=2)
    with ShardWriter(tmp_path / "b/train", format=format_, shards=2) as writer:
        for example in examples:
            writer.write(example)
    assert result.num_records == 5 and everything(tmp_path / "a") == everything(tmp_path / "b")
    assert result.to_json() == {"num_records": 5, "num_bytes": result.num_bytes, "paths": result.paths, "skipped": []}


def test_examples_when_shuffled_then_need_a_sequence(tmp_path: Path) -> None:
    examples = [{"x": number} for number in range(9)]
    result = pack(examples, tmp_path / "a", shuffle=2)
    assert read(result.paths[0])["x"].tolist() == np.random.Generator(np.random.PCG64(2)).permutation(9).tolist()
    with pytest.raises(InputError, match="sequence"):
        pack(iter(examples), tmp_path / "b", shuffle=2)


def test_examples_when_the_iterable_fails_then_nothing_is_left(tmp_path: Path) -> None:
    def examples():
        yield {"x": 1}
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        pack(examples(), tmp_path / "out/train")
    assert everything(tmp_path / "out") == {}
    with pytest.raises(ValueError, match="require a source of files"):
        pack(examples(), tmp_path / "out/train", encode="png")
    with pytest.raises(InputError, match="iterable"):
        pack({"x": 1}, tmp_path / "out/train")


def test_pack_when_destination_is_a_folder_then_shards_are_parts(flat_folder: Path, tmp_path: Path) -> None:
    result = pack(ImageFolder(flat_folder, labels=None), f"{tmp_path}/out/", format="ofrecord", shards=2)
    assert [Path(path).name for path in result.paths] == ["part-0", "part-1"]


def test_pack_when_a_tiff_is_read_then_its_bytes_are_kept(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for encoding in ("TIFF", "GIF", "BMP", "WEBP", "PNG"):
        (tmp_path / "in" / f"a.{encoding.lower()}").write_bytes(encode(Image.new("RGB", (5, 4)), encoding))
    result = pack(ImageFolder(tmp_path / "in", labels=None), tmp_path / "out")
    assert result.num_records == 5


@pytest.mark.parametrize("format_", FORMATS)
def test_pack_when_another_number_of_shards_is_there_then_they_are_never_mixed(
    flat_folder: Path, tmp_path: Path, format_: str
) -> None:
    source, out = ImageFolder(flat_folder, labels=None), tmp_path / "out"
    pack(source, out / "train", format=format_, shards=3)
    (out / "train-extra.txt").write_text("not a shard")
    before = everything(out)
    with pytest.raises(OutputExistsError, match="overwrite"):
        pack(source, out / "train", format=format_, shards=2)
    assert everything(out) == before
    packed = pack(source, out / "train", format=format_, shards=2, overwrite=True)
    names = [name for name in visible(out) if not name.endswith((".txt", ".idx", ".tfindex"))]
    assert names == [Path(path).name for path in packed.paths] and len(list(out.glob(".*.rmx"))) == 2
    assert (out / "train-extra.txt").exists()


def test_writer_when_shards_of_another_number_are_there_then_they_are_refused_or_removed(tmp_path: Path) -> None:
    for shards in (3, 2):
        with ShardWriter(tmp_path / "train", shards=shards, overwrite=True) as writer:
            writer.write({"a": 1})
        assert len(visible(tmp_path)) == shards
    with pytest.raises(OutputExistsError, match="another number"):
        ShardWriter(tmp_path / "train", shards=4)
    assert len(visible(tmp_path)) == 2

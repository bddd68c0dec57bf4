"""What `pack` writes: the same bytes as the shard writer, in the shards asked for, whatever does the work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recordmill import ShardReader, ShardWriter
from recordmill.errors import FeatureError, InputError, LabelError
from recordmill.packing.pack import pack
from recordmill.packing.sources import ImageFolder, LabelFile, ListFile, Table
from recordmill.schema import Feature
from recordmill.shards.index import load_sidecars
from recordmill.types import Ragged
from tests.packing.packed import FORMATS, LABELS, everything, read, visible


@pytest.mark.parametrize("format_", FORMATS)
def test_pack_when_one_shard_then_has_the_bytes_of_the_shard_writer(
    class_folders: Path, tmp_path: Path, format_: str
) -> None:
    source = ImageFolder(class_folders)
    result = pack(source, tmp_path / "packed" / "train", format=format_)
    image, label = ("images", "labels") if format_ == "ofrecord" else ("image", "label")
    with ShardWriter(tmp_path / "written" / "train", format=format_) as writer:
        for item in source:
            writer.write({image: Path(item.path).read_bytes(), label: LABELS[format_](item.label)})
    assert result.num_records == 14 and result.skipped == [] and len(result.paths) == 1
    assert Path(result.paths[0]).read_bytes() == Path(writer.paths[0]).read_bytes()
    assert result.num_bytes == Path(result.paths[0]).stat().st_size
    assert visible(tmp_path / "packed") == visible(tmp_path / "written")
    assert next(load_sidecars(result.paths[0])).schema == next(load_sidecars(writer.paths[0])).schema


def test_pack_when_read_back_then_gives_the_files(class_folders: Path, tmp_path: Path) -> None:
    source = ImageFolder(class_folders)
    columns = read(pack(source, tmp_path / "train").paths[0])
    assert list(columns["image"]) == [Path(item.path).read_bytes() for item in source]
    assert columns["label"].tolist() == source.rows().labels.tolist()


@pytest.mark.parametrize("shards, sizes", [(1, [12]), (5, [3, 3, 2, 2, 2]), (7, [2] * 5 + [1] * 2), (12, [1] * 12)])
def test_pack_when_shards_are_counted_then_sizes_differ_by_one_at_most(
    flat_folder: Path, tmp_path: Path, shards: int, sizes: list[int]
) -> None:
    result = pack(ImageFolder(flat_folder, labels=None), tmp_path / "out/part", format="ofrecord", shards=shards)
    columns = [read(path) for path in result.paths]
    assert [len(column["images"]) for column in columns] == sizes
    files = [path.read_bytes() for path in sorted(flat_folder.iterdir())]
    assert [image for column in columns for image in column["images"]] == files
    assert visible(tmp_path / "out") == sorted(f"part-{shard}" for shard in range(shards))


def test_pack_when_more_shards_than_items_then_only_formats_with_empty_shards_take_it(
    flat_folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="at most 12 shards"):
        pack(ImageFolder(flat_folder, labels=None), tmp_path / "out/part", format="ofrecord", shards=13)
    result = pack(ImageFolder(flat_folder, labels=None), tmp_path / "out/train", shards=13)
    assert len(result.paths) == 13 and Path(result.paths[-1]).stat().st_size == 0


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("limit", [1, 1500, 3000, 10**9])
def test_pack_when_shards_are_limited_then_each_is_as_full_as_it_may_be(
    flat_folder: Path, tmp_path: Path, format_: str, limit: int
) -> None:
    source = ImageFolder(flat_folder, labels=None)
    result = pack(source, tmp_path / "a/train", format=format_, max_shard_bytes=limit, workers=2)
    with ShardWriter(tmp_path / "b/train", format=format_, max_shard_bytes=limit) as writer:
        for item in source:
            writer.write({"images" if format_ == "ofrecord" else "image": Path(item.path).read_bytes()})
    ours, theirs = everything(tmp_path / "a"), everything(tmp_path / "b")
    shards = [name for name in theirs if not Path(name).name.startswith(".")]
    assert len(shards) >= 12 if limit == 1 else len(shards) <= 24
    assert {name: ours[name] for name in shards} == {name: theirs[name] for name in shards}
    assert ours.keys() == theirs.keys() and len(result.paths) == len(writer.paths)


OPTIONS = {
    "plain": {},
    "shuffled": {"shuffle": 5, "shards": 3},
    "limited": {"max_shard_bytes": 2000, "format": "recordio"},
    "shapes": {"keep_shape": True, "keep_name": True, "shards": 2, "format": "ofrecord"},
    "gzip": {"compression": "gzip", "shards": 2},
    "png": {"encode": "png", "resize": 9, "shards": 2, "format": "recordio"},
    "skip": {"on_error": "skip", "shards": 4},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_pack_when_workers_differ_then_bytes_do_not(
    flat_folder: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "skip":
        (flat_folder / "03.jpg").write_bytes(b"")
        (flat_folder / "11.jpg").write_bytes(b"no picture")
    from recordmill.packing import pack_files as files
    from recordmill.packing.chunks import ChunkLimits

    outputs = []
    ways = [(1, "threads", 100), (4, "threads", 1), (3, "threads", 2)]
    if name in ("shapes", "png", "skip"):
        ways.append((2, "processes", 2))
    for number, (workers, kind, size) in enumerate(ways):
        monkeypatch.setattr(files, "COPY_LIMITS", ChunkLimits(size, 10**6))
        monkeypatch.setattr(files, "DECODE_LIMITS", ChunkLimits(size, 10**6))
        source, folder = ImageFolder(flat_folder, labels=None), tmp_path / str(number)
        result = pack(source, folder / "train", workers=workers, worker_kind=kind, **OPTIONS[name])
        outputs.append((everything(folder), result.num_records, result.num_bytes, result.skipped))
    assert all(output == outputs[0] for output in outputs[1:])
    assert outputs[0][1] == (10 if name == "skip" else 12)


def test_pack_when_shuffled_then_order_is_that_of_the_seed(flat_folder: Path, tmp_path: Path) -> None:
    source = ImageFolder(flat_folder, labels=None)
    columns = read(pack(source, tmp_path / "train", shuffle=3, keep_name=True).paths[0])
    order = np.random.Generator(np.random.PCG64(3)).permutation(12)
    assert [name.decode() for name in columns["name"]] == [f"{position:02}.jpg" for position in order]


def test_pack_when_list_is_shuffled_then_keys_follow_their_records(flat_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.lst"
    path.write_text("".join(f"{100 + index}\t{index}\t{index:02}.jpg\n" for index in range(12)))
    result = pack(ListFile(path, root=flat_folder), tmp_path / "train.rec", format="recordio", shuffle=1)
    columns = read(result.paths[0])
    assert (columns["id"] == columns["label"].astype(np.uint64) + 100).all() and len(set(columns["id"].tolist())) == 12
    keys = [int(line.split("\t")[0]) for line in (tmp_path / "train.idx").read_text().splitlines()]
    assert keys == columns["id"].tolist() and keys != sorted(keys)


@pytest.mark.parametrize(
    "kind, lines, expected, values",
    [
        (None, ["3", "4.000000"], Feature("int64"), [3, 4]),
        (None, ["3", "4.5"], Feature("float32"), [3, 4.5]),
        ("int32", ["3", "-4"], Feature("int32"), [3, -4]),
        ("float32", ["3", "4"], Feature("float32"), [3, 4]),
        ("vector", ["3", "4"], Feature("float32", (1,)), [[3], [4]]),
        (None, ["3\t1", "4\t2"], Feature("int64", (2,)), [[3, 1], [4, 2]]),
        ("vector", ["3\t1", "4\t2"], Feature("float32", (2,)), [[3, 1], [4, 2]]),
        (None, ["3\t1", "4"], Feature("int64", (None,)), [[3, 1], [4]]),
    ],
)
def test_pack_when_label_kinds_differ_then_they_are_stored_so(
    flat_folder: Path, tmp_path: Path, kind: str | None, lines: list[str], expected: Feature, values: list
) -> None:
    path = tmp_path / "a.lst"
    path.write_text("".join(f"{index}\t{line}\t{index:02}.jpg\n" for index, line in enumerate(lines)))
    options = {"payload": "ofrecord", "image_feature": "image"} if kind == "int32" else {}
    result = pack(ListFile(path, root=flat_folder), tmp_path / "train", label_kind=kind, **options)
    assert next(load_sidecars(result.paths[0])).schema["label"] == expected
    found = read(result.paths[0])["label"]
    assert (found.to_list() if isinstance(found, Ragged) else found.tolist()) == values


@pytest.mark.parametrize(
    "label, kind, format_",
    [("3.5", "int64", "tfrecord"), ("nan", "int64", "tfrecord"), ("2147483648", "int32", "ofrecord"),
     ("16777217", None, "recordio"), ("9223372036854775808", None, "tfrecord")],
)  # fmt: skip
def test_pack_when_a_label_would_change_then_it_is_named(
    flat_folder: Path, tmp_path: Path, label: str, kind: str | None, format_: str
) -> None:
    path = tmp_path / "a.lst"
    path.write_text(f"0\t1\t00.jpg\n1\t{label}\t01.jpg\n")
    with pytest.raises(LabelError, match=r"01\.jpg.*line 2"):
        pack(ListFile(path, root=flat_folder), tmp_path / "out/train", format=format_, label_kind=kind)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind, format_", [("int32", "tfrecord"), ("int64", "recordio")])
def test_pack_when_the_payload_has_no_such_kind_then_says_so(
    class_folders: Path, tmp_path: Path, kind: str, format_: str
) -> None:
    with pytest.raises(FeatureError, match=kind):
        pack(ImageFolder(class_folders), tmp_path / "train", format=format_, label_kind=kind)


def test_pack_when_label_file_is_as_in_the_tutorials_then_features_are_theirs(
    flat_folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "label.txt"
    path.write_text('{"00.jpg": 3}\n{"01.jpg": 0, "02.jpg": 4}\n')
    result = pack(LabelFile(path, root=flat_folder), tmp_path / "dataset/part", format="ofrecord", shards=2)
    assert [Path(name).name for name in result.paths] == ["part-0", "part-1"]
    assert dict(next(load_sidecars(result.paths[0])).schema) == {"images": Feature("bytes"), "labels": Feature("int32")}
    assert [read(name)["labels"].tolist() for name in result.paths] == [[3, 0], [4]]


def test_pack_when_shapes_names_and_columns_are_kept_then_they_are_features(flat_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("image,label,score,note\n03.jpg,1,0.5,x\n05.jpg,2,1,é\n")
    source = Table(path, root=flat_folder, features=["score", "note"])
    result = pack(source, tmp_path / "train", keep_shape=True, keep_name="file", image_feature="img", label_feature="y")
    columns = read(result.paths[0])
    assert columns["height"].tolist() == [15, 17] and columns["width"].tolist() == [19, 21]
    assert list(columns["file"]) == [b"03.jpg", b"05.jpg"] and columns["y"].tolist() == [1, 2]
    assert columns["score"].tolist() == [0.5, 1] and list(columns["note"]) == [b"x", "é".encode()]
    assert columns["img"][0] == (flat_folder / "03.jpg").read_bytes()


@pytest.mark.parametrize("options", [{"keep_name": True}, {"keep_shape": True}, {"label_feature": "class"}])
def test_pack_when_an_image_record_has_no_room_then_the_hint_says_what_has(
    class_folders: Path, tmp_path: Path, options: dict
) -> None:
    source = ImageFolder(class_folders)
    with pytest.raises(FeatureError, match='payload="example"'):
        pack(source, tmp_path / "train.rec", format="recordio", **options)
    assert pack(source, tmp_path / "train.rec", format="recordio", payload="example", **options).num_records == 14


def test_pack_when_payload_is_raw_then_holds_the_file_alone(flat_folder: Path, tmp_path: Path) -> None:
    result = pack(ImageFolder(flat_folder, labels=None), tmp_path / "train.rec", format="recordio", payload="raw")
    with ShardReader(result.paths[0]) as reader:
        assert reader[2] == (flat_folder / "02.jpg").read_bytes()
    with pytest.raises(FeatureError, match="only the bytes of the image"):
        pack(ImageFolder(flat_folder, labels=None), tmp_path / "b", payload="raw", keep_name=True)


@pytest.mark.parametrize("word", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("format_", ["tfrecord", "recordio", "ofrecord"])
def test_pack_when_a_label_is_no_finite_number_then_is_stored_only_if_asked_for(
    flat_folder: Path, tmp_path: Path, word: str, format_: str
) -> None:
    path = tmp_path / "a.lst"
    path.write_text(f"0\t1\t00.jpg\n1\t{word}\t01.jpg\n")
    source = ListFile(path, root=flat_folder)
    with pytest.raises(LabelError, match=rf"01\.jpg.*line 2.*\(expected a finite number, found {word}\)"):
        pack(source, tmp_path / "out/train", format=format_)
    result = pack(source, tmp_path / "train", format=format_, label_kind="float32")
    found = read(result.paths[0])["labels" if format_ == "ofrecord" else "label"]
    assert np.array_equal(found, np.array([1, float(word)], np.float32), equal_nan=True)


@pytest.mark.parametrize("option", ["image_feature", "label_feature", "keep_name"])
def test_pack_when_a_feature_has_no_name_then_is_refused(flat_folder: Path, tmp_path: Path, option: str) -> None:
    with pytest.raises(ValueError, match=f"{option} must be the name of a feature, got ''"):
        pack([], tmp_path / "train", **{option: ""})

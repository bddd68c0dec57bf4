"""`pack`: bytes equal to `ShardWriter` for any number of workers, options of records, outputs, pairs and examples."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from recordmill import ShardReader, ShardWriter, info
from recordmill.errors import FeatureError, InputError, LabelError, OutputExistsError, WriteError
from recordmill.packing import pack_files
from recordmill.packing.chunks import ChunkLimits
from recordmill.packing.pack import pack
from recordmill.packing.recode import Recoding
from recordmill.packing.sources import ImageFolder, ImagePairs, LabelFile, ListFile, Table
from recordmill.schema import Feature
from recordmill.shards.index import load_sidecars
from recordmill.storage.local import LOCAL
from recordmill.types import Ragged
from tests.images import encode_image, encode_palette_mask
from tests.packing.helpers import FORMATS, LABELS, read_columns, read_files, smooth_jpeg, visible_names
from tests.packing.test_recode import noise_image, open_with_pillow


@pytest.mark.parametrize("format_", FORMATS)
def test_pack_writes_bytes_of_shard_writer(class_folders: Path, tmp_path: Path, format_: str) -> None:
    source = ImageFolder(class_folders)
    result = pack(source, tmp_path / "packed" / "train", format=format_)
    image, label = ("images", "labels") if format_ == "ofrecord" else ("image", "label")
    with ShardWriter(tmp_path / "written" / "train", format=format_) as writer:
        for item in source:
            writer.write({image: Path(item.path).read_bytes(), label: LABELS[format_](item.label)})
    assert result.num_records == 14 and result.skipped == [] and len(result.paths) == 1
    assert Path(result.paths[0]).read_bytes() == Path(writer.paths[0]).read_bytes()
    assert result.num_bytes == Path(result.paths[0]).stat().st_size
    assert visible_names(tmp_path / "packed") == visible_names(tmp_path / "written")
    assert next(load_sidecars(result.paths[0], LOCAL)).schema == next(load_sidecars(writer.paths[0], LOCAL)).schema


def test_pack_stores_files_and_labels(class_folders: Path, tmp_path: Path) -> None:
    source = ImageFolder(class_folders)
    columns = read_columns(pack(source, tmp_path / "train").paths[0])
    assert list(columns["image"]) == [Path(item.path).read_bytes() for item in source]
    assert columns["label"].tolist() == source.rows().labels.tolist()


@pytest.mark.parametrize("shards, sizes", [(1, [12]), (5, [3, 3, 2, 2, 2]), (7, [2] * 5 + [1] * 2), (12, [1] * 12)])
def test_pack_divides_records_evenly_among_shards(
    flat_folder: Path, tmp_path: Path, shards: int, sizes: list[int]
) -> None:
    result = pack(ImageFolder(flat_folder, labels=None), tmp_path / "out/part", format="ofrecord", shards=shards)
    columns = [read_columns(path) for path in result.paths]
    assert [len(column["images"]) for column in columns] == sizes
    files = [path.read_bytes() for path in sorted(flat_folder.iterdir())]
    assert [image for column in columns for image in column["images"]] == files
    assert visible_names(tmp_path / "out") == sorted(f"part-{shard}" for shard in range(shards))


def test_pack_allows_empty_shards_only_in_formats_that_support_them(flat_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at most 12 shards"):
        pack(ImageFolder(flat_folder, labels=None), tmp_path / "out/part", format="ofrecord", shards=13)
    result = pack(ImageFolder(flat_folder, labels=None), tmp_path / "out/train", shards=13)
    assert len(result.paths) == 13 and Path(result.paths[-1]).stat().st_size == 0


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("limit", [1, 1500, 3000, 10**9])
def test_pack_fills_shards_up_to_max_shard_bytes(flat_folder: Path, tmp_path: Path, format_: str, limit: int) -> None:
    source = ImageFolder(flat_folder, labels=None)
    result = pack(source, tmp_path / "a/train", format=format_, max_shard_bytes=limit, workers=2)
    with ShardWriter(tmp_path / "b/train", format=format_, max_shard_bytes=limit) as writer:
        for item in source:
            writer.write({"images" if format_ == "ofrecord" else "image": Path(item.path).read_bytes()})
    packed, written = read_files(tmp_path / "a"), read_files(tmp_path / "b")
    shards = [name for name in written if not Path(name).name.startswith(".")]
    assert len(shards) >= 12 if limit == 1 else len(shards) <= 24
    assert {name: packed[name] for name in shards} == {name: written[name] for name in shards}
    assert packed.keys() == written.keys() and len(result.paths) == len(writer.paths)


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
def test_pack_writes_same_bytes_with_any_workers(
    flat_folder: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "skip":
        (flat_folder / "03.jpg").write_bytes(b"")
        (flat_folder / "11.jpg").write_bytes(b"not an image")
    outputs = []
    variants = [(1, "threads", 100), (4, "threads", 1), (3, "threads", 2)]
    if name in ("shapes", "png", "skip"):
        variants.append((2, "processes", 2))
    for number, (workers, kind, size) in enumerate(variants):
        monkeypatch.setattr(pack_files, "COPY_LIMITS", ChunkLimits(size, 10**6))
        monkeypatch.setattr(pack_files, "DECODE_LIMITS", ChunkLimits(size, 10**6))
        source, folder = ImageFolder(flat_folder, labels=None), tmp_path / str(number)
        result = pack(source, folder / "train", workers=workers, worker_kind=kind, **OPTIONS[name])
        outputs.append((read_files(folder), result.num_records, result.num_bytes, result.skipped))
    assert all(output == outputs[0] for output in outputs[1:])
    assert outputs[0][1] == (10 if name == "skip" else 12)


def test_pack_shuffles_by_permutation_of_seed(flat_folder: Path, tmp_path: Path) -> None:
    source = ImageFolder(flat_folder, labels=None)
    columns = read_columns(pack(source, tmp_path / "train", shuffle=3, keep_name=True).paths[0])
    order = np.random.Generator(np.random.PCG64(3)).permutation(12)
    assert [name.decode() for name in columns["name"]] == [f"{position:02}.jpg" for position in order]


def test_pack_shuffles_keys_with_records(flat_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.lst"
    path.write_text("".join(f"{100 + index}\t{index}\t{index:02}.jpg\n" for index in range(12)))
    result = pack(ListFile(path, root=flat_folder), tmp_path / "train.rec", format="recordio", shuffle=1)
    columns = read_columns(result.paths[0])
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
def test_pack_stores_labels_in_requested_or_default_kind(
    flat_folder: Path, tmp_path: Path, kind: str | None, lines: list[str], expected: Feature, values: list
) -> None:
    path = tmp_path / "a.lst"
    path.write_text("".join(f"{index}\t{line}\t{index:02}.jpg\n" for index, line in enumerate(lines)))
    options = {"payload": "ofrecord", "image_feature": "image"} if kind == "int32" else {}
    result = pack(ListFile(path, root=flat_folder), tmp_path / "train", label_kind=kind, **options)
    assert next(load_sidecars(result.paths[0], LOCAL)).schema["label"] == expected
    labels = read_columns(result.paths[0])["label"]
    assert (labels.to_list() if isinstance(labels, Ragged) else labels.tolist()) == values


@pytest.mark.parametrize(
    "label, kind, format_",
    [("3.5", "int64", "tfrecord"), ("nan", "int64", "tfrecord"), ("2147483648", "int32", "ofrecord"),
     ("16777217", None, "recordio"), ("9223372036854775808", None, "tfrecord")],
)  # fmt: skip
def test_pack_rejects_label_that_would_change(
    flat_folder: Path, tmp_path: Path, label: str, kind: str | None, format_: str
) -> None:
    path = tmp_path / "a.lst"
    path.write_text(f"0\t1\t00.jpg\n1\t{label}\t01.jpg\n")
    with pytest.raises(LabelError, match=r"01\.jpg.*line 2"):
        pack(ListFile(path, root=flat_folder), tmp_path / "out/train", format=format_, label_kind=kind)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind, format_", [("int32", "tfrecord"), ("int64", "recordio")])
def test_pack_rejects_label_kind_that_payload_lacks(
    class_folders: Path, tmp_path: Path, kind: str, format_: str
) -> None:
    with pytest.raises(FeatureError, match=kind):
        pack(ImageFolder(class_folders), tmp_path / "train", format=format_, label_kind=kind)


def test_pack_label_file_writes_features_of_oneflow_tutorial(flat_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "label.txt"
    path.write_text('{"00.jpg": 3}\n{"01.jpg": 0, "02.jpg": 4}\n')
    result = pack(LabelFile(path, root=flat_folder), tmp_path / "dataset/part", format="ofrecord", shards=2)
    assert [Path(name).name for name in result.paths] == ["part-0", "part-1"]
    assert dict(next(load_sidecars(result.paths[0], LOCAL)).schema) == {
        "images": Feature("bytes"),
        "labels": Feature("int32"),
    }
    assert [read_columns(name)["labels"].tolist() for name in result.paths] == [[3, 0], [4]]


def test_pack_stores_shapes_names_and_table_columns_as_features(flat_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("image,label,score,note\n03.jpg,1,0.5,x\n05.jpg,2,1,é\n")
    source = Table(path, root=flat_folder, features=["score", "note"])
    result = pack(source, tmp_path / "train", keep_shape=True, keep_name="file", image_feature="img", label_feature="y")
    columns = read_columns(result.paths[0])
    assert columns["height"].tolist() == [15, 17] and columns["width"].tolist() == [19, 21]
    assert list(columns["file"]) == [b"03.jpg", b"05.jpg"] and columns["y"].tolist() == [1, 2]
    assert columns["score"].tolist() == [0.5, 1] and list(columns["note"]) == [b"x", "é".encode()]
    assert columns["img"][0] == (flat_folder / "03.jpg").read_bytes()


@pytest.mark.parametrize("options", [{"keep_name": True}, {"keep_shape": True}, {"label_feature": "class"}])
def test_pack_to_image_records_suggests_example_payload_for_further_features(
    class_folders: Path, tmp_path: Path, options: dict
) -> None:
    source = ImageFolder(class_folders)
    with pytest.raises(FeatureError, match='payload="example"'):
        pack(source, tmp_path / "train.rec", format="recordio", **options)
    assert pack(source, tmp_path / "train.rec", format="recordio", payload="example", **options).num_records == 14


def test_pack_raw_payload_stores_only_file_bytes(flat_folder: Path, tmp_path: Path) -> None:
    result = pack(ImageFolder(flat_folder, labels=None), tmp_path / "train.rec", format="recordio", payload="raw")
    with ShardReader(result.paths[0]) as reader:
        assert reader[2] == (flat_folder / "02.jpg").read_bytes()
    with pytest.raises(FeatureError, match="only the bytes of the image"):
        pack(ImageFolder(flat_folder, labels=None), tmp_path / "b", payload="raw", keep_name=True)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("format_", ["tfrecord", "recordio", "ofrecord"])
def test_pack_stores_non_finite_label_only_as_explicit_float32(
    flat_folder: Path, tmp_path: Path, text: str, format_: str
) -> None:
    path = tmp_path / "a.lst"
    path.write_text(f"0\t1\t00.jpg\n1\t{text}\t01.jpg\n")
    source = ListFile(path, root=flat_folder)
    with pytest.raises(LabelError, match=rf"01\.jpg.*line 2.*\(expected a finite number, found {text}\)"):
        pack(source, tmp_path / "out/train", format=format_)
    result = pack(source, tmp_path / "train", format=format_, label_kind="float32")
    labels = read_columns(result.paths[0])["labels" if format_ == "ofrecord" else "label"]
    assert np.array_equal(labels, np.array([1, float(text)], np.float32), equal_nan=True)


@pytest.mark.parametrize("option", ["image_feature", "label_feature", "keep_name"])
def test_pack_rejects_empty_feature_name(flat_folder: Path, tmp_path: Path, option: str) -> None:
    with pytest.raises(ValueError, match=f"{option} must be the name of a feature, got ''"):
        pack([], tmp_path / "train", **{option: ""})


def test_pack_detects_source_of_path(class_folders: Path, tmp_path: Path) -> None:
    assert pack(str(class_folders), tmp_path / "train").num_records == 14


@pytest.mark.parametrize("name, format_", [("a.rec", "recordio"), ("a.of", "ofrecord"), ("a.tfrec", "tfrecord")])
def test_pack_chooses_format_by_suffix_of_destination(
    flat_folder: Path, tmp_path: Path, name: str, format_: str
) -> None:
    packed = pack(ImageFolder(flat_folder, labels=None), tmp_path / name, entry_points=True)
    with ShardWriter(tmp_path / f"b-{name}") as writer:
        writer.write({"image": b"", "label": 1})
    for path in (*packed.paths, *writer.paths):
        assert Path(path).name.endswith(name) and info(path).shards[0].format == format_


def test_pack_prefers_format_argument_over_suffix(flat_folder: Path, tmp_path: Path) -> None:
    packed = pack(ImageFolder(flat_folder, labels=None), tmp_path / "a.rec", format="tfrecord")
    assert [Path(path).name for path in packed.paths] == ["a.rec-00000-of-00001.tfrecord"]


@pytest.mark.parametrize("format_", FORMATS)
def test_pack_replaces_existing_output_only_with_overwrite(flat_folder: Path, tmp_path: Path, format_: str) -> None:
    source, options = ImageFolder(flat_folder, labels=None), {"format": format_, "shards": 3}
    first = pack(source, tmp_path / "out/train", **options)
    before = read_files(tmp_path / "out")
    with pytest.raises(OutputExistsError, match="overwrite"):
        pack(source, tmp_path / "out/train", shuffle=1, **options)
    assert read_files(tmp_path / "out") == before
    second = pack(source, tmp_path / "out/train", shuffle=1, overwrite=True, **options)
    assert second.paths == first.paths and read_files(tmp_path / "out") != before


def test_pack_rejects_existing_index_file(flat_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "train.idx").write_text("mine")
    with pytest.raises(OutputExistsError, match=r"train\.idx"):
        pack(ImageFolder(flat_folder, labels=None), tmp_path / "train.rec", format="recordio")
    assert (tmp_path / "train.idx").read_text() == "mine" and not (tmp_path / "train.rec").exists()


def test_pack_error_names_unwritable_folder(flat_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for path in (tmp_path / "file" / "train", Path("/proc/recordmill/train")):
        with pytest.raises(WriteError, match=str(path)):
            pack(ImageFolder(flat_folder, labels=None), path, workers=2)


@pytest.mark.parametrize(
    "options",
    [
        {"shards": 0}, {"shards": 2, "max_shard_bytes": 9}, {"max_shard_bytes": 0}, {"format": "tar"},
        {"payload": "json"}, {"compression": "zip"}, {"format": "ofrecord", "compression": "gzip"}, {"quality": 9},
        {"resize": 9}, {"color": True}, {"encode": "gif"}, {"encode": "png", "quality": 90},
        {"encode": "jpeg", "quality": 0}, {"encode": "jpeg", "resize": 0}, {"encode": "jpeg", "center_crop": -1},
        {"mask": "jpeg"}, {"check": "all"}, {"workers": 0}, {"worker_kind": "fibers"}, {"on_error": "ignore"},
        {"label_kind": "text"}, {"label_kind": "int64"}, {"schema": {}}, {"mask": "raw"},
    ],
)  # fmt: skip
def test_pack_rejects_invalid_options_before_writing(flat_folder: Path, tmp_path: Path, options: dict) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        pack(ImageFolder(flat_folder, labels=None), tmp_path / "out/train", **options)
    assert not (tmp_path / "out").exists()


def test_pack_rejects_empty_destination(flat_folder: Path) -> None:
    with pytest.raises(ValueError, match="prefix of the shard names"):
        pack(ImageFolder(flat_folder, labels=None), "")


@pytest.mark.parametrize("name, fine", [("name", True), ("image", False), ("label", False)])
def test_pack_rejects_duplicate_feature_name(class_folders: Path, tmp_path: Path, name: str, fine: bool) -> None:
    if fine:
        assert pack(ImageFolder(class_folders), tmp_path / "a", keep_name=name).num_records == 14
        return
    with pytest.raises(FeatureError, match=name):
        pack(ImageFolder(class_folders), tmp_path / "a", keep_name=name)


@pytest.mark.parametrize("format_", FORMATS)
def test_pack_examples_writes_bytes_of_shard_writer(tmp_path: Path, format_: str) -> None:
    image = "images" if format_ == "ofrecord" else "image"
    examples = [{image: smooth_jpeg(seed), "label": np.float32(seed)} for seed in range(5)]
    result = pack(iter(examples), tmp_path / "a/train", format=format_, shards=2)
    with ShardWriter(tmp_path / "b/train", format=format_, shards=2) as writer:
        for example in examples:
            writer.write(example)
    assert result.num_records == 5 and read_files(tmp_path / "a") == read_files(tmp_path / "b")
    expected = {"num_records": 5, "num_bytes": result.num_bytes, "paths": result.paths, "skipped": [], "warnings": []}
    assert result.to_json() == expected


def test_pack_examples_shuffles_only_sequences(tmp_path: Path) -> None:
    examples = [{"x": number} for number in range(9)]
    result = pack(examples, tmp_path / "a", shuffle=2)
    assert (
        read_columns(result.paths[0])["x"].tolist() == np.random.Generator(np.random.PCG64(2)).permutation(9).tolist()
    )
    with pytest.raises(InputError, match="sequence"):
        pack(iter(examples), tmp_path / "b", shuffle=2)


def test_pack_examples_leaves_no_files_after_error(tmp_path: Path) -> None:
    def examples():
        yield {"x": 1}
        raise RuntimeError("from the iterable")

    with pytest.raises(RuntimeError, match="from the iterable"):
        pack(examples(), tmp_path / "out/train")
    assert read_files(tmp_path / "out") == {}
    with pytest.raises(ValueError, match="require a source of files"):
        pack(examples(), tmp_path / "out/train", encode="png")
    with pytest.raises(InputError, match="iterable"):
        pack({"x": 1}, tmp_path / "out/train")


def test_pack_to_folder_names_shards_part(flat_folder: Path, tmp_path: Path) -> None:
    result = pack(ImageFolder(flat_folder, labels=None), f"{tmp_path}/out/", format="ofrecord", shards=2)
    assert [Path(path).name for path in result.paths] == ["part-0", "part-1"]


def test_pack_accepts_all_image_types(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for encoding in ("TIFF", "GIF", "BMP", "WEBP", "PNG"):
        (tmp_path / "in" / f"a.{encoding.lower()}").write_bytes(encode_image(Image.new("RGB", (5, 4)), encoding))
    result = pack(ImageFolder(tmp_path / "in", labels=None), tmp_path / "out")
    assert result.num_records == 5


@pytest.mark.parametrize("format_", FORMATS)
def test_pack_removes_shards_of_other_total_only_with_overwrite(
    flat_folder: Path, tmp_path: Path, format_: str
) -> None:
    source, out = ImageFolder(flat_folder, labels=None), tmp_path / "out"
    pack(source, out / "train", format=format_, shards=3)
    (out / "train-extra.txt").write_text("not a shard")
    before = read_files(out)
    with pytest.raises(OutputExistsError, match="overwrite"):
        pack(source, out / "train", format=format_, shards=2)
    assert read_files(out) == before
    packed = pack(source, out / "train", format=format_, shards=2, overwrite=True)
    names = [name for name in visible_names(out) if not name.endswith((".txt", ".idx", ".tfindex"))]
    assert names == [Path(path).name for path in packed.paths] and len(list(out.glob(".*.rmx"))) == 2
    assert (out / "train-extra.txt").exists()


def test_shard_writer_removes_shards_of_other_total_only_with_overwrite(tmp_path: Path) -> None:
    for shards in (3, 2):
        with ShardWriter(tmp_path / "train", shards=shards, overwrite=True) as writer:
            writer.write({"a": 1})
        assert len(visible_names(tmp_path)) == shards
    with pytest.raises(OutputExistsError, match="a different number"):
        ShardWriter(tmp_path / "train", shards=4)
    assert len(visible_names(tmp_path)) == 2


@pytest.mark.parametrize("format_", ["tfrecord", "ofrecord"])
def test_pack_pairs_stores_image_and_mask_files(voc: Path, tmp_path: Path, format_: str) -> None:
    source = ImagePairs.voc(voc)
    result = pack(source, tmp_path / "seg", format=format_)
    columns = read_columns(result.paths[0])
    image, label = ("images", "labels") if format_ == "ofrecord" else ("image", "label")
    assert list(columns[image]) == [Path(item.path).read_bytes() for item in source]
    assert list(columns[label]) == [Path(item.mask).read_bytes() for item in source]


def test_pack_pairs_to_image_records_suggests_example_payload(voc: Path, tmp_path: Path) -> None:
    with pytest.raises(FeatureError, match='payload="example"'):
        pack(ImagePairs.voc(voc), tmp_path / "seg.rec", format="recordio")
    assert pack(ImagePairs.voc(voc), tmp_path / "seg.rec", format="recordio", payload="example").num_records == 4


def test_pack_raw_masks_stores_exact_indices(voc: Path, tmp_path: Path) -> None:
    columns = read_columns(pack(ImagePairs.voc(voc), tmp_path / "seg", mask="raw").paths[0])
    for row, index in enumerate([3, 0, 1, 4]):
        expected = encode_palette_mask(index, 20 + index)[1]
        shape = (columns["height"][row], columns["width"][row])
        assert columns["dtype"][row] == b"uint8" and shape == expected.shape
        assert (np.frombuffer(columns["label"][row], np.uint8).reshape(shape) == expected).all()


def test_pack_resized_masks_contain_only_original_values(voc: Path, tmp_path: Path) -> None:
    options = {"encode": "jpeg", "resize": 7, "center_crop": True}
    encoded = read_columns(pack(ImagePairs.voc(voc), tmp_path / "a", **options).paths[0])
    raw = read_columns(pack(ImagePairs.voc(voc), tmp_path / "b", mask="raw", **options).paths[0])
    for row in range(4):
        mask = Image.open(io.BytesIO(encoded["label"][row]))
        assert mask.mode == "P" and mask.size == (7, 7) == Image.open(io.BytesIO(encoded["image"][row])).size
        assert np.asarray(mask).tobytes() == raw["label"][row]
        assert set(raw["label"][row]) <= {*range(21), 255}


def test_pack_reports_mask_of_other_size_than_image(voc: Path, tmp_path: Path) -> None:
    (voc / "SegmentationClass/2007_1.png").write_bytes(encode_palette_mask(0, 9, 9)[0])
    result = pack(ImagePairs.voc(voc), tmp_path / "a", mask="raw", keep_shape=True, on_error="skip")
    assert result.num_records == 3 and "2007_1.png" in result.skipped[0][0] and "9 x 9" in result.skipped[0][1]


def test_pack_rejects_exif_for_pairs(voc: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="exif"):
        pack(ImagePairs.voc(voc), tmp_path / "a", encode="jpeg", exif=True)


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Ninety files: some are recoded natively, some by Pillow, and two are corrupt."""
    (tmp_path / "in").mkdir()
    kinds = [("RGB", "PNG"), ("L", "PNG"), ("P", "PNG"), ("RGB", "JPEG"), ("1", "PNG"), ("RGB", "TIFF")]
    for number in range(90):
        mode, encoding = kinds[number % len(kinds)]
        data = encode_image(noise_image(mode, 5 + number), encoding)
        path = tmp_path / "in" / f"{number:02}.{encoding.lower()}"
        path.write_bytes(data[:70] if number in (6, 67) else data)
    return tmp_path / "in"


@pytest.mark.parametrize("encoding", ["png", "jpeg"])
@pytest.mark.parametrize("color", [None, True])
def test_pack_mixes_native_and_pillow_results_in_order_for_any_workers(
    encoding: str, color: bool | None, mixed: Path, tmp_path: Path
) -> None:
    for workers in (1, 3):
        result = pack(
            ImageFolder(mixed, labels=None),
            tmp_path / f"{workers}/out",
            encode=encoding,
            color=color,
            keep_shape=True,
            keep_name=True,
            on_error="skip",
            workers=workers,
            shards=2,
        )
        assert [Path(path).name for path, _ in result.skipped] == ["06.png", "67.png"] and result.num_records == 88
    assert read_files(tmp_path / "1") == read_files(tmp_path / "3")
    for path in result.paths:
        columns = read_columns(path)
        for data, name, height, width in zip(
            *(columns[key] for key in ("image", "name", "height", "width")), strict=True
        ):
            source, actual = (mixed / name.decode()).read_bytes(), Image.open(io.BytesIO(data))
            assert (actual.height, actual.width) == (height, width)
            expected = open_with_pillow(source, Recoding(encoding, color=color))
            if encoding == "png":
                assert actual.mode == expected.mode and actual.tobytes() == expected.tobytes()
            elif expected.mode in ("L", "RGB"):
                assert data == encode_image(expected, "JPEG", quality=95, restart_marker_rows=1)

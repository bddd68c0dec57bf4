"""`recordmill pack` packs all kinds of sources, and refuses or skips invalid ones."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from tests.cli.conftest import Result, encode_image

Run = Callable[..., Result]


def _read(folder: Path, image: str = "image", label: str = "label") -> list[tuple[bytes, float]]:
    return [(example[image], float(example[label])) for example in rm.open(folder)]


def test_pack_folder_uses_class_folders_as_labels(run: Run, photos: Path, tmp_path: Path) -> None:
    result = run("pack", photos, tmp_path / "out" / "train", "--shards", "2", "--json")
    assert result.code == 0 and result.err == ""
    paths = [str(tmp_path / "out" / f"train-0000{number}-of-00002.tfrecord") for number in range(2)]
    assert (result.json["num_records"], result.json["paths"], result.json["skipped"]) == (6, paths, [])
    expected = [(encode_image(number), 0.0) for number in (0, 2, 4)] + [
        (encode_image(number), 1.0) for number in (1, 3, 5)
    ]
    assert _read(tmp_path / "out") == expected


def test_pack_prints_records_shards_and_names(run: Run, photos: Path, tmp_path: Path) -> None:
    result = run("pack", photos, tmp_path / "x.rec")
    assert result.code == 0 and result.err == ""
    first, second = result.out.splitlines()
    assert first.startswith("6 records in 1 shard, ") and second == str(tmp_path / "x.rec")


@pytest.mark.parametrize("name", ["label.txt", "label.jsonl", "label"])
def test_pack_label_file_reads_images_from_root(run: Run, flat: Path, tmp_path: Path, name: str) -> None:
    labels = tmp_path / name
    labels.write_text('{"3.png": 7}\n{"0.png": 2, "1.png": 4}\n')
    result = run("pack", labels, tmp_path / "out" / "part", "--root", flat, "--format", "ofrecord", "--shards", "3")
    assert result.code == 0
    assert sorted(path.name for path in (tmp_path / "out").glob("part-*")) == ["part-0", "part-1", "part-2"]
    expected = [(encode_image(3, "PNG"), 7.0), (encode_image(0, "PNG"), 2.0), (encode_image(1, "PNG"), 4.0)]
    assert _read(tmp_path / "out", "images", "labels") == expected


@pytest.mark.parametrize("name", ["train.lst", "train.txt"])
def test_pack_list_uses_index_as_id(run: Run, flat: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("12\t1.5\t4.png\n30\t0.5\t2.png\n")
    result = run("pack", tmp_path / name, tmp_path / "x.rec", "--root", flat, "--format", "recordio")
    assert result.code == 0
    examples = rm.open(tmp_path / "x.rec")[:]
    assert [(int(one["id"]), float(one["label"])) for one in examples] == [(12, 1.5), (30, 0.5)]
    assert examples[0]["image"] == encode_image(4, "PNG")


@pytest.mark.parametrize("name, delimiter", [("t.csv", ","), ("t.tsv", "\t")])
def test_pack_table_finds_columns(run: Run, flat: Path, tmp_path: Path, name: str, delimiter: str) -> None:
    rows = [("weight", "file", "label"), ("0.5", "1.png", "3"), ("2", "0.png", "1")]
    (tmp_path / name).write_text("".join(delimiter.join(row) + "\n" for row in rows))
    result = run("pack", tmp_path / name, tmp_path / "x.tfrecord", "--root", flat, "--features", "weight")
    assert result.code == 0
    examples = rm.open(tmp_path / "x.tfrecord")[:]
    assert [(float(one["label"]), float(one["weight"])) for one in examples] == [(3, 0.5), (1, 2)]
    run(
        "pack", tmp_path / name, tmp_path / "y.tfrecord", "--root", flat, "--image", "1", "--label", "2", "--label", "0"
    )
    assert [one["label"].tolist() for one in rm.open(tmp_path / "y.tfrecord")] == [[3, 0.5], [1, 2]]


@pytest.mark.parametrize("options", [["--pairs"], [], ["--source", "pairs"]])
def test_pack_pairs_stores_exact_masks(run: Run, voc: Path, tmp_path: Path, options: list[str]) -> None:
    assert run("pack", *options, voc, tmp_path / "x.tfrecord").code == 0
    examples = rm.open(tmp_path / "x.tfrecord")[:]
    assert [one["image"] for one in examples] == [encode_image(number) for number in (2, 0, 1)]
    masks = [np.unique(np.asarray(Image.open(io.BytesIO(one["label"])))).tolist() for one in examples]
    assert masks == [[2], [0], [1]]


def test_pack_pairs_reads_names_from_other_file(run: Run, voc: Path, tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("1\n")
    assert run("pack", voc, tmp_path / "x.tfrecord", "--names", tmp_path / "few.txt", "--mask", "raw").code == 0
    (example,) = rm.open(tmp_path / "x.tfrecord")
    assert (int(example["height"]), int(example["width"]), example["dtype"]) == (20, 32, b"uint8")
    assert example["label"] == bytes([1]) * 640


def test_pack_encode_applies_image_options(run: Run, photos: Path, tmp_path: Path) -> None:
    options = ["--encode", "png", "--resize", "16", "--center-crop", "10", "--gray", "--keep-name", "--keep-shape"]
    assert run("pack", photos, tmp_path / "x.tfrecord", *options).code == 0
    example = rm.open(tmp_path / "x.tfrecord")[0]
    image = Image.open(io.BytesIO(example["image"]))
    assert (image.format, image.mode, image.size) == ("PNG", "L", (10, 10))
    assert (example["name"], int(example["height"])) == (b"ant/0.jpg", 10)


def test_pack_writes_same_bytes_with_any_workers(run: Run, photos: Path, tmp_path: Path) -> None:
    for name, options in {
        "a": [],
        "b": ["--workers", "2"],
        "c": ["--workers", "2", "--worker-kind", "processes"],
    }.items():
        assert run("pack", photos, tmp_path / f"{name}.tfrecord", "--shuffle", "3", *options).code == 0
    data = {(tmp_path / f"{name}.tfrecord").read_bytes() for name in "abc"}
    assert len(data) == 1


def test_pack_replaces_output_only_with_overwrite(run: Run, photos: Path, tmp_path: Path) -> None:
    target = tmp_path / "x.tfrecord"
    target.write_bytes(b"precious")
    result = run("pack", photos, target)
    assert result.code == 2 and result.out == "" and target.read_bytes() == b"precious"
    assert result.err.splitlines()[-1] == "hint: choose another name or use --overwrite"
    assert run("pack", photos, target, "--overwrite").code == 0
    assert len(rm.open(target)) == 6


def test_pack_stops_at_invalid_image_or_skips_it(run: Run, photos: Path, tmp_path: Path) -> None:
    bad = photos / "ant" / "2.jpg"
    bad.write_bytes(b"no picture at all")
    result = run("pack", photos, tmp_path / "x.tfrecord")
    assert result.code == 2 and result.out == "" and str(bad) in result.err
    assert "--on-error skip to skip and report such images" in result.err
    assert list(tmp_path.glob("x*")) == []
    result = run("pack", photos, tmp_path / "x.tfrecord", "--on-error", "skip", "--json")
    assert result.code == 1 and f"skipped {bad}: " in result.err
    assert result.json["num_records"] == 5 and [one["path"] for one in result.json["skipped"]] == [str(bad)]


@pytest.mark.parametrize("kind", [None, "folder", "labels", "list", "table", "pairs"])
def test_pack_names_missing_source_and_exits_with_2(run: Run, tmp_path: Path, kind: str | None) -> None:
    missing = tmp_path / "nosuch"
    result = run("pack", missing, tmp_path / "x", *([] if kind is None else ["--source", kind]))
    assert result.code == 2 and result.err.startswith(f"error: {missing} does not exist\nhint: ")
    assert list(tmp_path.iterdir()) == []


def test_pack_from_address_without_obstore_exits_with_2(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "obstore", None)
    result = run("pack", "s3://bucket/train", "out")
    message = "error: remote storage needs obstore\n"
    assert result.code == 2 and result.err.startswith(message)
    assert os.listdir() == []


@pytest.mark.parametrize("option", ["--root", "--split", "--names", "--label"])
def test_pack_refuses_option_without_effect(run: Run, photos: Path, tmp_path: Path, option: str) -> None:
    result = run("pack", photos, tmp_path / "x.tfrecord", option, "x")
    assert result.code == 2 and f"error: {option} has no effect on this kind of source" in result.err
    assert not (tmp_path / "x.tfrecord").exists()


def test_pack_errors_name_options_that_conflict(run: Run, photos: Path, tmp_path: Path) -> None:
    result = run("pack", photos, tmp_path / "x.tfrecord", "--quality", "50")
    assert result.code == 2 and "without --encode" in result.err
    result = run("pack", photos, tmp_path / "x", "--shards", "2", "--max-shard-bytes", "1MB")
    assert result.code == 2 and "not allowed with" in result.err


def test_pack_limits_shard_bytes(run: Run, photos: Path, tmp_path: Path) -> None:
    result = run("pack", photos, tmp_path / "out" / "x", "--max-shard-bytes", "2kB", "--json")
    assert result.code == 0 and len(result.json["paths"]) > 1
    assert all(Path(path).stat().st_size <= 2000 for path in result.json["paths"])
    assert len(rm.open(result.json["paths"])) == 6


def test_pack_numbers_classes_in_given_order(run: Run, photos: Path, tmp_path: Path) -> None:
    assert run("pack", photos, tmp_path / "x.tfrecord", "--classes", "cat, dog, ant").code == 0
    assert [int(one["label"]) for one in rm.open(tmp_path / "x.tfrecord")] == [2, 2, 2, 0, 0, 0]


def test_pack_no_labels_stores_only_images(run: Run, flat: Path, tmp_path: Path) -> None:
    result = run("pack", flat, tmp_path / "x.tfrecord")
    assert result.code == 2 and "--no-labels" in result.err
    assert run("pack", flat, tmp_path / "x.tfrecord", "--no-labels").code == 0
    assert set(rm.open(tmp_path / "x.tfrecord").schema) == {"image"}


def test_pack_dash_reads_paths_of_images(
    run: Run, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = sorted((str(path.relative_to(photos)) for path in photos.rglob("*.jpg")), reverse=True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(names) + "\n"))
    result = run("pack", "-", tmp_path / "x.tfrecord", "--root", photos, "--keep-name")
    assert (result.code, result.err) == (0, "")
    examples = list(rm.open(tmp_path / "x.tfrecord"))
    assert [example["name"] for example in examples] == [name.encode() for name in names]
    assert [example["image"] for example in examples] == [(photos / name).read_bytes() for name in names]
    assert "label" not in examples[0]


@pytest.mark.parametrize(
    "lines, options, message",
    [
        ("", [], "expected one path per line on standard input"),
        ("no.jpg\n", [], "no.jpg"),
        ("a.jpg\na.jpg\n", [], "line 2 lists an image that is already listed"),
        ("a.jpg\n", ["--label", "0"], "--label has no effect"),
        ("a.jpg\n", ["--source", "table"], "--source table cannot be combined with the argument '-'"),
    ],
)
def test_pack_dash_refuses_invalid_lists(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str, options: list[str], message: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    result = run("pack", "-", tmp_path / "x.tfrecord", *options)
    assert result.code == 2 and message in result.err
    assert list(tmp_path.iterdir()) == []


def test_pack_prints_no_progress_without_terminal(run: Run, photos: Path, tmp_path: Path) -> None:
    result = run("pack", photos, tmp_path / "x.tfrecord", "--json")
    assert result.err == "" and json.loads(result.out)["num_records"] == 6


def test_pack_entry_points_writes_file_beside_shard(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "noise" / "one"
    folder.mkdir(parents=True)
    noise = np.random.default_rng(1).integers(0, 256, (160, 160, 3), np.uint8)
    Image.fromarray(noise).save(folder / "0.jpg", quality=90)
    assert run("pack", folder.parent, tmp_path / "x.tfrecord", "--entry-points").code == 0
    assert (tmp_path / ".x.tfrecord.rme").exists()
    for name, options in {"a": [], "b": ["--no-restart-markers"]}.items():
        assert run("pack", folder.parent, tmp_path / f"{name}.tfrecord", "--encode", "jpeg", *options).code == 0
    marked, plain = (rm.open(tmp_path / f"{name}.tfrecord")[0]["image"] for name in "ab")
    assert (b"\xff\xdd" in marked, b"\xff\xdd" in plain) == (True, False)

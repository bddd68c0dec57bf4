"""`recordmill pack`: every source, what is refused, what is skipped."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from tests.cli.conftest import Done, picture

Run = Callable[..., Done]


def _read(folder: Path, image: str = "image", label: str = "label") -> list[tuple[bytes, float]]:
    return [(example[image], float(example[label])) for example in rm.open(folder)]


def test_pack_when_source_is_class_folders_then_folders_are_labels(run: Run, photos: Path, tmp_path: Path) -> None:
    done = run("pack", photos, tmp_path / "out" / "train", "--shards", "2", "--json")
    assert done.code == 0 and done.err == ""
    paths = [str(tmp_path / "out" / f"train-0000{number}-of-00002.tfrecord") for number in range(2)]
    assert (done.json["num_records"], done.json["paths"], done.json["skipped"]) == (6, paths, [])
    expected = [(picture(number), 0.0) for number in (0, 2, 4)] + [(picture(number), 1.0) for number in (1, 3, 5)]
    assert _read(tmp_path / "out") == expected


def test_pack_when_text_then_tells_records_shards_and_names(run: Run, photos: Path, tmp_path: Path) -> None:
    done = run("pack", photos, tmp_path / "x.rec")
    assert done.code == 0 and done.err == ""
    first, second = done.out.splitlines()
    assert first.startswith("6 records in 1 shard, ") and second == str(tmp_path / "x.rec")


@pytest.mark.parametrize("name", ["label.txt", "label.jsonl", "label"])
def test_pack_when_source_is_a_label_file_then_root_holds_the_images(
    run: Run, flat: Path, tmp_path: Path, name: str
) -> None:
    labels = tmp_path / name
    labels.write_text('{"3.png": 7}\n{"0.png": 2, "1.png": 4}\n')
    done = run("pack", labels, tmp_path / "out" / "part", "--root", flat, "--format", "ofrecord", "--shards", "3")
    assert done.code == 0
    assert sorted(path.name for path in (tmp_path / "out").glob("part-*")) == ["part-0", "part-1", "part-2"]
    expected = [(picture(3, "PNG"), 7.0), (picture(0, "PNG"), 2.0), (picture(1, "PNG"), 4.0)]
    assert _read(tmp_path / "out", "images", "labels") == expected


@pytest.mark.parametrize("name", ["train.lst", "train.txt"])
def test_pack_when_source_is_a_list_then_its_index_is_the_key(run: Run, flat: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("12\t1.5\t4.png\n30\t0.5\t2.png\n")
    done = run("pack", tmp_path / name, tmp_path / "x.rec", "--root", flat, "--format", "recordio")
    assert done.code == 0
    examples = rm.open(tmp_path / "x.rec")[:]
    assert [(int(one["id"]), float(one["label"])) for one in examples] == [(12, 1.5), (30, 0.5)]
    assert examples[0]["image"] == picture(4, "PNG")


@pytest.mark.parametrize("name, delimiter", [("t.csv", ","), ("t.tsv", "\t")])
def test_pack_when_source_is_a_table_then_columns_are_found(
    run: Run, flat: Path, tmp_path: Path, name: str, delimiter: str
) -> None:
    rows = [("weight", "file", "label"), ("0.5", "1.png", "3"), ("2", "0.png", "1")]
    (tmp_path / name).write_text("".join(delimiter.join(row) + "\n" for row in rows))
    done = run("pack", tmp_path / name, tmp_path / "x.tfrecord", "--root", flat, "--features", "weight")
    assert done.code == 0
    examples = rm.open(tmp_path / "x.tfrecord")[:]
    assert [(float(one["label"]), float(one["weight"])) for one in examples] == [(3, 0.5), (1, 2)]
    run(
        "pack", tmp_path / name, tmp_path / "y.tfrecord", "--root", flat, "--image", "1", "--label", "2", "--label", "0"
    )
    assert [one["label"].tolist() for one in rm.open(tmp_path / "y.tfrecord")] == [[3, 0.5], [1, 2]]


@pytest.mark.parametrize("options", [["--pairs"], [], ["--source", "pairs"]])
def test_pack_when_source_is_pairs_then_masks_are_stored_exactly(
    run: Run, voc: Path, tmp_path: Path, options: list[str]
) -> None:
    assert run("pack", *options, voc, tmp_path / "x.tfrecord").code == 0
    examples = rm.open(tmp_path / "x.tfrecord")[:]
    assert [one["image"] for one in examples] == [picture(number) for number in (2, 0, 1)]
    masks = [np.unique(np.asarray(Image.open(io.BytesIO(one["label"])))).tolist() for one in examples]
    assert masks == [[2], [0], [1]]


def test_pack_when_pairs_have_a_list_elsewhere_then_it_chooses(run: Run, voc: Path, tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("1\n")
    assert run("pack", voc, tmp_path / "x.tfrecord", "--names", tmp_path / "few.txt", "--mask", "raw").code == 0
    (example,) = rm.open(tmp_path / "x.tfrecord")
    assert (int(example["height"]), int(example["width"]), example["dtype"]) == (20, 32, b"uint8")
    assert example["label"] == bytes([1]) * 640


def test_pack_when_reencoded_then_images_have_the_asked_form(run: Run, photos: Path, tmp_path: Path) -> None:
    options = ["--encode", "png", "--resize", "16", "--center-crop", "10", "--gray", "--keep-name", "--keep-shape"]
    assert run("pack", photos, tmp_path / "x.tfrecord", *options).code == 0
    example = rm.open(tmp_path / "x.tfrecord")[0]
    image = Image.open(io.BytesIO(example["image"]))
    assert (image.format, image.mode, image.size) == ("PNG", "L", (10, 10))
    assert (example["name"], int(example["height"])) == (b"ant/0.jpg", 10)


def test_pack_when_workers_differ_then_bytes_are_the_same(run: Run, photos: Path, tmp_path: Path) -> None:
    for name, options in {
        "a": [],
        "b": ["--workers", "2"],
        "c": ["--workers", "2", "--worker-kind", "processes"],
    }.items():
        assert run("pack", photos, tmp_path / f"{name}.tfrecord", "--shuffle", "3", *options).code == 0
    data = {(tmp_path / f"{name}.tfrecord").read_bytes() for name in "abc"}
    assert len(data) == 1


def test_pack_when_output_exists_then_refused_and_overwrite_replaces(run: Run, photos: Path, tmp_path: Path) -> None:
    target = tmp_path / "x.tfrecord"
    target.write_bytes(b"precious")
    done = run("pack", photos, target)
    assert done.code == 2 and done.out == "" and target.read_bytes() == b"precious"
    assert done.err.splitlines()[-1] == "hint: choose another name or use --overwrite"
    assert run("pack", photos, target, "--overwrite").code == 0
    assert len(rm.open(target)) == 6


def test_pack_when_an_image_is_bad_then_stops_or_skips(run: Run, photos: Path, tmp_path: Path) -> None:
    bad = photos / "ant" / "2.jpg"
    bad.write_bytes(b"no picture at all")
    done = run("pack", photos, tmp_path / "x.tfrecord")
    assert done.code == 2 and done.out == "" and str(bad) in done.err
    assert "--on-error skip skips such images" in done.err
    assert list(tmp_path.glob("x*")) == []
    done = run("pack", photos, tmp_path / "x.tfrecord", "--on-error", "skip", "--json")
    assert done.code == 1 and f"skipped {bad}: " in done.err
    assert done.json["num_records"] == 5 and [one["path"] for one in done.json["skipped"]] == [str(bad)]


def test_pack_when_the_source_is_missing_then_error(run: Run, tmp_path: Path) -> None:
    done = run("pack", tmp_path / "none", tmp_path / "x.tfrecord")
    assert done.code == 2 and done.err.startswith("error: the source does not exist")


@pytest.mark.parametrize("option", ["--root", "--split", "--names", "--label"])
def test_pack_when_an_option_means_nothing_then_refused(run: Run, photos: Path, tmp_path: Path, option: str) -> None:
    done = run("pack", photos, tmp_path / "x.tfrecord", option, "x")
    assert done.code == 2 and f"error: {option} means nothing for this source" in done.err
    assert not (tmp_path / "x.tfrecord").exists()


def test_pack_when_options_clash_then_error_in_the_words_of_the_command(run: Run, photos: Path, tmp_path: Path) -> None:
    done = run("pack", photos, tmp_path / "x.tfrecord", "--quality", "50")
    assert done.code == 2 and "need --encode" in done.err
    done = run("pack", photos, tmp_path / "x", "--shards", "2", "--max-shard-bytes", "1MB")
    assert done.code == 2 and "not allowed with" in done.err


def test_pack_when_shards_are_limited_by_bytes_then_none_is_larger(run: Run, photos: Path, tmp_path: Path) -> None:
    done = run("pack", photos, tmp_path / "out" / "x", "--max-shard-bytes", "2kB", "--json")
    assert done.code == 0 and len(done.json["paths"]) > 1
    assert all(Path(path).stat().st_size <= 2000 for path in done.json["paths"])
    assert len(rm.open(done.json["paths"])) == 6


def test_pack_when_classes_are_named_then_they_are_numbered_so(run: Run, photos: Path, tmp_path: Path) -> None:
    assert run("pack", photos, tmp_path / "x.tfrecord", "--classes", "cat, dog, ant").code == 0
    assert [int(one["label"]) for one in rm.open(tmp_path / "x.tfrecord")] == [2, 2, 2, 0, 0, 0]


def test_pack_when_labels_are_left_out_then_images_stand_alone(run: Run, flat: Path, tmp_path: Path) -> None:
    done = run("pack", flat, tmp_path / "x.tfrecord")
    assert done.code == 2 and "--no-labels" in done.err
    assert run("pack", flat, tmp_path / "x.tfrecord", "--no-labels").code == 0
    assert set(rm.open(tmp_path / "x.tfrecord").schema) == {"image"}


def test_pack_when_a_terminal_is_missing_then_no_progress_is_shown(run: Run, photos: Path, tmp_path: Path) -> None:
    done = run("pack", photos, tmp_path / "x.tfrecord", "--json")
    assert done.err == "" and json.loads(done.out)["num_records"] == 6


def test_pack_when_entry_points_are_asked_for_then_they_lie_beside_the_shard(run: Run, tmp_path: Path) -> None:
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

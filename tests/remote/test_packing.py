"""Packing images from a bucket or a web server: the same bytes as from local files, and named errors."""

from __future__ import annotations

import json
import os
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from tests.remote.datasets import check_error, is_shard, read_bucket, read_folder, upload_folder
from tests.remote.fault_proxy import FaultProxy, Faults
from tests.remote.http_folder import HttpFolder
from tests.remote.keys import AWKWARD_KEYS
from tests.remote.object_store import S3Bucket

pytestmark = pytest.mark.deep

Proxied = Callable[..., FaultProxy]


@pytest.fixture
def images(photos: Path) -> Path:
    """Folder of two classes, with nested folders, a hidden file, a text file, and a file beside a folder."""
    for name in ("cat/more/b.png", "cat/more/a/c.png", "cat/10.png", "cat/more.png", "dog/.hidden.png", "dog/z.PNG"):
        path = photos / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((photos / "cat" / "01.png").read_bytes())
    (photos / "dog" / "notes.txt").write_text("text")
    return photos


@pytest.fixture
def lists(images: Path) -> Path:
    """Lists of the images: a label file, an image list and a table."""
    names = [f"{'cat' if number % 2 else 'dog'}/{number:02}.png" for number in range(24)]
    labels = [number * 5 % 7 for number in range(24)]
    rows = list(zip(names, labels, strict=True))
    (images / "labels.jsonl").write_text("".join(json.dumps({name: label}) + "\r\n" for name, label in rows))
    (images / "images.lst").write_text("".join(f"{n + 7}\t{label}\t{name}\n" for n, (name, label) in enumerate(rows)))
    (images / "table.csv").write_text("path,label,x\n" + "".join(f"{name},{label},{label}.5\n" for name, label in rows))
    return images


def list_sources(root: str) -> dict[str, rm.Source]:
    return {
        "folder": rm.ImageFolder(root),
        "no labels": rm.ImageFolder(f"{root}/", labels=None),
        "classes": rm.ImageFolder(root, classes=["dog", "bird", "cat"]),
        "labels": rm.LabelFile(f"{root}/labels.jsonl", root=root),
        "list": rm.ListFile(f"{root}/images.lst"),
        "table": rm.Table(f"{root}/table.csv", features=["x"]),
    }


@pytest.mark.parametrize("kind", list_sources(""))
def test_source_in_a_bucket_is_packed_as_locally(s3: S3Bucket, lists: Path, tmp_path: Path, kind: str) -> None:
    upload_folder(s3, lists, "photos")
    options: dict[str, Any] = {"shards": 3, "keep_name": True, "keep_shape": True}
    found = rm.pack(list_sources(s3.url("photos"))[kind], tmp_path / "found" / "train", **options)
    expected = rm.pack(list_sources(str(lists))[kind], tmp_path / "expected" / "train", **options)
    assert read_folder(tmp_path / "found") == read_folder(tmp_path / "expected")
    assert found.num_records == expected.num_records > 20


@pytest.mark.parametrize(
    "options",
    [
        {"format": "recordio", "shuffle": 3, "workers": 3},
        {"format": "ofrecord", "encode": "jpeg", "resize": 16, "workers": 2, "worker_kind": "processes"},
        {"max_shard_bytes": 3000, "check": "decode"},
        {"check": "none"},
    ],
    ids=str,
)
def test_bucket_is_packed_to_a_bucket(s3: S3Bucket, images: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    upload_folder(s3, images, "photos")
    rm.pack(s3.url("photos"), s3.url("packed/train"), **options)
    rm.pack(images, tmp_path / "packed" / "train", **options)
    assert read_bucket(s3, "packed") == read_folder(tmp_path / "packed")


def test_pairs_of_a_bucket_are_packed_as_locally(s3: S3Bucket, tmp_path: Path) -> None:
    root = tmp_path / "voc"
    for number in range(5):
        for folder, suffix, array in (("JPEGImages", ".jpg", "image"), ("SegmentationClass", ".png", "mask")):
            path = root / folder / f"{number}{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(np.full((9, 8 + number), number + len(array), np.uint8)).save(path)
    (root / "ImageSets" / "Segmentation").mkdir(parents=True)
    (root / "ImageSets" / "Segmentation" / "train.txt").write_text("3\n1\n4\n")
    upload_folder(s3, root, "voc")
    for name, options in (("png", {}), ("raw", {"mask": "raw"})):
        assert rm.pack(s3.url("voc"), tmp_path / "found" / name, **options).num_records == 3
        rm.pack(root, tmp_path / "expected" / name, **options)
    source = rm.ImagePairs(s3.url("voc/JPEGImages"), s3.url("voc/SegmentationClass"))
    assert rm.pack(source, tmp_path / "found" / "all").num_records == 5
    rm.pack(rm.ImagePairs(root / "JPEGImages", root / "SegmentationClass"), tmp_path / "expected" / "all")
    assert read_folder(tmp_path / "found") == read_folder(tmp_path / "expected")


def test_local_list_of_remote_images(s3: S3Bucket, lists: Path, tmp_path: Path) -> None:
    upload_folder(s3, lists, "photos")
    expected = rm.LabelFile(lists / "labels.jsonl", root=lists)
    rm.pack(expected, tmp_path / "expected.tfrecord")
    rm.pack(rm.LabelFile(lists / "labels.jsonl", root=Path(s3.url("photos"))), tmp_path / "found.tfrecord")
    addresses = tmp_path / "addresses.jsonl"
    rows = zip(expected.rows().names, expected.rows().labels.tolist(), strict=True)
    addresses.write_text("".join(json.dumps({s3.url(f"photos/{name}"): label}) + "\n" for name, label in rows))
    rm.pack(rm.LabelFile(addresses), tmp_path / "addresses.tfrecord")
    for name in ("found", "addresses"):
        assert (tmp_path / f"{name}.tfrecord").read_bytes() == (tmp_path / "expected.tfrecord").read_bytes()


def test_names_of_objects_are_kept(s3: S3Bucket, photos: Path, tmp_path: Path) -> None:
    data = (photos / "cat" / "01.png").read_bytes()
    names = [name.replace(".tfrecord", ".png") for name in AWKWARD_KEYS if "/" in name]
    for name in names:
        s3.put(f"awkward/{name}", data)
    rm.pack(s3.url("awkward"), tmp_path / "train", keep_name=True, shuffle=1)
    found = {sample["name"].decode() for sample in rm.open(tmp_path / "train")}
    assert found == set(names)


def test_images_of_a_web_server(http_folder: HttpFolder, lists: Path, tmp_path: Path) -> None:
    for name, data in read_folder(lists).items():
        http_folder.put(f"a b/{name}", data)
    http_folder.put("a b/cat/#1 %.png", (lists / "cat" / "01.png").read_bytes())
    http_folder.put("a b/odd.jsonl", b'{"cat/#1 %.png": 3}')
    root = f"{http_folder.url}/a%20b"
    for kind in ("labels", "list", "table"):
        rm.pack(list_sources(root)[kind], tmp_path / "found" / kind)
        rm.pack(list_sources(str(lists))[kind], tmp_path / "expected" / kind)
    assert read_folder(tmp_path / "found") == read_folder(tmp_path / "expected")
    assert rm.pack(rm.LabelFile(f"{root}/odd.jsonl", root=root), tmp_path / "odd").num_records == 1


def test_relative_names_are_resolved_as_on_a_disk(s3: S3Bucket, photos: Path, tmp_path: Path) -> None:
    upload_folder(s3, photos, "photos")
    names = ["./cat/01.png", "dog/../cat/03.png", "dog//00.png", "dog/./02.png"]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("".join(json.dumps({name: number}) + "\n" for number, name in enumerate(names)))
    rm.pack(rm.LabelFile(labels, root=s3.url("photos")), tmp_path / "found.tfrecord", keep_name=True)
    rm.pack(rm.LabelFile(labels, root=photos), tmp_path / "expected.tfrecord", keep_name=True)
    assert (tmp_path / "found.tfrecord").read_bytes() == (tmp_path / "expected.tfrecord").read_bytes()
    labels.write_text(json.dumps({"../photos/dog/00.png": 1}))
    source = rm.LabelFile(labels, root=s3.url("photos/cat"), allow_outside=True)
    assert source.rows().paths() == [s3.url("photos/photos/dog/00.png")]


def test_local_and_remote_images_cannot_be_mixed(s3: S3Bucket, photos: Path, tmp_path: Path) -> None:
    upload_folder(s3, photos, "photos")
    remote, local = s3.url("photos/cat/01.png"), str(photos / "cat" / "01.png")
    for names in ([remote, local], [local, remote]):
        (tmp_path / "labels.jsonl").write_text("".join(json.dumps({name: 1}) + "\n" for name in names))
        with pytest.raises(rm.ImageError, match=r"partly local and partly remote \(.*line [12]\)") as caught:
            rm.pack(rm.LabelFile(tmp_path / "labels.jsonl"), tmp_path / "train", on_error="skip")
        assert caught.value.kind == "remote_path"


def test_objects_that_mark_folders_are_ignored(s3: S3Bucket, photos: Path, tmp_path: Path) -> None:
    upload_folder(s3, photos, "photos")
    for name in ("", "cat/", "dog/x.png/", "cat/01.png/"):
        s3.put(f"photos/{name}", b"")
    data = (photos / "cat" / "01.png").read_bytes()
    s3.put("photos/dog/x.png/inner.png", data)
    s3.put("photos/cat/01.png/inner.png", data)
    assert rm.pack(s3.url("photos"), tmp_path / "train").num_records == 26


def test_missing_bucket_is_named(s3: S3Bucket, photos: Path, tmp_path: Path) -> None:
    (tmp_path / "labels.jsonl").write_text('{"a.png": 1}')
    source = rm.LabelFile(tmp_path / "labels.jsonl", root=f"s3://{s3.bucket}-nowhere")
    with pytest.raises(rm.RemoteError, match="the bucket does not exist"):
        rm.pack(source, tmp_path / "train", on_error="skip")


def test_bucket_can_be_the_folder(s3: S3Bucket, photos: Path, tmp_path: Path) -> None:
    rm.pack(photos, s3.url().rstrip("/"))
    rm.pack(photos, f"{tmp_path}/packed/")
    assert read_bucket(s3) == read_folder(tmp_path / "packed")


def test_missing_and_bad_images_are_skipped_or_named(s3: S3Bucket, lists: Path, tmp_path: Path) -> None:
    upload_folder(s3, lists, "photos")
    s3.delete("photos/dog/04.png")
    s3.put("photos/cat/07.png", b"text")
    source = rm.ListFile(s3.url("photos/images.lst"))
    with pytest.raises(rm.ImageError, match=r"does not exist[\s\S]*line 5") as caught:
        rm.pack(source, tmp_path / "train")
    assert caught.value.shard == s3.url("photos/dog/04.png")
    check_error(caught.value)
    result = rm.pack(source, tmp_path / "train", on_error="skip")
    assert [path for path, _ in result.skipped] == [s3.url("photos/dog/04.png"), s3.url("photos/cat/07.png")]
    assert result.num_records == 22


@pytest.mark.parametrize("name", ["nowhere", "nowhere/labels.jsonl"])
def test_missing_source_is_named(s3: S3Bucket, tmp_path: Path, name: str) -> None:
    with pytest.raises(rm.MissingInputError, match=f"s3://{s3.bucket}/{name} does not exist") as caught:
        rm.pack(s3.url(name), tmp_path / "train")
    check_error(caught.value)


def test_names_outside_the_remote_folder_are_refused(s3: S3Bucket, photos: Path, tmp_path: Path) -> None:
    upload_folder(s3, photos, "photos")
    for name in ("../secret.png", "/etc/passwd", "s3://other/secret.png", f"s3://{s3.bucket}/photos2/a.png"):
        (tmp_path / "labels.jsonl").write_text(json.dumps({name: 1}))
        with pytest.raises(rm.ImageError, match="outside the image folder"):
            rm.pack(rm.LabelFile(tmp_path / "labels.jsonl", root=s3.url("photos")), tmp_path / "train")


@pytest.mark.usefixtures("quick_retries")
def test_faults_of_the_server_change_nothing(s3: S3Bucket, images: Path, tmp_path: Path, proxied: Proxied) -> None:
    upload_folder(s3, images, "photos")
    rm.pack(images, tmp_path / "expected" / "train")
    faults = Faults(error_rate=0.05, reset_rate=0.05, truncate_rate=0.05, short_rate=0.05, long_rate=0.05)
    for seed in range(3):
        proxied(s3, faults, seed=seed)
        rm.pack(s3.url("photos"), tmp_path / f"found{seed}" / "train", workers=2)
        assert read_folder(tmp_path / f"found{seed}") == read_folder(tmp_path / "expected")


@pytest.mark.usefixtures("quick_retries")
def test_lost_server_is_an_error_also_if_images_are_skipped(
    s3: S3Bucket, images: Path, tmp_path: Path, proxied: Proxied
) -> None:
    upload_folder(s3, images, "photos")
    source = rm.ImageFolder(s3.url("photos"))
    source.rows()
    proxied(s3, Faults(error_rate=1))
    with pytest.raises(rm.RemoteError) as caught:
        rm.pack(source, tmp_path / "out" / "train", on_error="skip")
    check_error(caught.value)
    assert not any(is_shard(name) for name in os.listdir(tmp_path / "out"))


@pytest.mark.parametrize("name", ["cat/01.png", "SegmentationClass/1.png"])
def test_replaced_image_is_an_error(s3: S3Bucket, images: Path, tmp_path: Path, name: str) -> None:
    upload_folder(s3, images, "photos")
    source: rm.Source = rm.ImageFolder(s3.url("photos"))
    if "Class" in name:
        for folder in ("JPEGImages", "SegmentationClass"):
            s3.put(f"photos/{folder}/1.png", (images / "cat" / "01.png").read_bytes())
        source = rm.ImagePairs(s3.url("photos/JPEGImages"), s3.url("photos/SegmentationClass"))
    source.rows()
    s3.put(f"photos/{name}", (images / "cat" / "03.png").read_bytes())
    with pytest.raises(rm.ShardChangedError, match="the object was replaced") as caught:
        rm.pack(source, tmp_path / "out" / "train", on_error="skip")
    assert caught.value.shard == s3.url(f"photos/{name}")
    check_error(caught.value)


def test_interrupted_run_is_resumed(s3: S3Bucket, images: Path, tmp_path: Path) -> None:
    upload_folder(s3, images, "photos")
    source = rm.ImageFolder(s3.url("photos"))
    s3.put("photos/dog/22.png", b"text")
    with pytest.raises(rm.ImageError):
        rm.pack(source, s3.url("packed/train"), shards=4, resume=True)
    s3.put("photos/dog/22.png", (images / "dog" / "22.png").read_bytes())
    changed = rm.ImageFolder(s3.url("photos"))
    rm.pack(changed, s3.url("packed/train"), shards=4, resume=True)
    rm.pack(images, tmp_path / "packed" / "train", shards=4)
    assert read_bucket(s3, "packed") == read_folder(tmp_path / "packed")


def test_changed_image_ends_a_resumed_run(s3: S3Bucket, images: Path) -> None:
    upload_folder(s3, images, "photos")
    s3.put("photos/dog/22.png", b"text")
    with pytest.raises(rm.ImageError):
        rm.pack(s3.url("photos"), s3.url("packed/train"), shards=4, resume=True)
    s3.put("photos/cat/01.png", (images / "cat" / "03.png").read_bytes())
    with pytest.raises(rm.ResumeError, match="an image has changed"):
        rm.pack(s3.url("photos"), s3.url("packed/train"), shards=4, resume=True)


def test_parts_of_a_plan_read_a_bucket(s3: S3Bucket, images: Path, tmp_path: Path) -> None:
    upload_folder(s3, images, "photos")
    rm.plan_pack(s3.url("photos"), s3.url("packed/train"), shards=3, shuffle=5).save(tmp_path / "plan.json")
    plan = rm.PackPlan.load(tmp_path / "plan.json")
    for part in (2, 0, 1):
        rm.pack_part(pickle.loads(pickle.dumps(plan)), part)
    rm.finish_pack(plan)
    rm.pack(images, tmp_path / "packed" / "train", shards=3, shuffle=5)
    found = {name: data for name, data in read_bucket(s3, "packed").items() if ".lock" not in name}
    assert found == read_folder(tmp_path / "packed")


def test_plan_refuses_options_that_it_cannot_store(s3: S3Bucket) -> None:
    source = rm.ImageFolder(s3.url("photos"), storage_options={"region": "us-east-1"})
    with pytest.raises(ValueError, match="does not support a source with storage_options"):
        rm.plan_pack(source, s3.url("packed/train"))


def test_changed_image_ends_a_part(s3: S3Bucket, images: Path) -> None:
    upload_folder(s3, images, "photos")
    plan = rm.plan_pack(s3.url("photos"), s3.url("packed/train"))
    s3.put("photos/cat/01.png", (images / "cat" / "03.png").read_bytes())
    with pytest.raises(rm.PlanError, match="has changed since the plan") as caught:
        rm.pack_part(plan, 0)
    assert caught.value.shard == s3.url("photos/cat/01.png")


def test_options_of_the_source_are_used_and_not_shown(
    s3: S3Bucket, images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload_folder(s3, images, "photos")
    options = {name.lower(): value for name, value in s3.environment.items() if name.startswith("AWS_")}
    del options["aws_allow_http"]
    for name in options:
        monkeypatch.delenv(name.upper())
    source = rm.ImageFolder(s3.url("photos"), storage_options=options)
    assert s3.environment["AWS_SECRET_ACCESS_KEY"] not in repr(source)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rm.pack(source, tmp_path / "one" / "train", workers=2, worker_kind="processes")
        rm.pack(s3.url("photos"), tmp_path / "two" / "train", storage_options=options)
    assert read_folder(tmp_path / "one") == read_folder(tmp_path / "two")
    assert source.classes == ["cat", "dog"]


def test_large_folder_is_listed_in_few_requests(s3: S3Bucket, photos: Path, tmp_path: Path, proxied: Proxied) -> None:
    data = (photos / "cat" / "01.png").read_bytes()
    s3.fill([f"many/{number % 3}/{number:05}.png" for number in range(2500)], data)
    proxy = proxied(s3)
    assert len(rm.ImageFolder(s3.url("many"))) == 2500
    assert len(proxy.requests) <= 6
    names = [f"{number % 3}/{number:05}.png" for number in range(0, 2500, 2)]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps({name: 1}) + "\n" for name in names))
    proxy.reset_counts()
    assert len(rm.LabelFile(tmp_path / "labels.jsonl", root=s3.url("many"))) == 1250
    assert len(proxy.requests) <= 3

"""Packing in parts to a bucket: the same bytes as locally, and parts that are missing or have to be packed again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import recordmill as rm
from tests.remote.datasets import read_bucket, read_folder
from tests.remote.object_store import S3Bucket

pytestmark = pytest.mark.deep


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Folder of 30 files in three classes, which begin like JPEG files."""
    for number in range(30):
        path = tmp_path / "photos" / f"class-{number % 3}" / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\xff\xd8\xff\xe0" + bytes([number]) * (100 + number))
    return tmp_path / "photos"


@pytest.mark.parametrize("format_", ["tfrecord", "recordio", "ofrecord"])
def test_parts_in_a_bucket_have_same_bytes_as_pack_writes(
    s3: S3Bucket, photos: Path, tmp_path: Path, format_: str
) -> None:
    plan = rm.plan_pack(photos, s3.url("data/train"), shards=4, shuffle=1, format=format_)
    plan.save(tmp_path / "plan.json")
    assert s3.environment["AWS_SECRET_ACCESS_KEY"] not in json.dumps((tmp_path / "plan.json").read_text())
    for part in (2, 0, 3, 1, 0):
        rm.pack_part(rm.PackPlan.load(tmp_path / "plan.json"), part)
    result = rm.finish_pack(plan)
    rm.pack(photos, tmp_path / "data" / "train", shards=4, shuffle=1, format=format_)
    assert result.num_records == 30
    assert read_bucket(s3, "data") == read_folder(tmp_path / "data")


def test_missing_part_in_a_bucket_is_named_and_can_be_packed(s3: S3Bucket, photos: Path) -> None:
    plan = rm.plan_pack(photos, s3.url("data/train"), shards=3)
    for part in (0, 2):
        rm.pack_part(plan, part)
    with pytest.raises(rm.PlanError, match="1 of 3 parts are missing or damaged: 1") as caught:
        rm.finish_pack(plan)
    assert caught.value.part == 1
    assert not any(key.startswith("data/train-") for key in read_bucket(s3))
    rm.pack_part(plan, 1)
    assert rm.finish_pack(plan).num_records == len(rm.open(s3.url("data"))) == 30

"""Face recognition datasets: images, header record and identity records."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from tests.recorded import RECORDINGS, load_recording

FACES = RECORDINGS / "mxnet" / "faces"


def copy_dataset(name: str, folder: Path) -> Path:
    return Path(shutil.copytree(FACES / name, folder / name)) / "train.rec"


@pytest.mark.parametrize("name", ["scalar", "vector", "no_header_record"])
def test_read_faces_finds_images_of_each_identity(tmp_path: Path, name: str) -> None:
    expected, path = load_recording("mxnet/faces/expected.json"), copy_dataset(name, tmp_path)
    faces = rm.read_faces(path)
    labels = [np.asarray(example["label"]).reshape(-1)[0] for example in rm.open(path).fetch(faces.images)]
    assert labels == expected["identities"]
    assert all(example["image"][:2] == b"\xff\xd8" for example in rm.open(path).fetch(faces.images))
    assert faces.properties == {"num_identities": 3, "height": 24, "width": 24}
    if name == "no_header_record":
        assert faces.identities.shape == (0, 2)
        return
    assert len(faces.images) == len(rm.open(path)) - 4
    for person, (start, stop) in enumerate(faces.identities):
        assert set(labels[start:stop]) == {person} and labels.count(person) == stop - start


def write_records(path: Path, records: list[dict[str, Any]]) -> None:
    with rm.ShardWriter(path, format="recordio") as writer:
        for record in records:
            writer.write(record)


def test_read_faces_finds_header_by_key(tmp_path: Path) -> None:
    records = [{"image": b"x", "label": 0.0, "id": 2}, {"image": b"y", "label": 0.0, "id": 1}]
    records.append({"image": b"", "label": np.float32([1, 3]), "id": 3})
    records.append({"image": b"", "label": np.float32([3, 4]), "id": 0})
    write_records(tmp_path / "train.rec", records)
    faces = rm.read_faces(tmp_path / "train.rec")
    assert (faces.images.tolist(), faces.identities.tolist(), faces.properties) == ([1, 0], [[0, 2]], {})


@pytest.mark.parametrize("label", [[1, 2, 3], [1], [0, 2], [1, 9], [2, 1], [np.nan, 1], [1, np.inf]])
def test_read_faces_rejects_invalid_identity(tmp_path: Path, label: list[float]) -> None:
    records = [{"image": b"", "label": np.float32([2, 3])}, {"image": b"x", "label": 0.0}]
    write_records(tmp_path / "train.rec", [*records, {"image": b"", "label": np.float32(label)}])
    with pytest.raises(rm.FormatError, match="identity") as caught:
        rm.read_faces(tmp_path / "train.rec")
    assert caught.value.shard == str(tmp_path / "train.rec")


@pytest.mark.parametrize("label", [[0, 3], [3, 2], [np.nan, 3], [2, np.inf], [2, 9]])
def test_read_faces_rejects_invalid_header(tmp_path: Path, label: list[float]) -> None:
    write_records(tmp_path / "train.rec", [{"image": b"", "label": np.float32(label)}, {"image": b"x", "label": 0.0}])
    with pytest.raises(rm.FormatError, match="header record"):
        rm.read_faces(tmp_path / "train.rec")


@pytest.mark.parametrize("text", ["", "3,24", "3,24,x", "<html>"])
def test_read_faces_rejects_invalid_property_file(tmp_path: Path, text: str) -> None:
    path = copy_dataset("scalar", tmp_path)
    path.with_name("property").write_text(text)
    with pytest.raises(rm.FormatError, match="property"):
        rm.read_faces(path)


def test_read_faces_of_empty_shard_is_empty(tmp_path: Path) -> None:
    write_records(tmp_path / "train.rec", [])
    faces = rm.read_faces(tmp_path / "train.rec")
    assert (len(faces.images), faces.identities.shape) == (0, (0, 2))

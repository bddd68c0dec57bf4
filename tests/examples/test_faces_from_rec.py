"""The example of face batches, on data sets of InsightFace's layout: recorded ones, and real faces."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import recordmill.compat.mxnet as mx
from tests.recorded import RECORDINGS, load_recording

PROGRAM = Path(__file__).parents[2] / "examples" / "faces_from_rec.py"


def program():
    spec = importlib.util.spec_from_file_location("faces_from_rec", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["scalar", "vector", "no_header_record"])
def test_recorded_faces_have_their_identities(name) -> None:
    faces = program().Faces(RECORDINGS / "mxnet" / "faces" / name)
    assert faces.identities.tolist() == load_recording("mxnet/faces/expected.json")["identities"]
    assert all(data[:2] == b"\xff\xd8" for data in faces.fetch(range(len(faces))))


def test_batches_repeat_and_contain_every_face() -> None:
    module = program()
    faces = module.Faces(RECORDINGS / "mxnet" / "faces" / "scalar")
    epochs = [list(module.batches(faces, 4, seed=3, epoch=epoch)) for epoch in (0, 0, 1)]
    for (images, people), (again, same) in zip(*epochs[:2], strict=True):
        np.testing.assert_array_equal(images, again)
        assert people.tolist() == same.tolist() and images.shape[1:] == (3, 24, 24)
    assert sorted(np.concatenate([people for _, people in epochs[2]])) == [0, 0, 0, 1, 2, 2]
    assert not np.array_equal(epochs[0][0][0], epochs[2][0][0])


def test_program_prints_contents_of_file() -> None:
    folder = str(RECORDINGS / "mxnet" / "faces" / "vector")
    done = subprocess.run([sys.executable, str(PROGRAM), folder], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["6 images of 3 people", "1 batches, the first of shape (6, 3, 24, 24)"] and len(lines) == 3


@pytest.mark.deep
def test_trained_model_separates_faces_from_other_images(tmp_path) -> None:
    from skimage.data import lfw_subset

    # 100 faces, then 100 pictures of other things.
    pictures = (lfw_subset() * 255).astype(np.uint8)
    record = mx.recordio.MXIndexedRecordIO(tmp_path / "train.idx", tmp_path / "train.rec", "w")
    record.write_idx(0, mx.recordio.pack(mx.recordio.IRHeader(2, [201, 203], 0, 0), b""))
    for key, picture in enumerate(pictures, 1):
        header = mx.recordio.IRHeader(0, float(key > 100), key, 0)
        record.write_idx(key, mx.recordio.pack_img(header, picture, quality=95))
    for key, first in ((201, 1), (202, 101)):
        record.write_idx(key, mx.recordio.pack(mx.recordio.IRHeader(2, [first, first + 100], key, 0), b""))
    record.close()
    module = program()
    faces = module.Faces(tmp_path)
    assert len(faces) == 200
    right, asked = module.identify(faces)
    assert asked == 100 and right >= 80

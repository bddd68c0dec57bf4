"""Programs with iterators, transforms and folders of their own return the values of MXNet."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import recordmill.compat.mxnet as mx
from tests.compat.mxnet.value_programs import PROGRAMS
from tests.recorded import load_recording


@pytest.mark.parametrize("name", [*PROGRAMS])
def test_programs_return_values_of_mxnet(name: str, tmp_path: Path) -> None:
    found = json.loads(json.dumps(PROGRAMS[name](mx, str(tmp_path))))
    assert found == load_recording("compat/mxnet/values/expected.json")[name]


@pytest.mark.parametrize("name", ["ndarray", "gluon.data.dataloader", "gluon.data.dataset", "gluon.utils"])
def test_modules_can_be_imported(name: str) -> None:
    assert importlib.import_module(f"recordmill.compat.mxnet.{name}")


def test_label_of_other_width_raises_value_error(tmp_path: Path) -> None:
    record = mx.recordio.MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w")
    header = mx.recordio.IRHeader(0, [1.0, 2.0], 0, 0)
    record.write_idx(0, mx.recordio.pack_img(header, np.zeros((4, 4, 3), np.uint8), img_fmt=".png"))
    record.close()
    data = mx.image.ImageIter(1, (3, 4, 4), path_imgrec=str(tmp_path / "a.rec"), path_imgidx=str(tmp_path / "a.idx"))
    with pytest.raises(ValueError, match="label_width is 1"):
        data.next()


def test_image_folder_warns_about_other_files(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "notes.txt").write_text("no picture")
    with pytest.warns(UserWarning, match=r"notes\.txt of type \.txt"):
        assert len(mx.gluon.data.vision.ImageFolderDataset(tmp_path)) == 0
    (tmp_path / "class" / "notes.txt").rename(tmp_path / "notes.txt")
    with pytest.warns(UserWarning, match="not a directory"):
        mx.gluon.data.vision.ImageFolderDataset(str(tmp_path))

"""ImageDetRecordIter: labels and batches, compared with recordings of MXNet."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

import recordmill.compat.mxnet as mx
from tests.compat.mxnet import programs
from tests.recorded import RECORDINGS, load_recording

EXPECTED = load_recording("compat/mxnet/expected.json")["detections"]
BASE = {"path_imgrec": "boxes.rec", "data_shape": (3, 16, 24), "batch_size": 3}


@pytest.fixture(autouse=True)
def boxes(tmp_path, monkeypatch):
    (tmp_path / "boxes.rec").write_bytes((RECORDINGS / "compat" / "mxnet" / "boxes.rec").read_bytes())
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", programs.DETECTIONS)
def test_detection_batches_equal_mxnet(name) -> None:
    found = programs.detections(mx, **programs.DETECTIONS[name])
    assert json.loads(json.dumps(found)) == EXPECTED[name]


def test_detection_labels_have_width_of_longest_row() -> None:
    data = mx.io.ImageDetRecordIter(**BASE)
    assert data.provide_label[0].shape == (3, 16) == data.next().label[0].shape


def test_shuffled_detection_visits_all_images() -> None:
    data = mx.io.ImageDetRecordIter(**{**BASE, "batch_size": 1}, shuffle=True, seed=5)
    ids = [batch.index[0] for batch in data]
    assert sorted(ids) == list(range(7)) != ids


@pytest.mark.parametrize("name", ["aug_seq", "mean_img", "path_imglist", "shuffle_chunk_size", "shuffle_chunk_seed"])
def test_unsupported_parameter_is_rejected(name) -> None:
    parameters = 3 if name.startswith("shuffle") else "other"
    with pytest.raises(NotImplementedError, match=name):
        mx.io.ImageDetRecordIter(**BASE, **{name: parameters})


@pytest.mark.parametrize("wrong", [{"label_width": 7}, {"label_pad_width": 5}], ids=["width", "padding"])
def test_detection_rejects_labels_of_other_widths(wrong) -> None:
    with pytest.raises(mx.MXNetError, match="label_"):
        mx.io.ImageDetRecordIter(**BASE, **wrong).next()


@pytest.mark.parametrize(
    "wrong",
    [{"inter_method": 8}, {"rand_mirror_prob": 1.5}, {"dtype": "uint8"}, {"data_shape": (4, 8, 8)}, {"nothing": 1}],
)
def test_invalid_values_are_rejected(wrong) -> None:
    with pytest.raises(mx.MXNetError):
        mx.io.ImageDetRecordIter(**{**BASE, **wrong})


@pytest.mark.parametrize("flag", [9999, 2**32 - 1])
def test_detection_names_record_with_missing_labels(flag) -> None:
    record = mx.recordio.MXRecordIO("short.rec", "w")
    record.write(mx.recordio.pack(mx.recordio.IRHeader(0, [1.0, 2.0], 0, 0), b"image"))
    record.write(struct.pack("<IfQQ", flag, 0, 1, 0) + b"image")
    record.close()
    with pytest.raises(mx.MXNetError, match="too short for the number of labels") as caught:
        mx.io.ImageDetRecordIter(**{**BASE, "path_imgrec": "short.rec", "batch_size": 1})
    assert (caught.value.shard, caught.value.record, caught.value.offset) == ("short.rec", 1, 48)


def test_detection_mirrors_half_of_images_reproducibly() -> None:
    parameters = {**BASE, "batch_size": 7, "rand_mirror_prob": 0.5, "seed": 3}
    [plain] = mx.io.ImageDetRecordIter(**{**BASE, "batch_size": 7})
    data = mx.io.ImageDetRecordIter(**parameters)
    epochs = []
    for _ in range(20):
        [batch] = data
        epochs.append(batch)
        data.reset()
    [again] = mx.io.ImageDetRecordIter(**parameters)
    assert np.array_equal(epochs[0].data[0], again.data[0]) and np.array_equal(epochs[0].label[0], again.label[0])
    count = 0
    for batch in epochs:
        for row in range(7):
            pixels, label = np.asarray(batch.data[0])[row], np.asarray(batch.label[0])[row]
            original, before = np.asarray(plain.data[0])[row], np.asarray(plain.label[0])[row]
            is_mirrored = not np.array_equal(pixels, original)
            assert np.array_equal(pixels, original[:, :, ::-1] if is_mirrored else original)
            assert is_mirrored or np.array_equal(label, before)
            count += is_mirrored
    assert 45 < count < 95


@pytest.mark.parametrize("label", [[1.0, 5, 0, 0, 0, 1, 1], [2.0, 4, 0, 0, 1, 1], [2.0, 5, 0, 0, 1, 1], [7.0]])
def test_mirroring_names_record_without_boxes(label) -> None:
    record = mx.recordio.MXRecordIO("other.rec", "w")
    header = mx.recordio.IRHeader(0, label, 0, 0)
    record.write(mx.recordio.pack_img(header, np.zeros((4, 4, 3), np.uint8), img_fmt=".png"))
    record.close()
    parameters = {"path_imgrec": "other.rec", "data_shape": (3, 4, 4), "batch_size": 1}
    assert len(list(mx.io.ImageDetRecordIter(**parameters))) == 1
    with pytest.raises(ValueError, match="cannot be split into a header and boxes") as caught:
        mx.io.ImageDetRecordIter(**parameters, rand_mirror_prob=1.0).next()
    assert (caught.value.shard, caught.value.record) == ("other.rec", 0)

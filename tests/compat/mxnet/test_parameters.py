"""Parameters of ImageRecordIter: parsing, ranges and errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import recordmill.compat.mxnet as mx

BASE = {"path_imgrec": "images.rec", "data_shape": (3, 8, 8), "batch_size": 2}
UNSUPPORTED = {"aug_seq": "mine"}
IMPOSSIBLE = {
    "batch_size": 0,
    "data_shape": (2, 8, 8),
    "dtype": "float64",
    "label_width": 0,
    "num_parts": 0,
    "part_index": 1,
    "pad": -1,
    "fill_value": 256,
    "inter_method": 7,
    "max_crop_size": 8,
    "preprocess_threads": 0,
    "max_rotate_angle": -1,
    "max_shear_ratio": -0.1,
    "min_random_scale": 2.0,
    "max_random_scale": 0.0,
    "min_img_size": -1.0,
    "max_img_size": 0.0,
    "min_random_area": 1.5,
    "max_aspect_ratio": 1.5,
    "random_h": 256,
    "shuffle_chunk_size": -1,
    "std_r": 0.0,
    "resize": "half",
    "shuffle": "perhaps",
    "path_imgrec": "",
    "ctx": "tpu",
}


@pytest.fixture(autouse=True)
def one_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    record = mx.recordio.MXRecordIO("images.rec", "w")
    image = np.zeros((8, 8, 3), np.uint8)
    for number in range(3):
        header = mx.recordio.IRHeader(0, [number, 1.0], number, 0)
        record.write(mx.recordio.pack_img(header, image, img_fmt=".png"))
    record.close()


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_parameter_is_rejected(name) -> None:
    with pytest.raises(NotImplementedError, match=name) as caught:
        mx.io.ImageRecordIter(**BASE, **{name: UNSUPPORTED[name]})
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), mx.MXNetError)


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_invalid_value_raises_value_error(name) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (messages differ)
        mx.io.ImageRecordIter(**{**BASE, name: IMPOSSIBLE[name]})
    assert isinstance(caught.value, mx.MXNetError)


def test_unknown_parameter_suggests_similar_name() -> None:
    with pytest.raises(mx.MXNetError, match="did you mean rand_mirror"):
        mx.io.ImageRecordIter(**BASE, random_mirror=True)


def test_missing_parameter_is_named() -> None:
    with pytest.raises(mx.MXNetError, match="Required parameter data_shape"):
        mx.io.ImageRecordIter(path_imgrec="images.rec", batch_size=2)


def test_positional_parameters_are_rejected() -> None:
    with pytest.raises(TypeError, match="keyword"):
        mx.io.ImageRecordIter("images.rec")


def test_text_parameters_are_parsed() -> None:
    text = {"path_imgrec": "images.rec", "data_shape": "(3, 8, 8)", "batch_size": "3", "label_width": "2"}
    data = mx.io.ImageRecordIter(**text, shuffle="False", std_r="2.0", dtype=np.dtype("float32"))
    assert data.next().label[0].asnumpy().tolist() == [[0, 1], [1, 1], [2, 1]]


@pytest.mark.parametrize("name", ["path_imgrec", "path_imglist"])
def test_missing_input_raises_file_not_found_error(name) -> None:
    with pytest.raises(FileNotFoundError, match="none"):
        mx.io.ImageRecordIter(**{**BASE, "label_width": 2, name: "none.here"})


@pytest.mark.parametrize("width,words", [(1, "has 2 labels"), (3, "has 2 labels")])
def test_labels_of_other_width_are_rejected(width, words) -> None:
    with pytest.raises(mx.MXNetError, match=words) as caught:
        mx.io.ImageRecordIter(**BASE, label_width=width).next()
    assert caught.value.record == 0


def test_missing_list_entry_names_id(tmp_path) -> None:
    (tmp_path / "some.lst").write_text("0\t1\ta.jpg\n2\t1\tb.jpg\n")
    with pytest.raises(mx.MXNetError, match="fail to find imagelabel for id 1"):
        mx.io.ImageRecordIter(**BASE, path_imglist="some.lst").next()


def test_batch_may_be_twice_as_large_as_data() -> None:
    for size in (5, 6):
        (batch,) = mx.io.ImageRecordIter(**{**BASE, "batch_size": size, "label_width": 2})
        rows = batch.data[0].asnumpy()
        assert batch.pad == size - 3
        assert np.array_equal(rows[3:], rows[: size - 3])
    with pytest.raises(mx.MXNetError, match="batch_size"):
        mx.io.ImageRecordIter(**{**BASE, "batch_size": 7, "label_width": 2})
    (batch,) = mx.io.ImageRecordIter(**{**BASE, "batch_size": 5, "label_width": 2, "round_batch": False})
    assert batch.pad == 2


@pytest.mark.parametrize("other", [{"rand_crop": True}, {"max_crop_size": 4}, {"max_random_scale": 1.5}])
def test_random_resized_crop_cannot_be_combined(other) -> None:
    with pytest.raises(mx.MXNetError, match="cannot be combined"):
        mx.io.ImageRecordIter(**BASE, random_resized_crop=True, **other)


def test_rotation_rejects_nearest_interpolation() -> None:
    with pytest.raises(mx.MXNetError, match="inter_method"):
        mx.io.ImageRecordIter(**BASE, rotate=10, inter_method=0)


@pytest.mark.parametrize("channels,name", [(4, "brightness"), (4, "random_h"), (1, "random_s")])
def test_color_parameters_need_three_channels(channels, name) -> None:
    with pytest.raises(NotImplementedError, match=name):
        mx.io.ImageRecordIter(**{**BASE, "data_shape": (channels, 8, 8)}, **{name: 1})


def test_max_crop_size_rejects_smaller_image() -> None:
    with pytest.raises(mx.MXNetError, match="smaller than max_crop_size") as caught:
        mx.io.ImageRecordIter(**BASE, label_width=2, min_crop_size=9, max_crop_size=9).next()
    assert caught.value.record == 0

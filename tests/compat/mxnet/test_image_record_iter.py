"""ImageRecordIter, compared with recordings of MXNet, and its deliberate differences."""

from __future__ import annotations

import json
import os
import pickle

import numpy as np
import pytest

import recordmill as rm
import recordmill.compat.mxnet as mx
from tests.compat.mxnet import programs
from tests.recorded import RECORDINGS, load_recording

FOLDER = RECORDINGS / "compat" / "mxnet"
EXPECTED = load_recording("compat/mxnet/expected.json")


@pytest.fixture(scope="module", autouse=True)
def recordings(tmp_path_factory):
    """A copy of the recorded files, where indexes may be written."""
    folder = tmp_path_factory.mktemp("mxnet")
    for path in FOLDER.iterdir():
        if path.suffix in (".rec", ".idx", ".lst"):
            (folder / path.name).write_bytes(path.read_bytes())
    before = os.getcwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


def plain(value):
    return json.loads(json.dumps(value))


def labels(data):
    return [(batch.label[0].asnumpy().tolist(), batch.pad) for batch in data]


@pytest.mark.parametrize("name", programs.EXACT)
def test_batches_equal_mxnet(name) -> None:
    assert plain(programs.exact_iterations(mx, name)) == EXPECTED["exact"][name]


@pytest.mark.parametrize("name", programs.CLOSE)
def test_bicubic_batches_differ_by_at_most_one(name) -> None:
    found = programs.batches_of(mx, count=programs.NUM_IMAGES, **programs.CLOSE[name])
    with np.load(FOLDER / f"{name.replace(' ', '_')}.npz") as stored:
        recorded = stored["arr_0"]
    assert np.abs(found[0][0].astype(int) - recorded.astype(int)).max() <= 1
    assert [label.tolist() for _, label, _ in found] == EXPECTED["close"][name]


@pytest.mark.parametrize("num_parts,expected", EXPECTED["parts"])
def test_parts_equal_mxnet(num_parts, expected) -> None:
    assert programs.parts(mx, num_parts, False) == expected


@pytest.mark.parametrize("num_parts,expected", EXPECTED["parts with index"])
def test_parts_with_index_equal_mxnet(num_parts, expected) -> None:
    assert programs.parts(mx, num_parts, True) == expected


@pytest.mark.parametrize("seed,with_index,batch_size,expected", EXPECTED["shuffled"])
def test_shuffled_order_equals_mxnet(seed, with_index, batch_size, expected) -> None:
    assert plain(programs.shuffled(mx, seed, with_index, batch_size)) == expected


def test_empty_part_is_rejected() -> None:
    options = {**programs.BASE, "path_imgidx": "images.idx", "num_parts": 8, "part_index": 7}
    with pytest.raises(mx.MXNetError, match="no records"):
        mx.io.ImageRecordIter(**options)


def test_each_epoch_starts_with_first_record() -> None:
    data = mx.io.ImageRecordIter(**{**programs.BASE, "preprocess_threads": 1})
    expected = [([0, 1, 2, 3], 0), ([4, 5, 6, 7], 0), ([8, 9, 10, 0], 1)]
    for _ in range(3):
        assert labels(data) == expected
        with pytest.raises(StopIteration):
            data.next()
        data.reset()
    data.next()
    data.reset()
    assert labels(data) == expected


def test_last_batch_without_round_batch_has_zeros_and_pad() -> None:
    data = mx.io.ImageRecordIter(**{**programs.BASE, "round_batch": False, "mean_r": 9.0})
    *_, last = data
    assert last.pad == 1 and last.data[0].shape[0] == 4
    assert not last.data[0].asnumpy()[3].any() and last.label[0].asnumpy().tolist() == [8, 9, 10, 0]
    assert last.index.tolist() == [8, 9, 10, 0]


def test_provide_data_has_names_shapes_and_dtypes() -> None:
    data = mx.io.ImageRecordIter(**programs.BASE, dtype="uint8", data_name="x", label_name="y")
    assert repr(data.provide_data) == "[DataDesc[x,(4, 3, 32, 40),<class 'numpy.uint8'>,NCHW]]"
    assert repr(data.provide_label) == "[DataDesc[y,(4,),<class 'numpy.float32'>,NCHW]]"
    (name, shape), batch = data.provide_data[0], data.next()
    assert (name, shape) == ("x", batch.data[0].shape) and batch.data[0].dtype == np.uint8
    assert str(batch) == "DataBatch: data shapes: [(4, 3, 32, 40)] label shapes: [(4,)]"


def test_iter_next_moves_through_the_same_batches() -> None:
    data, again = (mx.io.ImageRecordIter(**programs.BASE) for _ in range(2))
    while data.iter_next():
        batch = again.next()
        np.testing.assert_array_equal(data.getdata(), batch.data[0])
        np.testing.assert_array_equal(data.getlabel(), batch.label[0])
        assert data.getpad() == batch.pad and (data.getindex() == batch.index).all()


RANDOM = {
    "crops": {"rand_crop": True, "rand_mirror": True, "resize": 44},
    "padded crops": {"rand_crop": True, "pad": 4, "fill_value": 0, "resize": 40},
    "square crops": {"rand_crop": True, "min_crop_size": 20, "max_crop_size": 28},
    "random areas": {"random_resized_crop": True, "min_random_area": 0.2, "max_aspect_ratio": 0.25},
    "colors": {"brightness": 0.3, "contrast": 0.3, "saturation": 0.3, "pca_noise": 0.1},
    "rotated": {"max_rotate_angle": 20, "max_shear_ratio": 0.1, "rand_crop": True},
    "hue": {"random_h": 36, "random_l": 20, "random_s": 20},
    "contrast and illumination": {"max_random_contrast": 0.2, "max_random_illumination": 30.0},
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_batches_depend_on_seed_and_epoch_only(name) -> None:
    def epochs(**options):
        data, batches = mx.io.ImageRecordIter(**{**programs.BASE, **RANDOM[name], **options}), []
        for _ in range(2):
            batches.append(np.concatenate([batch.data[0].asnumpy() for batch in data])[: programs.NUM_IMAGES])
            data.reset()
        return np.stack(batches)

    first = epochs(seed=3)
    np.testing.assert_array_equal(first, epochs(seed=3, batch_size=3, preprocess_threads=3, prefetch_buffer=0))
    assert not np.array_equal(first[0], first[1]) and not np.array_equal(first, epochs(seed=4))


def test_pickled_iterator_restarts_its_epoch() -> None:
    data = mx.io.ImageRecordIter(**programs.BASE, shuffle=True, rand_crop=True)
    data.reset()
    expected = [batch.data[0].asnumpy() for batch in pickle.loads(pickle.dumps(data))]
    np.testing.assert_array_equal([batch.data[0].asnumpy() for batch in data], expected)


def written(path, payloads):
    record = mx.recordio.MXRecordIO(path, "w")
    for payload in payloads:
        record.write(payload)
    record.close()
    return path


def test_broken_image_is_named_after_earlier_batches(recordings) -> None:
    with rm.ShardReader("images.rec") as reader:
        payloads = list(reader)
    payloads[5] = payloads[5][:24] + b"no image"
    written("broken.rec", payloads)
    data = mx.io.ImageRecordIter(**{**programs.BASE, "path_imgrec": "broken.rec"})
    assert data.next().label[0].asnumpy().tolist() == [0, 1, 2, 3]
    with pytest.raises(mx.MXNetError, match="Decoding failed") as caught:
        data.next()
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.shard, error.record) == ("broken.rec", 5) and error.offset > 0
    assert data.next().label[0].asnumpy().tolist() == [8, 9, 10, 0]


def test_damaged_record_is_named(recordings) -> None:
    whole = (recordings / "images.rec").read_bytes()
    (recordings / "cut.rec").write_bytes(whole[:-100])
    with pytest.raises(mx.MXNetError) as caught:
        mx.io.ImageRecordIter(**{**programs.BASE, "path_imgrec": "cut.rec"})
    assert caught.value.shard == "cut.rec" and caught.value.record == 10


def test_short_record_is_named(recordings) -> None:
    written("short.rec", [b"too short"] * 4)
    with pytest.raises(mx.MXNetError, match=r"size >= sizeof\(header\)") as caught:
        mx.io.ImageRecordIter(**{**programs.BASE, "path_imgrec": "short.rec"}).next()
    assert caught.value.record == 0


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forked_iterator_continues_its_epoch() -> None:
    data = mx.io.ImageRecordIter(**programs.BASE)
    data.next()
    process = os.fork()
    if process == 0:
        os._exit(0 if data.next().label[0].asnumpy().tolist() == [4, 5, 6, 7] else 1)
    assert os.waitpid(process, 0)[1] == 0
    assert data.next().label[0].asnumpy().tolist() == [4, 5, 6, 7]

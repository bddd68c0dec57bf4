"""NDArrayIter and PrefetchingIter: rows and padding of MXNet 1.9.1."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import recordmill.compat.mxnet as mx

ROWS, LABELS = np.arange(40).reshape(10, 4), np.arange(10)


def labels_and_pads(batches):
    """Labels and pad of every batch."""
    return [(batch.label[0].asnumpy().astype(int).tolist(), batch.pad) for batch in batches]


@pytest.mark.parametrize(
    "how, epochs",
    [
        ("pad", [[([0, 1, 2, 3], 0), ([4, 5, 6, 7], 0), ([8, 9, 0, 1], 2)]] * 2),
        ("discard", [[([0, 1, 2, 3], 0), ([4, 5, 6, 7], 0)]] * 2),
        (
            "roll_over",
            [
                [([0, 1, 2, 3], 0), ([4, 5, 6, 7], 0)],
                [([8, 9, 0, 1], 2), ([2, 3, 4, 5], 0), ([6, 7, 8, 9], 0)],
                [([0, 1, 2, 3], 0), ([4, 5, 6, 7], 0)],
            ],
        ),
    ],
)
def test_ndarray_iter_applies_last_batch_handle(how, epochs) -> None:
    data = mx.io.NDArrayIter(ROWS, LABELS, batch_size=4, last_batch_handle=how)
    for expected in epochs:
        assert labels_and_pads(data) == expected
        data.reset()


def test_ndarray_iter_hard_reset_drops_leftover_rows() -> None:
    data = mx.io.NDArrayIter(ROWS, LABELS, 4, last_batch_handle="roll_over")
    labels_and_pads(data)
    data.hard_reset()
    assert labels_and_pads(data)[0] == ([0, 1, 2, 3], 0)


def test_ndarray_iter_repeats_rows_to_fill_a_large_batch() -> None:
    assert labels_and_pads(mx.io.NDArrayIter(ROWS[:3], LABELS[:3], 8)) == [([0, 1, 2, 0, 1, 2, 0, 1], 5)]
    assert labels_and_pads(mx.io.NDArrayIter(ROWS[:3], LABELS[:3], 8, last_batch_handle="discard")) == []


def test_ndarray_iter_shuffles_with_numpy_random() -> None:
    np.random.seed(3)  # noqa: NPY002
    data = mx.io.NDArrayIter(ROWS, LABELS, batch_size=5, shuffle=True)
    assert labels_and_pads(data) == [([5, 4, 1, 2, 9], 0), ([6, 7, 0, 3, 8], 0)]
    data.reset()
    assert labels_and_pads(data) == [([1, 2, 4, 9, 3], 0), ([8, 6, 0, 5, 7], 0)]


def test_ndarray_iter_describes_names_and_dtypes() -> None:
    data = mx.io.NDArrayIter({"b": ROWS, "a": mx.nd.array(ROWS, dtype="uint8")}, [LABELS, LABELS], 3)
    assert str(data.provide_data[0]) == "DataDesc[a,(3, 4),<class 'numpy.uint8'>,NCHW]"
    assert [one.name for one in data.provide_label] == ["_0_softmax_label", "_1_softmax_label"]
    assert data.iter_next()
    assert (data.getdata()[1].dtype, data.getpad(), data.cursor, data.num_data) == (np.float32, 0, 0, 10)


@pytest.mark.parametrize(
    "arguments, error, words",
    [
        (("text", LABELS, 3), TypeError, "Input must be an NDArray or numpy.ndarray, .* got str"),
        ((None, LABELS, 3), AssertionError, "at least one array"),
        ((ROWS, LABELS[:5], 2), mx.MXNetError, "data: 10, softmax_label: 5"),
        ((ROWS, LABELS, 3, False, "drop"), ValueError, "roll_over"),
        ((ROWS, LABELS, 0), ValueError, "batch_size"),
    ],
)
def test_ndarray_iter_rejects_invalid_arguments(arguments, error, words) -> None:
    with pytest.raises(error, match=words):
        mx.io.NDArrayIter(*arguments)


def test_prefetching_iter_combines_iterators() -> None:
    parts = [mx.io.NDArrayIter({"a": ROWS}, {"x": LABELS}, 5), mx.io.NDArrayIter({"b": ROWS}, {"y": LABELS}, 5)]
    data = mx.io.PrefetchingIter(parts, rename_data=[{"a": "p"}, {"b": "q"}])
    assert [one.name for one in data.provide_data] == ["p", "q"]
    assert labels_and_pads(data) == [([0, 1, 2, 3, 4], 0), ([5, 6, 7, 8, 9], 0)]
    assert not data.iter_next()
    data.reset()
    data.next()
    data.reset()
    assert [len(batch.data) for batch in data] == [2, 2]


def test_prefetching_iter_rejects_different_lengths() -> None:
    data = mx.io.PrefetchingIter([mx.io.NDArrayIter(ROWS, LABELS, 5), mx.io.NDArrayIter(ROWS[:5], LABELS[:5], 5)])
    with pytest.raises(mx.MXNetError, match="entry mismatches"):
        list(data)


def test_prefetching_iter_stops_its_thread_when_collected() -> None:
    others = set(threading.enumerate())
    data = mx.io.PrefetchingIter(mx.io.NDArrayIter(ROWS, LABELS, 5))
    data.next()
    started = [one for one in threading.enumerate() if one not in others and one.name.startswith("recordmill-mxnet")]
    assert started
    del data
    gc.collect()
    for thread in started:
        thread.join(5)
        assert not thread.is_alive()


def test_data_batch_rejects_arrays_outside_lists() -> None:
    with pytest.raises(AssertionError, match="Data must be list of NDArrays"):
        mx.io.DataBatch(mx.nd.ones((2, 3)))

"""Ragged and sparse tensors: parts, ways to make them, arrays of them, what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf

NESTED = [[[1, 2], [3]], [], [[4]]]


def test_ragged_when_made_of_lists_then_gives_them_back() -> None:
    ragged = tf.ragged.constant(NESTED)
    assert ragged.to_list() == NESTED and ragged.shape == [3, None, None] and ragged.dtype == tf.int32
    assert ragged.row_lengths().numpy().tolist() == [2, 0, 1] and len(ragged) == 3 == int(ragged.nrows())
    assert ragged.row_lengths(axis=2).to_list() == [[2, 1], [], [1]] and ragged.ragged_rank == 2
    assert pickle.loads(pickle.dumps(ragged)).to_list() == NESTED
    assert repr(ragged) == f"<tf.RaggedTensor {NESTED}>"


@pytest.mark.parametrize(
    "make, given",
    [
        (tf.RaggedTensor.from_row_splits, [0, 2, 2, 3]),
        (tf.RaggedTensor.from_row_lengths, [2, 0, 1]),
        (tf.RaggedTensor.from_row_starts, [0, 2, 2]),
        (tf.RaggedTensor.from_row_limits, [2, 2, 3]),
        (tf.RaggedTensor.from_value_rowids, [0, 0, 2]),
    ],
)
def test_ragged_when_rows_are_told_in_any_way_then_is_the_same(make: Any, given: list[int]) -> None:
    ragged = make([b"a", b"b", b"c"], given)
    assert ragged.to_list() == [[b"a", b"b"], [], [b"c"]]
    assert (
        ragged.row_splits.dtype == tf.int64 and make([1, 2, 3], np.array(given, np.int32)).row_splits.dtype == tf.int32
    )


def test_ragged_when_indexed_then_gives_rows_and_parts_of_them() -> None:
    ragged = tf.ragged.constant(NESTED)
    assert ragged[0].to_list() == [[1, 2], [3]] and ragged[-1].to_list() == [[4]]
    assert ragged[0, 1].numpy().tolist() == [3]
    assert ragged[1:].to_list() == [[], [[4]]] and ragged[:, 1:].to_list() == [[[3]], [], []]
    assert tf.ragged.constant([[1, 2, 3], [4], []])[:, -2:].to_list() == [[2, 3], [4], []]
    assert [row.to_list() for row in ragged] == NESTED
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        ragged[3]
    assert ragged[::2].to_list() == [[[1, 2], [3]], [[4]]] and ragged[::-1].to_list() == NESTED[::-1]


def test_ragged_when_it_lies_in_a_list_then_operations_on_arrays_refuse_it() -> None:
    ragged = tf.ragged.constant([[3, 4]], dtype=tf.int64, row_splits_dtype=tf.int32)
    for act in (lambda: tf.constant([ragged]), lambda: tf.convert_to_tensor([ragged, ragged])):
        with pytest.raises(ValueError, match="got a RaggedTensor"):
            act()
    assert tf.ragged.stack([ragged, ragged]).row_splits.dtype == tf.int32
    with pytest.raises(AttributeError, match=r"RaggedTensor\.consumers is not supported"):
        ragged.consumers()
    assert not hasattr(ragged, "indices")


def test_ragged_when_a_tensor_without_columns_is_cut_then_has_empty_rows() -> None:
    assert tf.RaggedTensor.from_tensor(np.zeros((2, 0)), padding=0).to_list() == [[], []]
    assert tf.RaggedTensor.from_tensor([[[1, 0], [0, 0]]], padding=0).to_list() == [[[1, 0]]]


def test_ragged_when_its_rows_leave_out_values_then_is_padded_without_them() -> None:
    for splits, rows in (([0, 1], [[1]]), ([0, 0, 2], [[0, 0], [1, 2]])):
        ragged = tf.RaggedTensor.from_row_splits([1, 2, 3, 4], splits, validate=False)
        assert ragged.to_tensor().numpy().tolist() == rows


@pytest.mark.parametrize(
    "ragged",
    [
        tf.ragged.constant(NESTED),
        tf.ragged.constant([[1, 2], [], [3]]),
        tf.RaggedTensor.from_row_lengths(tf.reshape(tf.range(8), [4, 2]), [1, 0, 3]),
    ],
    ids=["two ragged axes", "one", "one and a dense one"],
)
def test_ragged_when_made_sparse_then_holds_the_same(ragged: Any) -> None:
    sparse = ragged.to_sparse()
    assert tf.sparse.to_dense(sparse).numpy().tolist() == ragged.to_tensor().numpy().tolist()
    assert sparse.dense_shape.numpy().tolist() == ragged.to_tensor().shape.as_list()
    assert [one.numpy().sum() for one in ragged.nested_row_lengths()][-1] == len(ragged.flat_values)


def test_ragged_when_made_of_a_sparse_tensor_then_has_its_rows() -> None:
    ragged = tf.ragged.constant([[1, 2], [], [3]])
    assert tf.RaggedTensor.from_sparse(ragged.to_sparse()).to_list() == ragged.to_list()
    with pytest.raises(tf.errors.InvalidArgumentError, match="not right-ragged"):
        tf.RaggedTensor.from_sparse(tf.sparse.from_dense([[0, 1], [2, 3]]))
    with pytest.raises(ValueError, match="rank"):
        tf.RaggedTensor.from_sparse(tf.ragged.constant(NESTED).to_sparse())
    with pytest.raises(NotImplementedError, match="not supported"):
        ragged[..., :1]


def test_ragged_when_padded_then_is_filled_up_and_cut() -> None:
    ragged = tf.ragged.constant([[1, 2, 3], [], [4]])
    assert ragged.to_tensor().numpy().tolist() == [[1, 2, 3], [0, 0, 0], [4, 0, 0]]
    assert ragged.to_tensor(-1, shape=[None, 2]).numpy().tolist() == [[1, 2], [-1, -1], [4, -1]]
    assert ragged.to_tensor(shape=[4, 1]).numpy().tolist() == [[1], [0], [4], [0]]
    assert tf.ragged.constant([[b"a"], []]).to_tensor().numpy().tolist() == [[b"a"], [b""]]
    pairs = tf.RaggedTensor.from_row_lengths(np.arange(6).reshape(3, 2), [1, 2])
    assert pairs.to_tensor().numpy().tolist() == [[[0, 1], [0, 0]], [[2, 3], [4, 5]]]


def test_ragged_when_compared_then_is_ragged_itself() -> None:
    ragged = tf.ragged.constant([[1, 2], [], [3]])
    assert (ragged == tf.ragged.constant([[1, 5], [], [3]])).to_list() == [[True, False], [], [True]]
    assert (ragged != 2).to_list() == [[True, False], [], [True]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="rows"):
        ragged == tf.ragged.constant([[1], [2], [3]])  # noqa: B015 (it raises)


@pytest.mark.parametrize("splits", [[1, 3], [0, 2, 1, 3], [0, 2], [0, 4]])
def test_rows_that_are_none_when_told_then_are_refused(splits: list[int]) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not form a valid RaggedTensor"):
        tf.RaggedTensor.from_row_splits([1, 2, 3], splits)


def test_sparse_when_made_dense_then_has_defaults_elsewhere() -> None:
    sparse = tf.SparseTensor(indices=[[0, 1], [1, 0]], values=[5, 6], dense_shape=[2, 3])
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[0, 5, 0], [6, 0, 0]]
    assert tf.sparse.to_dense(sparse, default_value=-1).numpy().tolist() == [[-1, 5, -1], [6, -1, -1]]
    assert sparse.shape == [2, 3] and sparse.dtype == tf.int32 and sparse.indices.dtype == tf.int64
    words = sparse.with_values([b"a", b"b"])
    assert tf.sparse.to_dense(words).numpy().tolist() == [[b"", b"a", b""], [b"b", b"", b""]]


@pytest.mark.parametrize(
    "indices, words", [([[0, 3]], "out of bounds"), ([[1, 0], [0, 0]], "out of order"), ([[0, 0], [0, 0]], "repeated")]
)
def test_sparse_when_indices_are_wrong_then_is_refused(indices: list[list[int]], words: str) -> None:
    sparse = tf.SparseTensor(indices, list(range(len(indices))), [2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        tf.sparse.to_dense(sparse)


def test_sparse_when_shapes_do_not_belong_together_then_is_refused() -> None:
    with pytest.raises(ValueError, match="must have the shapes"):
        tf.SparseTensor([[0, 0]], [1, 2], [2, 2])


def test_cast_when_of_sparse_or_ragged_values_then_keeps_the_places() -> None:
    sparse = tf.cast(tf.SparseTensor([[0, 1]], [1.7], [2, 3]), tf.int32)
    assert (sparse.values.numpy().tolist(), sparse.dtype, sparse.dense_shape.numpy().tolist()) == (
        [1],
        tf.int32,
        [2, 3],
    )
    assert tf.cast(tf.ragged.constant([[[1.5], []], []]), tf.int64).to_list() == [[[1], []], []]


@pytest.mark.parametrize("rows", [[[1, 2], [3]], [[1], [2]]])
def test_ragged_when_an_operation_takes_dense_tensors_then_it_is_refused_by_name(rows: list[list[int]]) -> None:
    for operation in (tf.sort, tf.convert_to_tensor, tf.transpose):
        with pytest.raises(ValueError, match="RaggedTensor"):
            operation(tf.ragged.constant(rows))


def test_slices_when_of_a_sparse_tensor_then_are_its_rows() -> None:
    rows = list(tf.data.Dataset.from_tensor_slices(tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [3, 4])))
    assert [row.indices.numpy().tolist() for row in rows] == [[[0]], [[2]], []]
    assert [row.values.numpy().tolist() for row in rows] == [[1], [2], []]
    assert [row.dense_shape.numpy().tolist() for row in rows] == [[4]] * 3

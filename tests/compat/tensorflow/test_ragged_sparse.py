"""Ragged and sparse tensors: creation, indexing, conversion, and unsupported operations."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf

NESTED = [[[1, 2], [3]], [], [[4]]]


def test_ragged_constant_round_trips_lists() -> None:
    ragged = tf.ragged.constant(NESTED)
    assert ragged.to_list() == NESTED and ragged.shape == [3, None, None] and ragged.dtype == tf.int32
    assert ragged.row_lengths().numpy().tolist() == [2, 0, 1] and len(ragged) == 3 == int(ragged.nrows())
    assert ragged.row_lengths(axis=2).to_list() == [[2, 1], [], [1]] and ragged.ragged_rank == 2
    assert pickle.loads(pickle.dumps(ragged)).to_list() == NESTED
    assert repr(ragged) == f"<tf.RaggedTensor {NESTED}>"


@pytest.mark.parametrize(
    "make, partition",
    [
        (tf.RaggedTensor.from_row_splits, [0, 2, 2, 3]),
        (tf.RaggedTensor.from_row_lengths, [2, 0, 1]),
        (tf.RaggedTensor.from_row_starts, [0, 2, 2]),
        (tf.RaggedTensor.from_row_limits, [2, 2, 3]),
        (tf.RaggedTensor.from_value_rowids, [0, 0, 2]),
    ],
)
def test_row_partitions_create_the_same_ragged_tensor(make: Any, partition: list[int]) -> None:
    ragged = make([b"a", b"b", b"c"], partition)
    assert ragged.to_list() == [[b"a", b"b"], [], [b"c"]]
    assert (
        ragged.row_splits.dtype == tf.int64
        and make([1, 2, 3], np.array(partition, np.int32)).row_splits.dtype == tf.int32
    )


def test_ragged_indexing_returns_rows_and_slices() -> None:
    ragged = tf.ragged.constant(NESTED)
    assert ragged[0].to_list() == [[1, 2], [3]] and ragged[-1].to_list() == [[4]]
    assert ragged[0, 1].numpy().tolist() == [3]
    assert ragged[1:].to_list() == [[], [[4]]] and ragged[:, 1:].to_list() == [[[3]], [], []]
    assert tf.ragged.constant([[1, 2, 3], [4], []])[:, -2:].to_list() == [[2, 3], [4], []]
    assert [row.to_list() for row in ragged] == NESTED
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        ragged[3]
    assert ragged[::2].to_list() == [[[1, 2], [3]], [[4]]] and ragged[::-1].to_list() == NESTED[::-1]


def test_array_operations_reject_lists_of_ragged_tensors() -> None:
    ragged = tf.ragged.constant([[3, 4]], dtype=tf.int64, row_splits_dtype=tf.int32)
    for act in (lambda: tf.constant([ragged]), lambda: tf.convert_to_tensor([ragged, ragged])):
        with pytest.raises(ValueError, match="got a RaggedTensor"):
            act()
    assert tf.ragged.stack([ragged, ragged]).row_splits.dtype == tf.int32
    with pytest.raises(AttributeError, match=r"RaggedTensor\.consumers is not supported"):
        ragged.consumers()
    assert not hasattr(ragged, "indices")


def test_from_tensor_removes_padding() -> None:
    assert tf.RaggedTensor.from_tensor(np.zeros((2, 0)), padding=0).to_list() == [[], []]
    assert tf.RaggedTensor.from_tensor([[[1, 0], [0, 0]]], padding=0).to_list() == [[[1, 0]]]


def test_to_tensor_ignores_values_outside_rows() -> None:
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
    ids=["two ragged axes", "one ragged axis", "one ragged and one dense axis"],
)
def test_to_sparse_equals_to_tensor(ragged: Any) -> None:
    sparse = ragged.to_sparse()
    assert tf.sparse.to_dense(sparse).numpy().tolist() == ragged.to_tensor().numpy().tolist()
    assert sparse.dense_shape.numpy().tolist() == ragged.to_tensor().shape.as_list()
    assert [one.numpy().sum() for one in ragged.nested_row_lengths()][-1] == len(ragged.flat_values)


def test_from_sparse_returns_rows_and_rejects_gaps() -> None:
    ragged = tf.ragged.constant([[1, 2], [], [3]])
    assert tf.RaggedTensor.from_sparse(ragged.to_sparse()).to_list() == ragged.to_list()
    with pytest.raises(tf.errors.InvalidArgumentError, match="not right-ragged"):
        tf.RaggedTensor.from_sparse(tf.sparse.from_dense([[0, 1], [2, 3]]))
    with pytest.raises(ValueError, match="rank"):
        tf.RaggedTensor.from_sparse(tf.ragged.constant(NESTED).to_sparse())
    with pytest.raises(NotImplementedError, match="not supported"):
        ragged[..., :1]


def test_to_tensor_pads_and_truncates_rows() -> None:
    ragged = tf.ragged.constant([[1, 2, 3], [], [4]])
    assert ragged.to_tensor().numpy().tolist() == [[1, 2, 3], [0, 0, 0], [4, 0, 0]]
    assert ragged.to_tensor(-1, shape=[None, 2]).numpy().tolist() == [[1, 2], [-1, -1], [4, -1]]
    assert ragged.to_tensor(shape=[4, 1]).numpy().tolist() == [[1], [0], [4], [0]]
    assert tf.ragged.constant([[b"a"], []]).to_tensor().numpy().tolist() == [[b"a"], [b""]]
    pairs = tf.RaggedTensor.from_row_lengths(np.arange(6).reshape(3, 2), [1, 2])
    assert pairs.to_tensor().numpy().tolist() == [[[0, 1], [0, 0]], [[2, 3], [4, 5]]]


def test_ragged_comparison_is_ragged() -> None:
    ragged = tf.ragged.constant([[1, 2], [], [3]])
    assert (ragged == tf.ragged.constant([[1, 5], [], [3]])).to_list() == [[True, False], [], [True]]
    assert (ragged != 2).to_list() == [[True, False], [], [True]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="same row splits"):
        ragged == tf.ragged.constant([[1], [2], [3]])  # noqa: B015


@pytest.mark.parametrize("splits", [[1, 3], [0, 2, 1, 3], [0, 2], [0, 4]])
def test_from_row_splits_rejects_invalid_splits(splits: list[int]) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not form a valid RaggedTensor"):
        tf.RaggedTensor.from_row_splits([1, 2, 3], splits)


def test_to_dense_fills_missing_values_with_default() -> None:
    sparse = tf.SparseTensor(indices=[[0, 1], [1, 0]], values=[5, 6], dense_shape=[2, 3])
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[0, 5, 0], [6, 0, 0]]
    assert tf.sparse.to_dense(sparse, default_value=-1).numpy().tolist() == [[-1, 5, -1], [6, -1, -1]]
    assert sparse.shape == [2, 3] and sparse.dtype == tf.int32 and sparse.indices.dtype == tf.int64
    words = sparse.with_values([b"a", b"b"])
    assert tf.sparse.to_dense(words).numpy().tolist() == [[b"", b"a", b""], [b"b", b"", b""]]


@pytest.mark.parametrize(
    "indices, words", [([[0, 3]], "out of bounds"), ([[1, 0], [0, 0]], "out of order"), ([[0, 0], [0, 0]], "repeated")]
)
def test_to_dense_rejects_invalid_indices(indices: list[list[int]], words: str) -> None:
    sparse = tf.SparseTensor(indices, list(range(len(indices))), [2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        tf.sparse.to_dense(sparse)


def test_sparse_tensor_rejects_inconsistent_shapes() -> None:
    with pytest.raises(ValueError, match="must have the shapes"):
        tf.SparseTensor([[0, 0]], [1, 2], [2, 2])


def test_cast_keeps_structure_of_sparse_and_ragged_tensors() -> None:
    sparse = tf.cast(tf.SparseTensor([[0, 1]], [1.7], [2, 3]), tf.int32)
    assert (sparse.values.numpy().tolist(), sparse.dtype, sparse.dense_shape.numpy().tolist()) == (
        [1],
        tf.int32,
        [2, 3],
    )
    assert tf.cast(tf.ragged.constant([[[1.5], []], []]), tf.int64).to_list() == [[[1], []], []]


@pytest.mark.parametrize("rows", [[[1, 2], [3]], [[1], [2]]])
def test_dense_operations_reject_ragged_tensors(rows: list[list[int]]) -> None:
    for operation in (tf.sort, tf.convert_to_tensor, tf.transpose):
        with pytest.raises(ValueError, match="RaggedTensor"):
            operation(tf.ragged.constant(rows))


def test_sparse_tensor_slices_are_its_rows() -> None:
    rows = list(tf.data.Dataset.from_tensor_slices(tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [3, 4])))
    assert [row.indices.numpy().tolist() for row in rows] == [[[0]], [[2]], []]
    assert [row.values.numpy().tolist() for row in rows] == [[1], [2], []]
    assert [row.dense_shape.numpy().tolist() for row in rows] == [[4]] * 3


@pytest.mark.parametrize("act", [lambda x: x + 1, lambda x: 2 * x, lambda x: x < 1, abs])
def test_sparse_tensor_has_no_arithmetic(act: Any) -> None:
    with pytest.raises(TypeError, match="SparseTensor"):
        act(tf.sparse.from_dense([0, 1]))

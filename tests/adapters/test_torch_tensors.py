"""Tensors share the memory of arrays if possible."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import recordmill as rm
from tests.adapters.conftest import equal
from tests.adapters.squares import FAMILIES, batches

pytestmark = pytest.mark.deep
NUMBERS = ["bool", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_tensor_shares_memory_of_array(dtype: str) -> None:
    array = np.arange(12).reshape(3, 4).astype(dtype)
    tensor = rm.torch.tensors({"a": array})["a"]
    assert tensor.data_ptr() == array.ctypes.data and tuple(tensor.shape) == (3, 4)
    tensor[0, 0] = 1
    assert array[0, 0] == 1 and tensor.numpy().dtype == array.dtype


@pytest.mark.parametrize("family", FAMILIES)
def test_tensors_of_loader_batch_are_not_copied(family: str, squares: Path) -> None:
    with batches(squares, family).loader() as loader:
        for batch in loader:
            tensors = rm.torch.tensors(batch)
            assert {name: tensor.data_ptr() for name, tensor in tensors.items()} == {
                name: array.ctypes.data for name, array in batch.items()
            }


@pytest.mark.parametrize("view", [lambda array: array[::-1], lambda array: array.astype(">i4")])
def test_unshareable_array_is_copied(view) -> None:
    array = view(np.arange(6, dtype=np.int32))
    tensor = rm.torch.tensors(array)
    assert tensor.tolist() == array.tolist() and tensor.data_ptr() != array.ctypes.data


def test_read_only_array_is_copied() -> None:
    array = np.arange(6)
    array.flags.writeable = False
    rm.torch.tensors(array)[0] = 9
    assert array[0] == 0


def test_scalar_becomes_tensor_without_dimensions() -> None:
    tensor = rm.torch.tensors({"label": np.int64(3), "score": np.float32(0.5)})
    assert tensor["label"].shape == () and tensor["label"].item() == 3 and tensor["score"].item() == 0.5


def test_ragged_tensor_shares_memory_and_converts_to_nested_tensor() -> None:
    import torch

    column = rm.Ragged.from_rows([np.arange(2.0), np.arange(0.0), np.arange(3.0)])
    tensor = rm.torch.tensors(column)
    assert tensor.values.data_ptr() == column.data.ctypes.data
    assert tensor.offsets.data_ptr() == column.row_splits.ctypes.data
    nested = torch.nested.nested_tensor_from_jagged(*tensor)
    assert [row.tolist() for row in nested.unbind()] == column.to_list()
    table = torch.ones(4, 2)
    sums = torch.nn.functional.embedding_bag(
        tensor.values.long(), table, tensor.offsets, mode="sum", include_last_offset=True
    )
    assert sums[:, 0].tolist() == [2.0, 0.0, 3.0]
    assert equal(pickle.loads(pickle.dumps(tensor)), tensor)


def test_nested_ragged_becomes_nested_ragged_tensor() -> None:
    column = rm.Ragged(rm.Ragged.from_rows([np.arange(2), np.arange(1)]), np.array([0, 2, 2]))
    tensor = rm.torch.tensors(column)
    assert tensor.offsets.tolist() == [0, 2, 2] and tensor.values.offsets.tolist() == [0, 2, 3]


def test_byte_strings_become_lists_of_bytes() -> None:
    rows = [b"a", b"", b"bc\0"]
    nested = rm.Ragged(rm.Ragged.from_rows(rows), np.array([0, 1, 3]))
    element = {"name": rm.Ragged.from_rows(rows), "words": nested, "text": "x", "one": b"y", "list": rows}
    assert rm.torch.tensors(element) == {
        "name": rows, "words": [[b"a"], [b"", b"bc\0"]], "text": "x", "one": b"y", "list": rows
    }  # fmt: skip


def test_values_of_other_types_are_unchanged() -> None:
    import torch

    tensor, names = torch.ones(2), np.array(["a", "b"])
    found = rm.torch.tensors({"tensor": tensor, "names": names, "pair": (np.ones(1), None)})
    assert found["tensor"] is tensor and found["names"] is names
    assert isinstance(found["pair"], tuple) and found["pair"][0].tolist() == [1.0] and found["pair"][1] is None

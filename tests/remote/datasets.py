"""Small datasets for the tests of remote storage: write them locally, copy them to a bucket, and compare them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from tests.remote.object_store import ACCESS_KEY, SECRET_KEY, S3Bucket

Samples = list[dict[str, Any]]


def create_record(number: int, num_bytes: int = 300, format: str | None = None) -> dict[str, Any]:  # noqa: A002
    """Return a record that differs from all others, also in its size."""
    generator = np.random.default_rng(number)
    data = generator.bytes(num_bytes + number % 7)
    if format == "recordio":
        return {"label": float(number), "id": number, "data": data}
    return {"id": number, "text": data, "scores": generator.random(3, np.float32)}


def write_dataset(
    prefix: Path | str,
    num_records: int = 60,
    shards: int | None = 3,
    num_bytes: int = 300,
    format: str | None = None,  # noqa: A002
    **options: Any,
) -> list[str]:
    """Write a dataset, with manifest and indexes; return the paths of its shards."""
    with rm.ShardWriter(prefix, shards=shards, format=format, **options) as writer:
        for number in range(num_records):
            writer.write(create_record(number, num_bytes, format))
    return writer.paths


def read_folder(folder: Path) -> dict[str, bytes]:
    """Return the content of all files below a folder, by relative path."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def upload_folder(
    s3: S3Bucket, folder: Path, key: str = "", keep: Callable[[str], bool] = lambda name: True
) -> list[str]:
    """Copy the files of a folder to the bucket, below a key; return the keys."""
    keys = []
    for name, data in read_folder(folder).items():
        if keep(name.rpartition("/")[2]):
            keys.append(f"{key.rstrip('/')}/{name}" if key else name)
            s3.put(keys[-1], data)
    return keys


def read_bucket(s3: S3Bucket, key: str = "") -> dict[str, bytes]:
    """Return the content of all objects below a key, by the rest of the key."""
    return {name[len(key) :].lstrip("/"): s3.get(name) for name in s3.list_keys() if name.startswith(key)}


def is_shard(name: str) -> bool:
    """Return True for the name of a shard, False for that of an index, a manifest or a lock."""
    return not name.startswith(".")


def assert_equal_samples(found: Iterable[Mapping[str, Any]], expected: Iterable[Mapping[str, Any]]) -> None:
    """Compare samples or batches bit by bit."""
    found, expected = list(found), list(expected)
    assert len(found) == len(expected)
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        assert one.keys() == other.keys(), number
        for name, value in other.items():
            assert _to_bytes(one[name]) == _to_bytes(value), (number, name)


def assert_equal_datasets(found: rm.Dataset, expected: rm.Dataset) -> None:
    """Compare schema, length, classes and all samples of datasets, read one by one and as a batch."""
    assert len(found) == len(expected)
    assert found.schema == expected.schema
    assert found.classes == expected.classes
    positions = [*range(len(expected))][::-1]
    assert_equal_samples(found, expected)
    assert_equal_samples(map(found.__getitem__, positions[::7]), map(expected.__getitem__, positions[::7]))


def read_ids(elements: Iterable[Mapping[str, Any]]) -> list[list[int]]:
    """Return the ids of the records in each batch."""
    return [np.asarray(element["id"]).ravel().tolist() for element in elements]


def check_error(error: BaseException) -> None:
    """Check that an error survives pickling and contains no credentials."""
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error)
    for text in (str(error), repr(error), repr(copy.__dict__), str(pickle.dumps(error))):
        assert SECRET_KEY not in text and ACCESS_KEY not in text and "Signature=" not in text
    assert error.__cause__ is None and (error.__suppress_context__ or error.__context__ is None)


def _to_bytes(value: Any) -> Any:
    if isinstance(value, rm.Ragged):
        return _to_bytes(value.data), value.row_splits.tolist()
    if isinstance(value, np.ndarray | np.generic):
        return (value.dtype.str, value.shape, value.tobytes() if value.dtype != object else value.tolist())
    return value

"""`RemoteOutputFile` with a storage that keeps uploads in memory."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

from recordmill.errors import RemoteError, WriteError
from recordmill.storage.remote_output import RemoteOutputFile

PART = 8 << 20


class MemoryUploads:
    """Storage whose objects are the values of a dict."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.parts: list[int] = []
        self.error: Exception | None = None

    def upload(self, path: str, chunks: Iterator[bytes | memoryview], part_bytes: int) -> Future[None]:
        def receive() -> None:
            data = b""
            for chunk in chunks:
                self.parts.append(len(chunk))
                data += chunk
                if self.error is not None:
                    raise self.error
            self.objects[path] = data

        pool = ThreadPoolExecutor(1)
        future = pool.submit(receive)
        pool.shutdown(wait=False)
        return future

    def write(self, path: str, data: bytes) -> None:
        self.objects[path] = data

    def rename(self, old: str, new: str, *, overwrite: bool) -> None:
        self.objects[new] = self.objects.pop(old)

    def remove(self, path: str) -> None:
        self.objects.pop(path, None)


def create_output() -> tuple[MemoryUploads, RemoteOutputFile]:
    storage = MemoryUploads()
    return storage, RemoteOutputFile(storage, "s3://bucket/data/train", overwrite=False)


@pytest.mark.parametrize("size", [0, 1, 1000, PART - 1, PART, 2 * PART + 5])
def test_written_bytes_are_the_content_of_the_object(size: int) -> None:
    storage, file = create_output()
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    pieces = np.array_split(data, 5)
    forms = (bytes, bytearray, memoryview, np.array, lambda piece: piece)
    for form, piece in zip(forms, pieces, strict=True):
        file.write(form(piece))
    file.finish()
    assert list(storage.objects.values()) == [data.tobytes()]
    file.commit()
    assert storage.objects == {"s3://bucket/data/train": data.tobytes()}
    assert all(part == PART for part in storage.parts[:-1])


def test_arrays_are_appended_and_not_added() -> None:
    storage, file = create_output()
    for value in (1, 2):
        file.write(np.full(4, value, np.uint8))
    file.finish()
    assert storage.objects[file.temporary] == bytes([1] * 4 + [2] * 4)


@pytest.mark.parametrize("size", [10, 3 * PART])
@pytest.mark.parametrize("is_finished", [False, True])
def test_discarded_file_leaves_no_object(size: int, is_finished: bool) -> None:
    storage, file = create_output()
    file.write(bytes(size))
    if is_finished:
        file.finish()
    file.discard()
    assert storage.objects == {}
    with pytest.raises(ValueError, match="is closed"):
        file.write(b"more")


def test_failed_upload_raises_write_error() -> None:
    storage, file = create_output()
    storage.error = RemoteError("cannot write the object: no", kind="access_denied", shard="s3://bucket/data/train")
    with pytest.raises(WriteError, match="no") as caught:  # noqa: PT012 (the error is raised by one of the writes)
        for _ in range(10):
            file.write(bytes(PART))
        file.finish()
    assert caught.value.kind == "access_denied"
    file.discard()
    assert storage.objects == {}

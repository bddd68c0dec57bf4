"""A job during which one storage operation fails either succeeds or raises a documented error.

After the failure, no incomplete file has a final name. Repeating the job without a fault writes the same bytes.
"""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

import recordmill as rm
from recordmill.formats.registry import get_format
from recordmill.packing.options import ImageOptions, OutputOptions, RecordOptions, RunOptions
from recordmill.packing.pack_files import FilePacker
from recordmill.packing.progress import Progress
from recordmill.packing.salvage import salvage_shards
from recordmill.shards.build_index import index_shards
from recordmill.shards.collection import ShardCollection
from recordmill.shards.dataset_output import ShardOptions
from recordmill.storage.base import Storage
from recordmill.testing.storage import Fault, FaultyStorage, MemoryStorage

# Let every `step`-th operation fail: few in the fast tests, more in the deep tests, all in the campaign.
STEP = pytest.mark.parametrize(
    "step", [23, pytest.param(13, marks=pytest.mark.deep), pytest.param(1, marks=pytest.mark.campaign)]
)
FORMATS = {"tfrecord": None, "tfrecord.gz": "gzip", "recordio": None, "ofrecord": None}
# A short read is completed by the next one, and a read that a signal interrupts is repeated.
HARMLESS = (Fault.SHORT_READ, Fault.EINTR)

Job = Callable[[Storage], Any]


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECORDMILL_CACHE", "/dev/null/cache")


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("photos")
    for number in range(13):
        Image.effect_noise((8 + number, 9), 40).save(folder / f"{number:02}.png")
    return rm.ImageFolder(folder, labels=None).rows()


def options_of(family: str, **options: Any) -> dict[str, Any]:
    return {"format": family.removesuffix(".gz"), "compression": FORMATS[family]} | options


def write(storage: Storage, family: str, run: int = 1, count: int = 12, **options: Any) -> None:
    writer = type("StorageShardWriter", (rm.ShardWriter,), {"_storage": storage})
    with writer("out/train", **options_of(family, shards=2) | options) as shards:
        for number in range(count):
            shards.write({"id": number, "image": b"record %d of run %d" % (number, run)})


def pack(storage: Storage, items: Any, family: str, *, resume: bool = False) -> rm.PackResult:
    outputs = OutputOptions(shards=3, compression=FORMATS[family])
    options = RecordOptions(), ImageOptions(), RunOptions(resume=resume)
    packer = FilePacker(items, "out/train", get_format(family.removesuffix(".gz")), outputs, *options, storage)
    return packer.run(1, Progress(len(items), None))


def salvage(storage: Storage) -> rm.SalvageResult:
    options: dict[str, Any] = {"format": None, "compression": "auto"}
    return salvage_shards(storage, "out/train-*", "rescued/train", None, ShardOptions(), options, "auto")


def index(storage: Storage) -> list[str]:
    options = {"format": None, "compression": "auto"}
    return index_shards(storage, "out/train-*", options, checksums=True, foreign=True, entry_points=False, threads=1)


def read(storage: Storage) -> list[bytes]:
    collection = ShardCollection("out/train-*", storage=storage)
    return [bytes(example["image"]) for example in collection.__getitems__(range(len(collection)))]


def without_lock(files: dict[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if not path.endswith(".lock")}


def final_names(files: dict[str, bytes]) -> set[str]:
    return {path for path in files if not os.path.basename(path).startswith(".")}


def run_with_faults(prepare: Callable[[], MemoryStorage], job: Job, check: Callable[..., None], step: int) -> None:
    """Run a job once per operation and fault. Call `check(storage, error or None, (operation, fault))` after each."""
    recorder = FaultyStorage(prepare())
    job(recorder)
    num_failed = 0
    for number in range(0, len(recorder.operations), step):
        for fault in FAULTS if recorder.operations[number][0] == "read_at" else ERRORS:
            memory = prepare()
            error: BaseException | None = None
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    job(create_faulty_storage(memory, number, fault, recorder.operations[number][0]))
            except (rm.RecordmillError, OSError) as raised:
                error = raised
                num_failed += 1
            check(memory, error, (recorder.operations[number], fault))
            if recorder.operations[number][0] == "read_at" and fault in HARMLESS:
                assert error is None, (recorder.operations[number], fault)
    assert num_failed


def create_faulty_storage(memory: MemoryStorage, number: int, fault: Any, operation: str) -> FaultyStorage:
    if isinstance(fault, Fault):
        return FaultyStorage(memory, number, fault=fault)
    if operation in READING:
        return FaultyStorage(memory, number, lambda path: OSError(fault, os.strerror(fault), path))
    return FaultyStorage(memory, number, lambda path: rm.WriteError(os.strerror(fault), errno=fault, shard=path))


FAULTS = (Fault.EIO, Fault.EMFILE, Fault.EINTR, Fault.SHORT_READ, Fault.EARLY_END)
ERRORS = (errno.EIO, errno.ENOSPC, errno.EMFILE, errno.EINTR)
# Operations that fail with an OSError. The others fail with a WriteError.
READING = ("expand", "stat", "exists", "open", "read", "list_names")


def complete_files(job: Job, prepare: Callable[[], MemoryStorage] = MemoryStorage) -> dict[str, bytes]:
    storage = prepare()
    job(storage)
    return without_lock(storage.files)


@STEP
@pytest.mark.parametrize("family", FORMATS)
@pytest.mark.parametrize("kind", ["write", "overwrite", "pack"])
def test_failed_write_leaves_nothing_incomplete(family: str, kind: str, items: Any, step: int) -> None:
    def prepare() -> MemoryStorage:
        storage = MemoryStorage()
        if kind == "overwrite":
            write(storage, family, run=1, count=9)
        return storage

    def job(storage: Storage) -> None:
        if kind == "pack":
            pack(storage, items, family)
        else:
            write(storage, family, run=2, overwrite=kind == "overwrite")

    old, new = without_lock(prepare().files), complete_files(job, prepare)

    def check(storage: MemoryStorage, error: BaseException | None, place: Any) -> None:
        files = without_lock(storage.files)
        if error is not None and ("out/.train.journal.json" in files or files != new):
            if "out/.train.journal.json" in files:
                assert kind == "overwrite" and "recordmill repair out/train" in str(error), place
            else:
                assert files == old, place
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                job(storage)
        assert without_lock(storage.files) == new, place

    run_with_faults(prepare, job, check, step)


@STEP
@pytest.mark.parametrize("family", FORMATS)
def test_failed_resume_can_be_resumed_again(family: str, items: Any, step: int) -> None:
    expected = complete_files(lambda storage: pack(storage, items, family))

    def prepare() -> MemoryStorage:
        storage = MemoryStorage()
        memory = FaultyStorage(storage)
        pack(memory, items, family)
        last = max(number for number, (name, _) in enumerate(memory.operations) if name == "finish")
        storage = MemoryStorage()
        finished = [number for number, (name, path) in enumerate(memory.operations[:last]) if name == "append"]
        with pytest.raises(OSError, match="stop"):  # after the second shard
            pack(FaultyStorage(storage, finished[1] + 1, lambda path: OSError("stop")), items, family, resume=True)
        return storage

    def job(storage: Storage) -> None:
        pack(storage, items, family, resume=True)

    def check(storage: MemoryStorage, error: BaseException | None, place: Any) -> None:
        if error is not None:
            assert final_names(storage.files) in (set(), final_names(expected)), place
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                job(storage)
        assert {path: storage.files[path] for path in expected} == expected, place

    run_with_faults(prepare, job, check, step)


@STEP
@pytest.mark.parametrize("family", FORMATS)
@pytest.mark.parametrize("kind", ["index", "read", "salvage"])
def test_failed_reader_raises_a_documented_error_and_a_retry_gives_the_same(family: str, kind: str, step: int) -> None:
    def prepare() -> MemoryStorage:
        storage = MemoryStorage()
        write(storage, family, index="auto" if kind == "read" else "never")
        return storage

    job: Job = {"index": index, "read": read, "salvage": salvage}[kind]
    expected, result = complete_files(job, prepare), job(prepare())

    def check(storage: MemoryStorage, error: BaseException | None, place: Any) -> None:
        shards = {path: data for path, data in prepare().files.items() if path.startswith("out/train-")}
        assert {path: storage.files[path] for path in shards} == shards, place
        if error is not None:
            assert final_names(prepare().files) <= final_names(storage.files) <= final_names(expected), place
            assert all(storage.files[path] == expected[path] for path in final_names(storage.files)), place
        retried = job(storage) if kind != "salvage" or error is not None else result
        assert retried == result or kind == "index", place
        assert {path: storage.files[path] for path in final_names(expected)} == {
            path: expected[path] for path in final_names(expected)
        }, place

    run_with_faults(prepare, job, check, step)

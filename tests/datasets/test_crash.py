"""A writer that is killed at any storage operation leaves the old dataset, the new one, or one that can be repaired.

The operations of a small job are counted first. Then the job runs once per operation in a forked process, which kills
itself with SIGKILL instead of performing that operation.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import recordmill as rm
from recordmill.formats.registry import get_format
from recordmill.packing.options import ImageOptions, OutputOptions, RecordOptions, RunOptions
from recordmill.packing.pack_files import FilePacker
from recordmill.packing.progress import Progress
from recordmill.storage.base import Storage
from recordmill.storage.local import LOCAL
from recordmill.testing.storage import FaultyStorage

Job = Callable[[Storage], object]

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL"),
    # Writers warn that they have completed or undone an interrupted write.
    pytest.mark.filterwarnings("ignore:the interrupted write of"),
]
# Kill at every `step`-th operation: few in the fast tests, more in the deep tests, all in the campaign.
STEP = pytest.mark.parametrize(
    "step", [29, pytest.param(19, marks=pytest.mark.deep), pytest.param(1, marks=pytest.mark.campaign)]
)
JOBS: dict[str, dict[str, Any]] = {
    "tfrecord": {"format": "tfrecord", "shards": 3},
    "recordio with index files": {"format": "recordio", "shards": 2},
    "ofrecord, rolling": {"format": "ofrecord", "max_shard_bytes": 200},
    "gzip": {"format": "tfrecord", "shards": 2, "compression": "gzip"},
}


def write_dataset(storage: Storage, run: int, count: int, **options: Any) -> None:
    writer = type("StorageShardWriter", (rm.ShardWriter,), {"_storage": storage})
    with writer("out/train", **options) as shards:
        for number in range(count):
            shards.write({"id": number, "image": b"record %d of run %d" % (number, run)})


def run_and_kill(job: Job, fail_at: int) -> None:
    """Run a job in a forked process that is killed instead of performing an operation."""

    def kill(path: str) -> BaseException:
        os.kill(os.getpid(), signal.SIGKILL)
        return AssertionError(path)

    pid = os.fork()
    if pid == 0:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                job(FaultyStorage(LOCAL, fail_at, kill))
        finally:
            os._exit(3)
    _, status = os.waitpid(pid, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, f"operation {fail_at} was not reached"


def read_files(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def read_records(folder: str) -> list[bytes]:
    return sorted(bytes(example["image"]) for example in rm.open(folder))


def check_interrupted_and_repair() -> None:
    for source in ("out", "out/train", "out/train-*"):
        with pytest.raises(rm.IncompleteDatasetError, match="recordmill repair out/train") as caught:
            rm.open(source)
        assert caught.value.kind == "interrupted_commit"
    assert rm.verify("out").faults[0].kind == "interrupted_commit" and not rm.info("out").complete
    assert rm.repair("out").completed == ["out/train"]


def count_operations(job: Job) -> int:
    recorder = FaultyStorage(LOCAL)
    job(recorder)
    return len(recorder.operations)


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@STEP
@pytest.mark.parametrize("options", JOBS.values(), ids=JOBS.keys())
def test_killed_overwrite_leaves_old_or_new_dataset_or_is_repaired(options: dict[str, Any], step: int) -> None:
    write_dataset(LOCAL, 1, 9, **options)
    shutil.copytree("out", "old")
    old_records = read_records("out")

    def overwrite(storage: Storage) -> None:
        write_dataset(storage, 2, 7, overwrite=True, **options)

    num_operations = count_operations(overwrite)
    new_files, new_records = read_files("out"), read_records("out")
    outcomes = {"old": 0, "new": 0, "repaired": 0}
    for fail_at in range(0, num_operations, step):
        shutil.rmtree("out")
        shutil.copytree("old", "out")
        run_and_kill(overwrite, fail_at)
        try:
            outcome = "old" if read_records("out") == old_records else "new"
        except rm.IncompleteDatasetError:
            check_interrupted_and_repair()
            outcome = "repaired"
        if outcome != "old":
            assert read_records("out") == new_records
        outcomes[outcome] += 1
        assert rm.verify("out").ok and rm.info("out").complete
        overwrite(LOCAL)
        assert read_files("out") == new_files, fail_at
    assert step > 1 or all(outcomes.values()), outcomes


@STEP
@pytest.mark.parametrize("options", JOBS.values(), ids=JOBS.keys())
def test_killed_writer_of_a_new_dataset_leaves_nothing_or_is_repaired(options: dict[str, Any], step: int) -> None:
    def write(storage: Storage) -> None:
        write_dataset(storage, 1, 9, **options)

    num_operations = count_operations(write)
    files, records = read_files("out"), read_records("out")
    for fail_at in range(0, num_operations, step):
        shutil.rmtree("out")
        run_and_kill(write, fail_at)
        try:
            found = read_records("out")
        except FileNotFoundError:
            found = []
        except rm.IncompleteDatasetError:
            check_interrupted_and_repair()
            found = read_records("out")
        assert found in ([], records), fail_at
        if found == []:
            write(LOCAL)
        assert {name: data for name, data in read_files("out").items() if not name.endswith(".lock")} == files, fail_at


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Return a folder of images, one of which is not an image."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(23):
        Image.effect_noise((8 + number, 9), 40).save(folder / f"{number:02}.png")
    (folder / "05.png").write_bytes(b"no image")
    return folder


PACKS: dict[str, OutputOptions] = {
    "tfrecord": OutputOptions(shards=4),
    "rolling": OutputOptions(max_shard_bytes=1500),
    "gzip": OutputOptions(shards=3, compression="gzip"),
    "overwrite": OutputOptions(shards=3, overwrite=True),
}


@STEP
@pytest.mark.parametrize("outputs", PACKS.values(), ids=PACKS.keys())
@pytest.mark.parametrize("family", ["tfrecord", "recordio"])
def test_killed_pack_is_resumed_with_the_bytes_of_an_undisturbed_run(
    photos: Path, family: str, outputs: OutputOptions, step: int
) -> None:
    if outputs.compression and family != "tfrecord":
        pytest.skip("only TFRecord files are compressed")
    items = rm.ImageFolder(photos, labels=None).rows()

    def pack(storage: Storage, *, resume: bool = False, seed: int | None = 3) -> rm.PackResult:
        options = RecordOptions(), ImageOptions(), RunOptions(on_error="skip", resume=resume)
        packer = FilePacker(items, "out/train", get_format(family), outputs, *options, storage)
        return packer.run(seed, Progress(len(items), None))

    if outputs.overwrite:
        pack(LOCAL, seed=4)
        shutil.copytree("out", "old")
    num_operations = count_operations(pack)
    files, skipped = read_files("out"), [str(photos / "05.png")]
    for fail_at in range(0, num_operations, step):
        shutil.rmtree("out")
        if outputs.overwrite:
            shutil.copytree("old", "out")
        run_and_kill(pack, fail_at)
        recorder = FaultyStorage(LOCAL)
        result = pack(recorder, resume=True)
        assert read_files("out") == files, fail_at
        assert [path for path, _ in result.skipped] in (skipped, [])
        assert result.num_records == 22 and [os.path.basename(path) for path in result.paths] == sorted(
            name for name in files if name.startswith("train-") and not name.endswith(".idx")
        )

"""`rm.ray` on a real cluster of two nodes with one CPU each: equal bytes, reading, and the death of processes."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from tests.packing.helpers import read_files, smooth_jpeg, visible_names

pytestmark = [
    pytest.mark.deep,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SOURCE = Path(rm.__file__).parents[1]
ENVIRONMENT = {
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "PYTHONPATH": str(SOURCE),
}
# A node that dies is noticed within seconds.
HEALTH = {"health_check_period_ms": 500, "health_check_failure_threshold": 4, "health_check_initial_delay_ms": 500}
NODE = {"num_cpus": 1, "object_store_memory": 100 << 20}
NUM_IMAGES = 24
# Each part takes about 50 ms.
SLOW: dict[str, Any] = {"shards": 24, "encode": "png", "resize": 800}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start a cluster, and check that none of its processes remain."""
    folder = tempfile.mkdtemp(prefix="rm-ray-")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        import ray
        from ray.cluster_utils import Cluster

        head = {**NODE, "include_dashboard": False, "temp_dir": folder, "_system_config": HEALTH}
        threads = set(threading.enumerate())
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        started = Cluster(initialize_head=True, head_node_args=head)
        try:
            started.add_node(**NODE)
            ray.init(address=started.address, log_to_driver=False, logging_level="error")
            started.wait_for_nodes()
            yield started
        finally:
            ray.shutdown()
            started.shutdown()
            for number, handler in handlers.items():  # Ray replaces them.
                signal.signal(number, handler)
    assert wait_until(lambda: not find_processes(folder)), find_processes(folder)
    assert wait_until(lambda: not list_threads(threads)), list_threads(threads)
    shutil.rmtree(folder, ignore_errors=True)


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.1)
    return condition()


def find_processes(text: str) -> list[str]:
    """Return the ids of the processes whose command line or environment has a text."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            content = (path / "cmdline").read_bytes() + (path / "environ").read_bytes()
            if text.encode() in content and path.name != str(os.getpid()):
                found.append(path.name)
    return found


def list_threads(before: set[threading.Thread]) -> list[str]:
    """Return the names of new threads that would keep the process alive."""
    return [thread.name for thread in threading.enumerate() if thread not in before and not thread.daemon]


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of two classes of images."""
    folder = tmp_path_factory.mktemp("ray") / "photos"
    for number in range(NUM_IMAGES):
        path = folder / ("cat" if number % 2 else "dog") / f"{number:02}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(smooth_jpeg(number, 40 + number, 40))
    return folder


@pytest.fixture(scope="module")
def packed(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a dataset of three shards."""
    folder = tmp_path_factory.mktemp("packed")
    rm.pack(rm.ImageFolder(photos), folder / "train", shards=3)
    return folder


@pytest.mark.parametrize(
    "options",
    [
        {"format": "tfrecord", "encode": "jpeg", "shuffle": 3},
        {"format": "recordio"},
        {"format": "ofrecord", "encode": "png"},
        {"shards": None, "max_shard_bytes": 9000},
    ],
    ids=str,
)
def test_pack_gives_the_files_of_one_process(cluster: Any, photos: Path, tmp_path: Path, options: Any) -> None:
    options = {"shards": 6} | options
    expected = rm.pack(rm.ImageFolder(photos), tmp_path / "expected" / "train", **options)
    counts: list[Any] = []
    result = rm.ray.pack(
        rm.ImageFolder(photos), tmp_path / "out" / "train", progress=lambda *count: counts.append(count), **options
    )
    assert read_files(tmp_path / "out") == read_files(tmp_path / "expected")
    assert (result.num_records, result.num_bytes) == (expected.num_records, expected.num_bytes)
    assert counts[-1] == (NUM_IMAGES, NUM_IMAGES)


@pytest.fixture
def memory_path(tmp_path: Path) -> Iterator[Path]:
    """Return a folder in memory if there is such a file system, because syncing 4,000 files to a disk takes long."""
    folder = tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else tmp_path)
    yield Path(folder)
    shutil.rmtree(folder)


def test_pack_of_two_thousand_parts_gives_the_files_of_one_process(cluster: Any, memory_path: Path) -> None:
    for number in range(2000):
        path = memory_path / "photos" / "all" / f"{number:04}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(smooth_jpeg(number % 9, 8, 8) + bytes(number % 50))
    rm.pack(rm.ImageFolder(memory_path / "photos"), memory_path / "expected" / "train", shards=2000, workers=2)
    rm.ray.pack(rm.ImageFolder(memory_path / "photos"), memory_path / "out" / "train", shards=2000)
    assert read_files(memory_path / "out") == read_files(memory_path / "expected")


def kill_one_worker() -> bool:
    """Kill a worker that runs a task, as the out-of-memory killer of the kernel does; return False if there is none."""
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (path / "cmdline").read_bytes().startswith(b"ray::_call"):
                os.kill(int(path.name), signal.SIGKILL)
                return True
    return False


def test_part_of_killed_worker_is_packed_again(cluster: Any, photos: Path, tmp_path: Path) -> None:
    rm.pack(rm.ImageFolder(photos), tmp_path / "expected" / "train", **SLOW)
    killed = []

    def kill(num_images: int, total: int | None) -> None:
        if len(killed) < 2 and kill_one_worker():
            killed.append(num_images)

    rm.ray.pack(rm.ImageFolder(photos), tmp_path / "out" / "train", progress=kill, **SLOW)
    assert len(killed) == 2
    assert read_files(tmp_path / "out") == read_files(tmp_path / "expected")


def test_part_whose_worker_is_always_killed_raises(cluster: Any, photos: Path, tmp_path: Path) -> None:
    stop = threading.Event()

    def kill() -> None:
        while not stop.wait(0.05):
            kill_one_worker()

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        with pytest.raises(rm.PlanError, match="died in each of 2 attempts") as caught:
            rm.ray.pack(photos, tmp_path / "out" / "train", max_retries=1, encode="png", resize=4000)
    finally:
        stop.set()
        thread.join()
    assert (caught.value.kind, caught.value.part) == ("worker_died", 0)
    assert visible_names(tmp_path / "out") == []


def test_pack_survives_a_node_that_is_killed(cluster: Any, photos: Path, tmp_path: Path) -> None:
    rm.pack(rm.ImageFolder(photos), tmp_path / "expected" / "train", **SLOW)
    nodes = [cluster.add_node(**NODE)]
    cluster.wait_for_nodes()

    def kill(num_images: int, total: int | None) -> None:
        if nodes and num_images >= 6:
            cluster.remove_node(nodes.pop(), allow_graceful=False)

    rm.ray.pack(rm.ImageFolder(photos), tmp_path / "out" / "train", progress=kill, **SLOW)
    assert nodes == []
    assert read_files(tmp_path / "out") == read_files(tmp_path / "expected")


def test_workers_out_of_memory_raise_a_named_error(
    cluster: Any, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The memory monitor of this node finds that too much memory is in use, and kills every task.
    monkeypatch.setenv("RAY_memory_usage_threshold", "0.001")
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "50")
    node = cluster.add_node(**NODE | {"num_cpus": 2})
    cluster.wait_for_nodes()
    try:
        with pytest.raises(rm.PlanError, match="in each of 2 attempts") as caught:
            rm.ray.pack(photos, tmp_path / "out" / "train", num_cpus=2, max_retries=1, encode="png", resize=3000)
    finally:
        cluster.remove_node(node)
    error = caught.value
    assert (error.kind, error.part) == ("out_of_memory", 0)
    assert isinstance(error.cause, rm.WorkerError) and "memory=" in str(error)
    assert visible_names(tmp_path / "out") == []


def test_bad_image_raises_an_error_with_part_file_and_cause(cluster: Any, photos: Path, tmp_path: Path) -> None:
    shutil.copytree(photos, tmp_path / "photos")
    bad = tmp_path / "photos" / "cat" / "11.jpg"
    bad.write_text("not an image")
    with pytest.raises(rm.PlanError, match="not an image") as caught:
        rm.ray.pack(tmp_path / "photos", tmp_path / "out" / "train", shards=6)
    error = caught.value
    assert (error.part, error.shard, error.kind) == (1, str(bad), "bad_image")
    assert isinstance(error.cause, rm.ImageError) and "part 1 of 6 cannot be packed on" in str(error)
    assert visible_names(tmp_path / "out") == []
    options: dict[str, Any] = {"shards": 6, "on_error": "skip"}
    expected = rm.pack(tmp_path / "photos", tmp_path / "expected" / "train", **options)
    assert rm.ray.pack(tmp_path / "photos", tmp_path / "out" / "train", **options).skipped == expected.skipped
    assert read_files(tmp_path / "out") == read_files(tmp_path / "expected")


def test_driver_of_another_version_raises(
    cluster: Any, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rm, "__version__", "0.0.9")
    with pytest.raises(rm.PlanError, match="version of recordmill") as caught:
        rm.ray.pack(photos, tmp_path / "out" / "train")
    assert (caught.value.kind, caught.value.part, caught.value.expected) == ("different_version", 0, "0.0.9")
    assert visible_names(tmp_path / "out") == []


def test_destination_that_another_program_occupies_is_kept(cluster: Any, photos: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    occupied = tmp_path / "out" / "train-00001-of-00002.tfrecord"

    def occupy(num_images: int, total: int | None) -> None:
        if num_images == NUM_IMAGES:
            occupied.write_bytes(b"of another program")

    with pytest.raises(rm.OutputExistsError):
        rm.ray.pack(photos, tmp_path / "out" / "train", shards=2, progress=occupy)
    assert visible_names(tmp_path / "out") == [occupied.name]
    occupied.unlink()
    assert rm.ray.pack(photos, tmp_path / "out" / "train", shards=2, resume=True).num_records == NUM_IMAGES


DRIVER = """
import os, ray, recordmill as rm
def stop(num_images, total):
    if num_images >= 8:
        os.kill(os.getpid(), 9)
if __name__ == "__main__":
    ray.init(address={address!r}, log_to_driver=False, logging_level="error")
    rm.ray.pack(rm.ImageFolder({photos!r}), {out!r}, progress=stop, **{options!r})
"""


def test_killed_driver_is_resumed(cluster: Any, photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out" / "train"
    rm.pack(rm.ImageFolder(photos), tmp_path / "expected" / "train", **SLOW)
    driver = DRIVER.format(address=cluster.address, photos=str(photos), out=str(out), options=SLOW)
    assert subprocess.run([sys.executable, "-c", driver], check=False).returncode == -signal.SIGKILL
    assert visible_names(out.parent) == []
    kept = {path.stat().st_ino for path in out.parent.glob(".train-*.tfrecord.tmp-*")}
    assert len(kept) >= 8
    rm.ray.pack(rm.ImageFolder(photos), out, resume=True, **SLOW)
    assert len({path.stat().st_ino for path in out.parent.glob("train-*")} & kept) >= 8
    assert read_files(out.parent) == read_files(tmp_path / "expected")


@pytest.mark.parametrize(
    "options",
    [
        {"format": "ofrecord", "shards": 2, "cast": {"label": "int32"}, "shuffle": 1},
        {"encode": "png", "resize": 20, "shards": 4},
        {"where": "label == 1", "max_shard_bytes": 4000},
    ],
    ids=str,
)
def test_convert_gives_the_files_of_one_process(cluster: Any, packed: Path, tmp_path: Path, options: Any) -> None:
    expected = rm.convert(packed, tmp_path / "expected" / "train", **options)
    result = rm.ray.convert(packed, tmp_path / "out" / "train", **options)
    assert read_files(tmp_path / "out") == read_files(tmp_path / "expected")
    assert (result.num_records, result.num_bytes) == (expected.num_records, expected.num_bytes)


def test_convert_of_damaged_record_raises_the_error_of_convert(cluster: Any, packed: Path, tmp_path: Path) -> None:
    shutil.copytree(packed, tmp_path / "damaged")
    flip_byte(tmp_path / "damaged" / "train-00001-of-00003.tfrecord")
    errors = []
    for convert in (rm.convert, rm.ray.convert):
        with pytest.raises(rm.ChecksumError) as caught:
            convert(
                tmp_path / "damaged", tmp_path / "out" / "train", format="recordio", payload="raw", select=["image"]
            )
        errors.append((caught.value.shard, caught.value.record, caught.value.offset))
    assert errors[0] == errors[1]
    assert "in a Ray task" in caught.value.__notes__[0]
    assert visible_names(tmp_path / "out") == []


def flip_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_verify_gives_the_report_of_one_process(cluster: Any, packed: Path, tmp_path: Path) -> None:
    assert rm.ray.verify(packed, decode=True) == rm.verify(packed, decode=True)
    shutil.copytree(packed, tmp_path / "damaged")
    flip_byte(tmp_path / "damaged" / "train-00001-of-00003.tfrecord")
    (tmp_path / "damaged" / "train-00002-of-00003.tfrecord").unlink()
    shutil.copy(packed / "train-00001-of-00003.tfrecord", tmp_path / "damaged" / "train-00000-of-00003.tfrecord")
    report = rm.ray.verify(tmp_path / "damaged")
    assert report == rm.verify(tmp_path / "damaged")
    assert {"missing_shard", "replaced_shard"} <= {fault.kind for fault in report.faults}


@pytest.fixture
def in_order(cluster: Any) -> Iterator[None]:
    """Let Ray Data return rows in order, not as soon as they are read."""
    import ray.data

    options = ray.data.DataContext.get_current().execution_options
    options.preserve_order = True
    yield
    options.preserve_order = False


@pytest.mark.usefixtures("in_order")
def test_read_knows_rows_and_divides_shards(cluster: Any, packed: Path) -> None:
    dataset = rm.ray.read(packed, columns=["label"], parallelism=8)
    assert dataset.count() == NUM_IMAGES
    assert dataset.size_bytes() > 0
    blocks = dataset.materialize()
    assert blocks.num_blocks() == 8
    expected = rm.open(packed).to_numpy()["label"].tolist()
    assert [row["label"] for row in blocks.take_all()] == expected


@pytest.mark.usefixtures("in_order")
def test_read_of_decoded_images_gives_tensors(cluster: Any, packed: Path) -> None:
    spec = rm.Image(crop=rm.CenterCrop(32))
    expected = rm.open(packed).decode(image=spec).to_numpy()
    dataset = rm.ray.read(packed, decode={"image": spec}, parallelism=2)
    means = dataset.map_batches(lambda batch: {"mean": batch["image"].reshape(len(batch["label"]), -1).mean(1)})
    assert np.allclose([row["mean"] for row in means.take_all()], expected["image"].reshape(NUM_IMAGES, -1).mean(1))
    batches = list(dataset.iter_torch_batches(batch_size=10))
    assert [tuple(batch["image"].shape) for batch in batches] == [(10, 3, 32, 32), (10, 3, 32, 32), (4, 3, 32, 32)]
    assert np.array_equal(np.concatenate([batch["image"].numpy() for batch in batches]), expected["image"])


@pytest.mark.usefixtures("in_order")
def test_read_of_images_of_different_sizes_gives_tensors_of_variable_shape(cluster: Any, packed: Path) -> None:
    rows = rm.ray.read(packed, decode={"image": rm.Image(stack=False)}, parallelism=3).take_all()
    expected = list(rm.open(packed).decode(image=rm.Image(stack=False)))
    assert all(np.array_equal(row["image"], sample["image"]) for row, sample in zip(rows, expected, strict=True))


@pytest.mark.usefixtures("in_order")
def test_read_of_raw_payloads_gives_the_bytes_of_records(cluster: Any, packed: Path) -> None:
    rows = rm.ray.read(packed, payload="raw").take_all()
    with rm.ShardReader(packed / "train-00000-of-00003.tfrecord") as reader:
        assert [row["payload"] for row in rows[: len(reader)]] == list(reader)


def test_read_of_damaged_record_names_the_shard(cluster: Any, packed: Path, tmp_path: Path) -> None:
    shutil.copytree(packed, tmp_path / "damaged")
    flip_byte(tmp_path / "damaged" / "train-00001-of-00003.tfrecord")
    dataset = rm.ray.read(tmp_path / "damaged")
    with pytest.raises(Exception, match=r"train-00001-of-00003\.tfrecord'?, record"):
        dataset.take_all()


def test_training_workers_divide_the_rows(cluster: Any, packed: Path, tmp_path: Path) -> None:
    from ray import train
    from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

    out = str(tmp_path)

    def loop() -> None:
        shard = train.get_dataset_shard("train")
        labels = [int(label) for batch in shard.iter_batches(batch_size=5) for label in batch["label"]]
        rank = train.get_context().get_world_rank()
        Path(out, f"rank-{rank}.txt").write_text(" ".join(map(str, labels)))

    trainer = DataParallelTrainer(
        loop,
        datasets={"train": rm.ray.read(packed, columns=["label"], parallelism=4)},
        scaling_config=train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 0.5}),
        run_config=train.RunConfig(storage_path=out),
    )
    trainer.fit()
    ranks = [(tmp_path / f"rank-{rank}.txt").read_text().split() for rank in range(2)]
    assert all(ranks) and sorted(ranks[0] + ranks[1]) == ["0"] * 12 + ["1"] * 12


def test_options_that_do_not_exist_raise(cluster: Any, packed: Path, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="did you mean 'shards'"):
        rm.ray.pack(packed, tmp_path / "out", shard=2)
    with pytest.raises(TypeError, match="did you mean 'shards'"):
        rm.ray.convert(packed, tmp_path / "out", shard=2)
    with pytest.raises(TypeError, match="replace local workers"):
        rm.ray.convert(packed, tmp_path / "out", workers=2)
    with pytest.raises(rm.FeatureError, match="no feature 'labels'"):
        rm.ray.read(packed, columns=["labels"])
    with pytest.raises(ValueError, match="parallelism must be"):
        rm.ray.read(packed, parallelism=0)
    with pytest.raises(ValueError, match="max_retries must be"):
        rm.ray.verify(packed, max_retries=-1)

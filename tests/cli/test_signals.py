"""SIGTERM and SIGHUP end a command as Ctrl-C does: without incomplete files and without worker processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from recordmill.cli.main import main

COMMAND = [str(Path(sys.executable).with_name("recordmill"))]
SIGNALS = [signal.SIGTERM, signal.SIGHUP]
WORKERS = [[], ["--workers", "2"], ["--workers", "2", "--worker-kind", "processes"]]


@pytest.fixture
def slow_photos(tmp_path: Path) -> Path:
    """Two hundred links to one image that takes a tenth of a second to encode as WebP."""
    folder = tmp_path / "photos" / "noise"
    folder.mkdir(parents=True)
    pixels = np.random.default_rng(0).integers(0, 256, (700, 700, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "0.jpg", quality=95)
    for number in range(1, 200):
        (folder / f"{number}.jpg").hardlink_to(folder / "0.jpg")
    return folder.parent


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_until(is_true: Callable[[], bool]) -> None:
    """Wait for a condition; the time limit of the test ends the wait."""
    while not is_true():
        time.sleep(0.005)


def has_group(process: subprocess.Popen[str]) -> bool:
    """Return whether the session of a process still has processes."""
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def has_written(folder: Path) -> bool:
    """Return whether a temporary file of a shard has content. Those of the lock and of the journal soon vanish."""
    with contextlib.suppress(FileNotFoundError):
        return any(path.stat().st_size for path in folder.glob(".*tmp-*") if ".lock.tmp-" not in path.name)
    return False


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("workers", WORKERS, ids=["one", "threads", "processes"])
def test_pack_removes_its_files_and_processes_on_signal(
    slow_photos: Path, tmp_path: Path, number: signal.Signals, workers: list[str]
) -> None:
    out = tmp_path / "out"
    with start("pack", slow_photos, out / "train", "--encode", "webp", "--shards", "2", *workers) as process:
        wait_until(lambda: has_written(out))
        process.send_signal(number)
        output, error = process.communicate()
    assert (process.returncode, output, error) == (128 + number, "", f"terminated by {number.name}\n")
    assert list(out.iterdir()) == []
    wait_until(lambda: not has_group(process))


@pytest.mark.deep
@pytest.mark.parametrize("workers", WORKERS, ids=["one", "threads", "processes"])
def test_pack_removes_its_files_when_signals_reach_all_processes_twice(
    slow_photos: Path, tmp_path: Path, workers: list[str]
) -> None:
    out = tmp_path / "out"
    with start("pack", slow_photos, out / "train", "--encode", "webp", *workers) as process:
        wait_until(lambda: has_written(out))
        os.killpg(process.pid, signal.SIGHUP)
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate()
    assert process.returncode in (129, 143) and list(out.iterdir()) == []
    wait_until(lambda: not has_group(process))


@pytest.mark.deep
@pytest.mark.parametrize("number", SIGNALS)
def test_pack_keeps_existing_shards_on_signal(slow_photos: Path, tmp_path: Path, number: signal.Signals) -> None:
    rm.pack([{"id": 1}], tmp_path / "out" / "train.tfrecord")
    before = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    arguments = ("pack", slow_photos, tmp_path / "out" / "train.tfrecord", "--encode", "webp", "--overwrite")
    with start(*arguments) as process:
        wait_until(lambda: has_written(tmp_path / "out"))
        process.send_signal(number)
        process.communicate()
    assert process.returncode == 128 + number
    assert {path: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


@pytest.mark.parametrize("number", SIGNALS)
def test_index_removes_its_files_on_signal(tmp_path: Path, number: signal.Signals) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (1200, 1200), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "noise.jpg", quality=95)
    image = (tmp_path / "noise.jpg").read_bytes()
    folder = tmp_path / "shards"
    rm.pack([{"image": image}] * (128 << 20 // len(image)), folder / "train.tfrecord", index="never")
    with start("index", "--entry-points", folder) as process:
        wait_until(lambda: any(folder.glob(".*.rme.tmp-*")))
        process.send_signal(number)
        process.communicate()
    assert process.returncode == 128 + number
    assert sorted(path.name for path in folder.iterdir()) == [
        ".train.tfrecord.manifest.json",
        ".train.tfrecord.rmx",
        "train.tfrecord",
    ]
    assert rm.verify(folder).ok


def test_nohup_command_ignores_hangup(tmp_path: Path) -> None:
    fifo = tmp_path / "names.txt"
    os.mkfifo(fifo)
    (tmp_path / "0.jpg").write_bytes(b"\xff\xd8\xff" + bytes(20))
    command = ["nohup", *COMMAND, "pack", fifo, tmp_path / "out", "--source", "labels", "--root", tmp_path]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        with fifo.open("w") as file:  # opens once the command waits for the label file
            process.send_signal(signal.SIGHUP)
            file.write('{"0.jpg": 1}\n')
        process.communicate()
    assert process.returncode == 0 and len(rm.open(tmp_path / "out-00000-of-00001.tfrecord")) == 1


def test_main_restores_handlers_of_host_process(tmp_path: Path) -> None:
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        handlers = [signal.getsignal(number) for number in SIGNALS]
        assert main(["info", str(tmp_path / "missing")]) == 2
        assert [signal.getsignal(number) for number in SIGNALS] == handlers
    finally:
        signal.signal(signal.SIGTERM, before)


def test_main_runs_in_other_threads(tmp_path: Path) -> None:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(main(["info", str(tmp_path / "missing")])))
    thread.start()
    thread.join()
    assert codes == [2]

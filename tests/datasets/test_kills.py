"""Commands killed at random moments leave no incomplete file with a final name, and a retry writes the same bytes.

`test_crash.py` kills at each storage operation. This module kills seven real commands after random times: 21 kills in
the deep tests and 301 in the campaign.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import recordmill as rm

NUM_IMAGES = 300
PACK = ("pack", "photos", "out/train", "--quiet", "--shards", "5", "--encode", "png", "--exif")
NUM_KILLS = pytest.mark.parametrize(
    "num_kills", [pytest.param(3, marks=pytest.mark.deep), pytest.param(43, marks=pytest.mark.campaign)]
)

Check = Callable[[], object]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with photos, shards without indexes, an old dataset, and a damaged dataset."""
    folder = tmp_path_factory.mktemp("sources")
    generator = np.random.default_rng(0)
    for number in range(NUM_IMAGES):
        path = folder / "photos" / f"class{number % 3}" / f"{number:03}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(generator.integers(0, 255, (40, 40 + number % 7), np.uint8)).save(path)
    for name in ("bare", "damaged"):
        rm.pack(rm.ImageFolder(folder / "photos"), folder / name / "part", format="ofrecord", shards=6)
    for path in (folder / "bare").glob(".*.rmx"):
        path.unlink()
    for path in (folder / "damaged").glob("part-*"):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 16
        path.write_bytes(data)
    rm.pack(rm.ImageFolder(folder / "photos", labels=None), folder / "old" / "train", shards=4)
    return folder


def read_files(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def start(command: tuple[str, ...]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "recordmill", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def run(*command: str) -> None:
    with start(command) as process:
        _, errors = process.communicate(timeout=120)
    assert process.returncode in (0, 1), errors.decode()


def kill_after(command: tuple[str, ...], seconds: float) -> None:
    with start(command) as process:
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)


def check_folder(allowed: list[dict[str, bytes]]) -> None:
    """Check that `out` has one of the allowed contents. If its commit was interrupted, repair it first."""
    if not os.path.isdir("out"):
        return
    try:
        rm.open("out")
    except FileNotFoundError:
        pass
    except rm.IncompleteDatasetError:
        with pytest.raises(rm.IncompleteDatasetError, match="recordmill repair out/train"):
            rm.open("out/train")
        run("repair", "out")
    visible = {name: data for name, data in read_files("out").items() if not name.startswith(".")}
    assert visible in [{name: data for name, data in files.items() if not name.startswith(".")} for files in allowed]


def finish_pack(command: tuple[str, ...], expected: dict[str, bytes], old: dict[str, bytes]) -> None:
    """Check the files that a killed `pack` left, and that another run writes the expected files."""
    check_folder([old, expected])
    if read_files("out") != expected if os.path.isdir("out") else True:
        run(*command, *(() if "--resume" in command or old else ("--overwrite",)))
    assert read_files("out") == expected


COMMANDS: dict[str, tuple[str, ...]] = {
    "threads": (*PACK, "--workers", "2"),
    "processes": (*PACK, "--workers", "2", "--worker-kind", "processes"),
    "gzip": (*PACK, "--compression", "gzip"),
    "overwrite": (*PACK, "--overwrite"),
    "resume": (*PACK, "--resume"),
}


@NUM_KILLS
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_killed_pack(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], num_kills: int
) -> None:
    monkeypatch.chdir(tmp_path)
    os.symlink(sources / "photos", "photos")
    overwrites = "--overwrite" in command
    old = read_files(str(sources / "old")) if overwrites else {}

    def reset() -> None:
        shutil.rmtree("out", ignore_errors=True)
        if overwrites:
            shutil.copytree(sources / "old", "out")

    reset()
    started = time.monotonic()
    run(*command)
    duration = time.monotonic() - started
    expected = read_files("out")
    moments = random.Random(len(command))
    for _ in range(num_kills):
        reset()
        kill_after(command, duration * moments.uniform(0.2, 1.05))
        if "--resume" in command:  # Kill the resumed run, too.
            kill_after(command, duration * moments.uniform(0.2, 1.05))
        finish_pack(command, expected, old)


@NUM_KILLS
def test_killed_index(sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, num_kills: int) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(sources / "bare", "shards")
    bare = read_files("shards")
    started = time.monotonic()
    run("index", "shards", "--foreign")
    duration = time.monotonic() - started
    expected = read_files("shards")
    moments = random.Random(1)
    for _ in range(num_kills):
        shutil.rmtree("shards")
        shutil.copytree(sources / "bare", "shards")
        kill_after(("index", "shards", "--foreign"), duration * moments.uniform(0.2, 1.05))
        assert {name: data for name, data in read_files("shards").items() if name in bare} == bare
        run("index", "shards", "--foreign")
        assert {name: data for name, data in read_files("shards").items() if ".tmp-" not in name} == expected
        assert len(rm.open("shards")) == NUM_IMAGES


@NUM_KILLS
def test_killed_salvage(sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, num_kills: int) -> None:
    monkeypatch.chdir(tmp_path)
    command = ("salvage", str(sources / "damaged"), "out/train")
    before = read_files(str(sources / "damaged"))
    started = time.monotonic()
    run(*command)
    duration = time.monotonic() - started
    expected = read_files("out")
    moments = random.Random(2)
    for _ in range(num_kills):
        shutil.rmtree("out")
        kill_after(command, duration * moments.uniform(0.2, 1.05))
        check_folder([{}, expected])
        if not os.path.isdir("out") or read_files("out") != expected:
            run(*command, "--overwrite")
        assert read_files("out") == expected
        assert read_files(str(sources / "damaged")) == before

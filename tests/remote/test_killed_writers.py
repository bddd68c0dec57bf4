"""Locks of other processes, and what writers leave in a bucket when they are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import recordmill as rm
from tests.remote.datasets import (
    assert_equal_datasets,
    create_record,
    is_shard,
    read_bucket,
    read_folder,
    write_dataset,
)
from tests.remote.fault_proxy import FaultProxy, Faults
from tests.remote.loopback import Request
from tests.remote.object_store import S3Bucket

pytestmark = pytest.mark.deep

Proxied = Callable[..., FaultProxy]
WRITER = """
import sys, recordmill as rm
writer = rm.ShardWriter(sys.argv[1], shards=2)
for number in range(10):
    writer.write({"id": number})
print("ready", flush=True)
sys.stdin.readline()
writer.close()
"""


def start_writer(s3: S3Bucket, key: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, s3.url(key)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **s3.environment},
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def test_lock_of_another_process_is_respected(s3: S3Bucket) -> None:
    with start_writer(s3, "data/train") as process:
        with pytest.raises(rm.DestinationLockedError) as caught:
            write_dataset(s3.url("data/train"))
        assert caught.value.pid == process.pid
        write_dataset(s3.url("data/val"), shards=None)
        process.communicate("\n")
    assert process.returncode == 0
    assert len(rm.open(s3.url("data/train"))) == 10
    assert not any(key.endswith(".lock") for key in s3.list_keys())


def test_lock_of_killed_process_is_taken_over(s3: S3Bucket, tmp_path: Path) -> None:
    with start_writer(s3, "data/train") as process:
        process.kill()
    assert any(key.endswith(".lock") for key in s3.list_keys())
    for path in (s3.url("data/train"), tmp_path / "data" / "train"):
        rm.pack([create_record(number) for number in range(9)], path, shards=2)
    found, expected = read_bucket(s3, "data"), read_folder(tmp_path / "data")
    assert {name: data for name, data in found.items() if ".tmp-" not in name} == expected


# Killed writers

PACKER = """
import sys, recordmill as rm
rm.pack(rm.ImageFolder(sys.argv[1]), sys.argv[2], shards=6, resume=True, workers=int(sys.argv[3]))
"""


class Killer:
    """Faults that kill a process when a request matches, before the request reaches the server."""

    def __init__(self, method: str, pattern: str, ordinal: int) -> None:
        self.method, self.pattern, self.left = method, pattern, ordinal
        self.process: subprocess.Popen[bytes] | None = None

    def __call__(self, request: Request) -> bool:
        if request.method == self.method and self.pattern in request.target:
            self.left -= 1
            if self.left < 0 and self.process is not None:
                self.process.send_signal(signal.SIGKILL)
                return True
        return False


# Requests that remove objects do not name them: 3 to 15 remove temporary objects after their copy, 17 removes the
# journal, and 18 the lock.
@pytest.mark.parametrize(
    "method, pattern, ordinal",
    [
        ("PUT", ".train.lock", 0),
        ("PUT", ".tmp-", 1),
        ("PUT", ".tmp-", 5),
        ("PUT", ".progress", 3),
        ("PUT", ".manifest.json.tmp-", 0),
        ("PUT", ".journal", 0),
        ("PUT", "/train-", 0),
        ("POST", "?delete", 3),
        ("PUT", "/train-", 3),
        ("POST", "?delete", 13),
        ("PUT", ".manifest.json", 1),
        ("POST", "?delete", 15),
        ("POST", "?delete", 17),
        ("POST", "?delete", 18),
    ],
)
@pytest.mark.filterwarnings("ignore:the interrupted write of:RuntimeWarning")
def test_resumed_pack_after_sigkill_writes_the_same_bytes(
    s3: S3Bucket, photos: Path, tmp_path: Path, proxied: Proxied, method: str, pattern: str, ordinal: int
) -> None:
    killer = Killer(method, pattern, ordinal)
    proxied(s3, Faults(reset_rate=1, reset_point="before", methods=("PUT", "POST"), match=killer))
    with subprocess.Popen(
        [sys.executable, "-c", PACKER, str(photos), s3.url("data/train"), "1"], env={**os.environ, **s3.environment}
    ) as process:
        killer.process = process
    assert process.returncode == -signal.SIGKILL
    killer.process = None
    visible = [key for key in s3.list_keys() if is_shard(key.rpartition("/")[2])]
    if visible and len(visible) < 6:
        with pytest.raises(rm.IncompleteDatasetError):
            rm.open(s3.url("data"))

    rm.pack(rm.ImageFolder(photos), s3.url("data/train"), shards=6, resume=True)
    rm.pack(rm.ImageFolder(photos), tmp_path / "data" / "train", shards=6, resume=True)
    assert read_bucket(s3, "data") == read_folder(tmp_path / "data")


@pytest.mark.parametrize("method, pattern, ordinal", [("POST", "?delete", 3), ("PUT", "/train-", 3)])
def test_repair_completes_commit_of_killed_writer(
    s3: S3Bucket, photos: Path, tmp_path: Path, proxied: Proxied, method: str, pattern: str, ordinal: int
) -> None:
    killer = Killer(method, pattern, ordinal)
    proxied(s3, Faults(reset_rate=1, reset_point="before", methods=("PUT", "POST"), match=killer))
    with subprocess.Popen(
        [sys.executable, "-c", PACKER, str(photos), s3.url("data/train"), "2"], env={**os.environ, **s3.environment}
    ) as process:
        killer.process = process
    killer.process = None
    with pytest.raises(rm.IncompleteDatasetError, match="repair"):
        rm.open(s3.url("data"))
    assert rm.repair(s3.url("data/")).completed == [s3.url("data/train")]
    rm.pack(rm.ImageFolder(photos), tmp_path / "data" / "train", shards=6)
    found, expected = read_bucket(s3, "data"), read_folder(tmp_path / "data")
    assert {name: data for name, data in found.items() if is_shard(name)} == {
        name: data for name, data in expected.items() if is_shard(name)
    }
    assert_equal_datasets(rm.open(s3.url("data")), rm.open(tmp_path / "data"))
    assert rm.repair(s3.url("data/train")).completed == []

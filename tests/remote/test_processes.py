"""Remote datasets in other processes: after a fork, spawned and pickled, and interrupted by Ctrl-C."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from tests.remote.datasets import assert_equal_datasets, assert_equal_samples, read_ids, upload_folder, write_dataset
from tests.remote.fault_proxy import FaultProxy, Faults
from tests.remote.object_store import ACCESS_KEY, SECRET_KEY, S3Bucket

pytestmark = pytest.mark.deep

Proxied = Callable[..., FaultProxy]


@pytest.fixture
def dataset(s3: S3Bucket, tmp_path: Path) -> Path:
    """Folder of a local dataset with three shards, which is also in the bucket, below "data/"."""
    write_dataset(tmp_path / "data" / "train")
    upload_folder(s3, tmp_path / "data", "data")
    return tmp_path / "data"


def start(s3: S3Bucket, program: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Run a program in which an exception of any process fails."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **s3.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def run(s3: S3Bucket, program: str, *arguments: str) -> None:
    with start(s3, program, *arguments) as process:
        try:
            _, errors = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 0, errors


# Forks and pickles

FORK = """
import os, sys, threading, warnings
import recordmill as rm
warnings.simplefilter("ignore")  # Newer versions of Python warn about forks of processes with threads.
address, when = sys.argv[1:]

def check(samples):
    assert [int(sample["id"]) for sample in samples] == expected
    batches = list(samples.shuffle(seed=1, block=5).batch(7).loader(threads=2))
    assert sorted(number for batch in batches for number in batch["id"].tolist()) == sorted(expected)
    with rm.ShardReader(f"{address}/train-00000-of-00003.tfrecord") as reader:
        assert len(list(reader)) == 20

expected = [int(sample["id"]) for sample in rm.open(sys.argv[1])] if when != "unused" else None
samples = rm.open(address)
if when == "read":
    check(samples)
elif when == "iterating":
    iterator = iter(samples.shuffle(seed=1, block=5).batch(7).loader(threads=2))
    next(iterator)
children = []
for number in range(2):
    child = os.fork()
    if not child:
        code = 1
        try:
            if expected is None:
                expected = [int(sample["id"]) for sample in rm.open(address)]
            check(samples)
            if not number:  # A child of the child.
                grandchild = os.fork()
                if not grandchild:
                    check(samples)
                    os._exit(0)
                assert os.waitpid(grandchild, 0)[1] == 0
            code = 0
        except BaseException:
            import traceback
            traceback.print_exc()
        finally:
            os._exit(code)
    children.append(child)
if expected is None:
    expected = [int(sample["id"]) for sample in rm.open(address)]
check(samples)
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
check(samples)
"""


@pytest.mark.parametrize("when", ["unused", "opened", "read", "iterating"])
def test_dataset_can_be_used_after_a_fork(s3: S3Bucket, dataset: Path, when: str) -> None:
    run(s3, FORK, s3.url("data"), when)


WRITE_AFTER_FORK = """
import os, sys, warnings
import recordmill as rm
warnings.simplefilter("ignore")
len(rm.open(sys.argv[1]))
child = os.fork()
if not child:
    with rm.ShardWriter(sys.argv[2], shards=2) as writer:
        for number in range(10):
            writer.write({"id": number})
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert len(rm.open(sys.argv[2])) == 10
"""


def test_dataset_can_be_written_after_a_fork(s3: S3Bucket, dataset: Path) -> None:
    run(s3, WRITE_AFTER_FORK, s3.url("data"), s3.url("out/train"))
    assert s3.multipart_uploads() == []


def read_all(samples: rm.Dataset, connection: Any) -> None:
    connection.send((read_ids(samples), samples.fingerprint()))


@pytest.mark.usefixtures("_light_main")
def test_dataset_can_be_sent_to_a_spawned_process(s3: S3Bucket, dataset: Path) -> None:
    samples = rm.open(s3.url("data"))
    samples.fetch([3])
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=read_all, args=(samples.shuffle(seed=2, block=4), theirs))
    process.start()
    found = ours.recv()
    process.join()
    ours.close()
    theirs.close()
    expected = rm.open(dataset).shuffle(seed=2, block=4)
    assert found == (read_ids(expected), expected.fingerprint())


def test_pickled_datasets_and_readers_are_equal(s3: S3Bucket, dataset: Path) -> None:
    samples = rm.open(s3.url("data"))
    for _ in range(2):
        copy = pickle.loads(pickle.dumps(samples))
        assert_equal_datasets(copy, rm.open(dataset))
        assert_equal_samples(samples, copy)
    with rm.ShardReader(s3.url("data/train-00000-of-00003.tfrecord")) as reader:
        assert list(pickle.loads(pickle.dumps(reader))) == list(reader)
    with rm.PayloadReader(s3.url("data/train-00000-of-00003.tfrecord")) as payloads:
        first = payloads.read()
        copy = pickle.loads(pickle.dumps(payloads))
        assert copy.read() == payloads.read() != first
        copy.close()


def test_pickles_do_not_contain_credentials_of_the_environment(s3: S3Bucket, dataset: Path) -> None:
    samples = rm.open(s3.url("data"))
    list(samples)
    data = pickle.dumps(samples.shuffle().batch(3))
    assert SECRET_KEY.encode() not in data and ACCESS_KEY.encode() not in data


# Ctrl-C and the end of a process

INTERRUPTED = """
import sys, recordmill as rm
address, action, out = sys.argv[1:]
samples = rm.open(address)
writer = rm.ShardWriter(out) if action == "write" else None
print("ready", flush=True)
sys.stdin.readline()
print("begin", flush=True)
match action:
    case "open":
        rm.open(address + "/")
    case "fetch":
        samples.fetch([0, 59])
    case "iterate":
        list(rm.iterate_payloads(address))
    case "loader":
        list(samples.shuffle().batch(7).loader(threads=2))
    case "loader without threads":
        list(samples.shuffle().batch(7).loader(threads=0))
    case "verify":
        rm.verify(address)
    case "write":
        writer.write({"id": 1})
        writer.close()
"""


@pytest.mark.parametrize("action", ["open", "fetch", "iterate", "loader", "loader without threads", "verify", "write"])
def test_interrupt_during_a_slow_request_ends_the_process(
    s3: S3Bucket, dataset: Path, proxied: Proxied, action: str
) -> None:
    proxy = proxied(s3)
    with start(s3, INTERRUPTED, s3.url("data"), action, s3.url("out/train")) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "ready\n"
        proxy.faults = Faults(stall_rate=1, methods=("GET", "HEAD", "PUT", "POST"))
        proxy.reset_counts()
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "begin\n"
        while not proxy.count():
            time.sleep(0.01)
        time.sleep(0.1)  # The request has been sent before the process waits for its response.
        process.send_signal(signal.SIGINT)
        if action == "write":
            proxy.faults = Faults()  # The writer removes its lock.
        try:
            # A request ends after 30 seconds, and is repeated 5 times.
            _, errors = process.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode in (-signal.SIGINT, 130, 1) and "KeyboardInterrupt" in errors, errors


UNCLOSED = """
import sys, recordmill as rm
from recordmill.storage import remote_output
remote_output._PART_BYTES = 64 << 10
match sys.argv[2]:
    case "writer":
        writer = rm.ShardWriter(sys.argv[3])
        for number in range(40):
            writer.write({"data": bytes(10_000)})
    case "loader":
        iterator = iter(rm.open(sys.argv[1]).shuffle(block=5).batch(7).loader(threads=2))
        next(iterator)
    case "reader":
        reader = rm.PayloadReader(sys.argv[1] + "/train-00000-of-00003.tfrecord")
        reader.read()
"""


@pytest.mark.parametrize("kind", ["writer", "loader", "reader"])
def test_process_ends_with_objects_that_are_not_closed(s3: S3Bucket, dataset: Path, kind: str) -> None:
    with start(s3, UNCLOSED, s3.url("data"), kind, s3.url("out/train")) as process:
        try:
            _, errors = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 0, errors
    assert "Traceback" not in errors and "Fatal" not in errors and "panicked" not in errors, errors

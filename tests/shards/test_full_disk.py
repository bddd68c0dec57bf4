"""Writers on a real file system that refuses: limited file sizes, and folders that cannot be created."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.errors import WriteError
from tests.shards.helpers import FORMATS

# RLIMIT_FSIZE makes the kernel refuse writes beyond a file size, also in the middle of a write call.
LIMITED = """
import json, resource, signal, sys
import recordmill as rm
from recordmill.errors import WriteError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
function, family, folder, limit = sys.argv[1:]
unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)

def run():
    examples = [{"image": bytes([number]) * 40_000, "label": float(number)} for number in range(40)]
    if function == "pack":
        rm.pack(examples, folder + "/part", format=family, shards=2)
    else:
        options = {"shards": 2} if function == "shards" else {"max_shard_bytes": 500_000}
        with rm.ShardWriter(folder + "/part", format=family, **options) as writer:
            for example in examples:
                writer.write(example)

resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), unlimited[1]))
try:
    run()
except WriteError as error:
    print(json.dumps({"kind": type(error).__name__, "shard": error.shard, "text": str(error)}))
resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
import os
print(json.dumps(sorted(os.listdir(folder))))
run()
print(rm.verify(folder).num_records)
"""


CASES = [("shards", family, 123_457) for family in FORMATS]
CASES += [("shards", "tfrecord", 0), ("rolling", "recordio", 123_457), ("pack", "ofrecord", 123_457)]


@pytest.mark.parametrize("function, family, limit", CASES)
def test_write_beyond_file_size_limit_raises_write_error_and_next_run_succeeds(
    tmp_path: Path, function: str, family: str, limit: int
) -> None:
    command = [sys.executable, "-c", LIMITED, function, family, str(tmp_path), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    error, remaining, num_records = map(json.loads, done.stdout.splitlines())
    assert error["kind"] == "WriteError" and "cannot write: File too large" in error["text"]
    assert error["shard"].startswith(f"{tmp_path}/part")
    assert remaining == []
    assert num_records == 40


def test_writer_leaves_no_shard_if_the_disk_is_full_when_the_index_is_written(tmp_path: Path) -> None:
    program = """
import resource, signal, sys
import recordmill as rm
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = sys.argv[1] + "/a.tfrecord"
try:
    with rm.ShardWriter(path, payload="raw") as writer:
        for number in range(100):
            writer.write(b"x")
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_700, resource.RLIM_INFINITY))
except rm.WriteError as error:
    print(error.shard)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"{tmp_path}/.a.tfrecord.rmx\n"), done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("destination", ["/proc/recordmill/part", "/dev/null/part", "{file}/part", "{long}"])
def test_writer_raises_write_error_if_folder_cannot_be_created(tmp_path: Path, destination: str) -> None:
    (tmp_path / "file").write_text("a file")
    target = destination.format(file=tmp_path / "file", long=tmp_path / ("x" * 300))
    options: Any = {"format": "tfrecord", "shards": 2}
    with pytest.raises(WriteError) as caught:
        rm.ShardWriter(target, **options)
    assert (caught.value.shard or "").startswith(target)
    with pytest.raises(WriteError):
        rm.pack([{"a": 1}], target, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]

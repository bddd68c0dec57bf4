"""Writers that are neither closed nor discarded warn, and remove their temporary files; forked processes do neither."""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm

WRITERS = pytest.mark.parametrize("writer_class", [rm.ShardWriter, rm.PayloadWriter])


def drop(objects: list[Any]) -> None:
    objects.clear()
    gc.collect()


@WRITERS
@pytest.mark.parametrize("options", [{}, {"max_shard_bytes": 1000}])
def test_unclosed_writer_warns_and_removes_temporary_files(
    tmp_path: Path, writer_class: Any, options: dict[str, Any]
) -> None:
    if writer_class is rm.PayloadWriter:
        options = {}
    path = tmp_path / "a.tfrecord"
    writers = [writer_class(path, format="tfrecord", **options)]
    writers[0].write(b"record")
    with pytest.warns(ResourceWarning, match=r"a\.tfrecord.*`with`.*close\(\)"):
        drop(writers)
    assert list(tmp_path.iterdir()) == []


@WRITERS
def test_writer_does_not_warn_after_close_discard_or_error(tmp_path: Path, writer_class: Any) -> None:
    path = tmp_path / "a.tfrecord"

    def fail() -> None:
        with writer_class(tmp_path / "b.tfrecord", format="tfrecord"):
            raise RuntimeError("the block failed")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        writer_class(path, format="tfrecord").close()
        writer_class(tmp_path / "c.tfrecord", format="tfrecord").discard()
        with pytest.raises(RuntimeError):
            fail()
        for options in ({"format": "unknown"}, {"format": "recordio", "compression": "gzip"}, {"index": "always"}):
            with pytest.raises(ValueError, match=r"format|compression|index"):
                writer_class(tmp_path / "d.tfrecord", **({"format": "tfrecord"} | options))
        with pytest.raises(rm.WriteError):
            writer_class(path / "e.tfrecord", format="tfrecord")
        writer = writer_class(tmp_path / "f.tfrecord", format="tfrecord")
        with pytest.raises(TypeError):
            writer.write(7)
        writer.discard()
        del writer
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


def run_script(script: str, folder: Path) -> str:
    command = [sys.executable, "-W", "always::ResourceWarning", "-c", script, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("writer", ["ShardWriter", "PayloadWriter"])
def test_writer_that_is_open_at_exit_warns(tmp_path: Path, writer: str) -> None:
    script = f"""
import sys, recordmill as rm
writer = rm.{writer}(sys.argv[1] + "/a.tfrecord", format="tfrecord")
writer.write(b"record")
"""
    errors = run_script(script, tmp_path)
    assert "ResourceWarning" in errors and f"{tmp_path}/a.tfrecord" in errors
    assert list(tmp_path.iterdir()) == []


FORKED = """
import gc, os, sys, recordmill as rm

def run(folder, child):
    try:
        with rm.{writer}(folder + "/a.tfrecord", format="tfrecord") as writer:
            writer.write(b"first")
            pid = os.fork()
            if pid == 0:
                child(writer)
            assert os.waitpid(pid, 0)[1] == 0
            writer.write(b"second")
    except SystemExit:
        if pid == 0:
            gc.collect()
            sys.exit(0)
        raise

def leave(writer):
    sys.exit(0)

def use(writer):
    for call in (lambda: writer.write(b"third"), getattr(writer, "flush", writer.close), writer.close):
        try:
            call()
        except rm.WriteError as error:
            assert "fork" in str(error), error
        else:
            os._exit(1)
    writer.discard()
    sys.exit(0)

run(sys.argv[1], {child})
print(*rm.ShardReader(sys.argv[1] + "/a.tfrecord"))
"""


@pytest.mark.parametrize("child", ["leave", "use", "lambda writer: os._exit(0)"])
@pytest.mark.parametrize("writer", ["ShardWriter", "PayloadWriter"])
def test_forked_process_neither_warns_nor_changes_files_of_the_writer(tmp_path: Path, writer: str, child: str) -> None:
    assert "ResourceWarning" not in run_script(FORKED.replace("{writer}", writer).replace("{child}", child), tmp_path)
    assert list(rm.ShardReader(tmp_path / "a.tfrecord")) == [b"first", b"second"]


def test_forked_process_does_not_warn_for_open_writer_of_its_parent(tmp_path: Path) -> None:
    script = """
import gc, os, sys, recordmill as rm
writer = rm.ShardWriter(sys.argv[1] + "/a.tfrecord")
writer.write({"a": 1})
if os.fork() == 0:
    del writer
    gc.collect()
    sys.exit(0)
os.wait()
writer.close()
"""
    assert "ResourceWarning" not in run_script(script, tmp_path)
    assert len(rm.open(tmp_path)) == 1


def test_writer_of_forked_process_removes_its_files_if_its_constructor_fails(tmp_path: Path) -> None:
    script = """
import os, sys, recordmill as rm
open(sys.argv[1] + "/part-00002-of-00003.tfrecord", "w").close()
if os.fork() == 0:
    try:
        rm.ShardWriter(sys.argv[1] + "/part", shards=3)
    except rm.OutputExistsError:
        os._exit(0)
    os._exit(1)
assert os.wait()[1] == 0
"""
    run_script(script, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["part-00002-of-00003.tfrecord"]

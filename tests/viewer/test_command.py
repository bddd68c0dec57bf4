"""The command `view` through its executable: the address on standard output, Ctrl-C, and a million records."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import recordmill as rm
from tests.viewer.conftest import NUM_RECORDS, Client

COMMAND = str(Path(sys.executable).with_name("recordmill"))


@contextmanager
def run_view(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the command, and yield its process and the first line that it prints."""
    command = [COMMAND, "view", "--no-browser", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_view_prints_its_address_and_ends_on_signal(photos: Path, number: signal.Signals, code: int) -> None:
    with run_view(photos) as (process, url):
        assert Client(url).get("api/dataset")["num_records"] == NUM_RECORDS
        process.send_signal(number)
        _, error = process.communicate(timeout=30)
        assert process.returncode == code and "Traceback" not in error


def test_view_prints_json_and_uses_the_port(photos: Path) -> None:
    with rm.view(photos, browser=False) as viewer:
        port = Client(viewer.url).host.rpartition(":")[2]
    with run_view("--json", "--port", port, photos) as (_, line):
        assert json.loads(line)["url"].startswith(f"http://127.0.0.1:{port}/")


def test_view_of_missing_shards_is_an_error(tmp_path: Path) -> None:
    result = subprocess.run([COMMAND, "view", tmp_path / "none.tfrecord"], capture_output=True, text=True, check=False)
    assert result.returncode == 2 and "none.tfrecord" in result.stderr and result.stdout == ""


@pytest.mark.campaign
def test_million_records_need_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "train.tfrecord"
    with rm.ShardWriter(path) as writer:
        for number in range(1_000_000):
            writer.write({"label": number % 10, "x": number / 2, "name": f"sample {number}"})
    start = time.perf_counter()
    with run_view(path) as (process, url):
        client = Client(url)
        for address in ("", "api/dataset", "api/records?start=0&stop=100"):
            assert client.request(address).status == 200
        seconds = time.perf_counter() - start
        last = client.get("api/records?start=999999&stop=1000000")["records"][0]
        assert (last["label"], last["key"]) == (9, "sample 999999")
        view = client.create_view("label == 3", "x", descending=True)
        assert view["num_records"] == 100_000
        assert client.get(f"api/records?start=0&stop=1&view={view['id']}")["records"][0]["position"] == 999_993
        status = Path(f"/proc/{process.pid}/status").read_text()
        num_kib = int(status.partition("RssAnon:")[2].split()[0])
    print(f"first page after {seconds:.2f} s, {num_kib / 1024:.0f} MiB resident beside the page cache")
    assert num_kib * 1024 <= 150e6

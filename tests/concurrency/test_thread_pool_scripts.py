"""Scripts with thread pools end cleanly, whether they return early or are interrupted by Ctrl-C."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.concurrency.helpers import run_script, running_script

READS = """
import sys, threading
import numpy as np
import recordmill as rm
from recordmill.concurrency.thread_pool import ThreadPool

with rm.ShardWriter("{folder}/part", format="tfrecord") as writer:
    for number in range(64):
        writer.write({{"v": np.full(5_000, number, np.float32)}})
batches = rm.open("{folder}/part*").batch(16)
pool = ThreadPool(lambda task: batches[task % 4], 4)
pool.submit(200)
for task in range(5):
    assert pool.result(task)["v"][3, 7] == task % 4 * 16 + 3
"""


ENDINGS = {
    "last line": "",
    "exit": "sys.exit(0)",
    "pool in a cycle": "pool.itself = pool",
    "other thread waits": "threading.Thread(target=lambda: [pool.result(task) for task in range(5, 200)]).start()",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_script_that_ends_early_ends_cleanly(ending: str, tmp_path: Path) -> None:
    done = run_script(READS.format(folder=tmp_path) + ENDINGS[ending], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.deep
def test_script_with_a_hanging_task_ends(tmp_path: Path) -> None:
    text = """
import time
from recordmill.concurrency.thread_pool import ThreadPool

pool = ThreadPool(lambda task: time.sleep(10_000 * task), 3)
pool.submit(9)
print(pool.result(0))
"""
    done = run_script(text, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "None\n", "")


def test_ctrl_c_reaches_the_waiting_consumer(tmp_path: Path) -> None:
    text = """
import threading, time
from recordmill.concurrency.thread_pool import ThreadPool

gate = threading.Event()
pool = ThreadPool(lambda task: gate.wait() if task else task, 3)
pool.submit(9)
pool.result(0)
try:
    print("ready", flush=True)
    pool.result(1)
except KeyboardInterrupt:
    gate.set()
    assert pool.result(1) is True
    pool.close()
    print(threading.active_count())
"""
    with running_script(text, tmp_path) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "1\n", "")

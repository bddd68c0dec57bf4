"""Crews of threads in scripts that end in the middle: by themselves, by Ctrl-C."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.pipeline.crews import run_script, script

READS = """
import sys, threading
import numpy as np
import recordmill as rm
from recordmill.pipeline.crew.threads import ThreadCrew

with rm.ShardWriter("{folder}/part", format="tfrecord") as writer:
    for number in range(64):
        writer.write({{"v": np.full(5_000, number, np.float32)}})
batches = rm.open("{folder}/part*").batch(16)
crew = ThreadCrew(lambda place: batches[place % 4], 4)
crew.order(200)
for place in range(5):
    assert crew.take(place)["v"][3, 7] == place % 4 * 16 + 3
"""


ENDINGS = {
    "last line": "",
    "exit": "sys.exit(0)",
    "crew in a cycle": "crew.itself = crew",
    "other thread waits": "threading.Thread(target=lambda: [crew.take(place) for place in range(5, 200)]).start()",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_script_when_it_ends_in_the_middle_then_ends_well(ending: str, tmp_path: Path) -> None:
    done = run_script(READS.format(folder=tmp_path) + ENDINGS[ending], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_script_when_a_thread_hangs_then_ends_all_the_same(tmp_path: Path) -> None:
    text = """
import time
from recordmill.pipeline.crew.threads import ThreadCrew

crew = ThreadCrew(lambda place: time.sleep(10_000 * place), 3)
crew.order(9)
print(crew.take(0))
"""
    done = run_script(text, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "None\n", "")


def test_script_when_interrupted_then_the_consumer_hears_of_it_at_once(tmp_path: Path) -> None:
    text = """
import threading, time
from recordmill.pipeline.crew.threads import ThreadCrew

gate = threading.Event()
crew = ThreadCrew(lambda place: gate.wait() if place else place, 3)
crew.order(9)
crew.take(0)
try:
    print("ready", flush=True)
    crew.take(1)
except KeyboardInterrupt:
    gate.set()
    assert crew.take(1) is True
    crew.dismiss()
    print(threading.active_count())
"""
    with script(text, tmp_path) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "1\n", "")

"""Loaders that are closed while another thread, or the code that a signal interrupted, waits in them."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.pipeline.loader import Loader
from tests.concurrency.helpers import check_no_leftovers, run_script
from tests.pipeline.sources import ids, numbers


class Gate:
    """A function that blocks after the first samples, and signals that it does."""

    def __init__(self) -> None:
        self.waits, self.opened = threading.Event(), threading.Event()

    def __call__(self, sample: dict[str, Any]) -> dict[str, Any]:
        if sample["id"] > 8:
            self.waits.set()
            self.opened.wait(30)
        return sample


def consume(loader: Loader, found: list[Any]) -> None:
    try:
        found += ids(loader)
    except Exception as error:  # noqa: BLE001 (the test checks it)
        found.append(error)


@pytest.mark.parametrize("filtered", [False, True])
def test_close_raises_error_in_waiting_thread(filtered: bool) -> None:
    gate, found = Gate(), list[Any]()
    samples = numbers(40).map(gate)
    with check_no_leftovers():
        loader = (samples.filter(len) if filtered else samples).batch(4).loader(threads=1)
        thread = threading.Thread(target=consume, args=(loader, found))
        thread.start()
        gate.waits.wait(30)
        closing = threading.Thread(target=loader.close)
        closing.start()
        thread.join(30)
        gate.opened.set()
        closing.join(30)
    assert isinstance(found[-1], rm.WorkerError) and "were stopped" in str(found[-1])


def test_close_without_workers_stops_after_current_element() -> None:
    gate, found = Gate(), list[Any]()
    loader = numbers(40).map(gate).batch(4).loader(threads=0)
    thread = threading.Thread(target=consume, args=(loader, found))
    thread.start()
    gate.waits.wait(30)
    loader.close()
    gate.opened.set()
    thread.join(30)
    assert isinstance(found[-1], ValueError) and "closed" in str(found[-1])


def test_close_in_signal_handler_raises_error_in_loop() -> None:
    gate = Gate()
    loader = numbers(40).map(gate).batch(4).loader(threads=1)
    threading.Thread(target=lambda: gate.waits.wait(30) and signal.raise_signal(signal.SIGUSR1)).start()

    def close(*_: Any) -> None:
        gate.opened.set()
        loader.close()

    before = signal.signal(signal.SIGUSR1, close)
    try:
        with pytest.raises(rm.WorkerError, match="were stopped"):
            ids(loader)
    finally:
        signal.signal(signal.SIGUSR1, before)
    with pytest.raises(ValueError, match="closed"):
        iter(loader)


def test_close_exhausts_iterators() -> None:
    loader = numbers(40).batch(4).loader(threads=1)
    batches = iter(loader)
    next(batches)
    loader.close()
    assert list(batches) == []


SCRIPT = """
import ctypes, sys
import recordmill as rm

with rm.ShardWriter("{folder}/part") as writer:
    for number in range(64):
        writer.write({{"id": number}})
batches = iter(rm.open("{folder}/part*").map(dict).batch(4).loader(threads=2))
next(batches)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(sys.modules["__main__"]))  # torn down last, as with frameworks
"""


def test_interpreter_exits_silently_during_epoch(tmp_path: Path) -> None:
    done = run_script(SCRIPT.format(folder=tmp_path), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")

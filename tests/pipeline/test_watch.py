"""Functions that hang: they are reported, and the loader can still be closed."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.pipeline import watch
from tests.concurrency.helpers import run_script, running_script
from tests.pipeline.sources import ids, numbers

ROOT = str(Path(__file__).parents[2])
HANGS = f"""
import sys, time
sys.path.insert(0, {ROOT!r})
from tests.pipeline.sources import ids, numbers

def hangs(sample):
    if sample["id"] == 13:
        print("ready", flush=True)
        time.sleep(10_000)
    return sample

def passes(sample):
    return bool(hangs(sample))

if __name__ == "__main__":
    loader = numbers(200).{{stage}}.batch(4).loader(threads=2)
    try:
        ids(loader)
    except KeyboardInterrupt:
        print("interrupted")
"""
STAGES = ["map(hangs)", "filter(passes)", 'map(hangs, workers="processes")']


class Gate:
    """A function that blocks at sample 13 until it is opened."""

    def __init__(self) -> None:
        self.opened = threading.Event()

    def __call__(self, sample: dict[str, Any]) -> dict[str, Any]:
        if sample["id"] == 13:
            self.opened.wait(30)
        return sample


@pytest.mark.parametrize("as_filter", [False, True])
def test_long_call_causes_warning_that_names_it(monkeypatch: pytest.MonkeyPatch, as_filter: bool) -> None:
    monkeypatch.setattr(watch, "WARN_AFTER_S", 0.02)
    gate, messages = Gate(), list[str]()

    def show(message: Any, *_: Any, **__: Any) -> None:
        messages.append(str(message))
        gate.opened.set()

    samples = numbers(40).filter(gate) if as_filter else numbers(40).map(gate)
    with warnings.catch_warnings():
        warnings.simplefilter("always", RuntimeWarning)
        monkeypatch.setattr(warnings, "showwarning", show)
        assert len(list(samples.batch(4).loader(threads=2))) == 10
    stage = "filter(Gate)" if as_filter else "map(Gate)"
    place = f"(stage {stage}, sample 13 of the epoch, shard numbers-1, record 3, offset 300)"
    assert any(one.startswith("Gate has not returned for") and place in one for one in messages), messages


def test_timeout_in_thread_names_sample() -> None:
    def slow(sample: dict[str, Any]) -> dict[str, Any]:
        time.sleep(2 if sample["id"] == 13 else 0)
        return sample

    with pytest.raises(rm.MapError, match="slow hangs") as caught:
        list(numbers(20).map(slow, timeout=0.05).batch(4).loader(threads=2))
    error = caught.value
    assert (error.position, error.shard, error.record, error.offset) == (13, "numbers-1", 3, 300)


@pytest.mark.parametrize("stage", [*(pytest.param(one, marks=pytest.mark.deep) for one in STAGES[:-1]), STAGES[-1]])
def test_script_with_hanging_function_can_be_interrupted(stage: str, tmp_path: Path) -> None:
    with running_script(HANGS.format(stage=stage), tmp_path) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "interrupted\n", "")


@pytest.mark.deep
@pytest.mark.parametrize("stage", STAGES[-1:])
def test_close_does_not_wait_for_hanging_function(stage: str, tmp_path: Path) -> None:
    text = HANGS.format(stage=stage).replace("ids(loader)", "ids([next(iter(loader))])\n        loader.close()")
    # The function hangs in the element after the first one, or in the chunk that is filtered after it.
    done = run_script(text.replace("== 13", "== 70" if "filter" in stage else "== 5"), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("head", [0, 1])
def test_filter_timeout_names_filter_and_sample(head: int) -> None:
    gate = Gate()
    samples = (numbers(200).filter(len) if head else numbers(200)).filter(gate, timeout=0.05)
    try:
        with pytest.raises(rm.MapError, match="Gate hangs") as caught:
            ids(samples.batch(4).loader(threads=2))
    finally:
        gate.opened.set()
    assert (caught.value.stage, caught.value.position) == ("filter(Gate, timeout=0.05)", 13)
    assert "timeout" not in samples.fingerprint()  # states do not depend on the timeout


def test_timeout_on_substitute_names_function() -> None:
    opened, calls = threading.Event(), []

    def refuses(sample: dict[str, Any]) -> dict[str, Any]:
        calls.append(sample)
        if len(calls) > 12:  # after all samples of the batch
            opened.wait(30)
        if sample["id"] < 5:
            raise ValueError("no")
        return sample

    samples = numbers(12).map(refuses, timeout=0.05).batch(12)
    try:
        with pytest.raises(rm.MapError, match="refuses hangs"):
            ids(samples.loader(threads=1, on_error="substitute"))
    finally:
        opened.set()

"""Functions that do not return: they are named, and nobody has to wait for them."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.pipeline import run as watching
from tests.concurrency.helpers import run_script, script
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
    """A function that returns when it may, and a thread that says so."""

    def __init__(self) -> None:
        self.opened = threading.Event()

    def __call__(self, sample: dict[str, Any]) -> dict[str, Any]:
        if sample["id"] == 13:
            self.opened.wait(30)
        return sample


@pytest.mark.parametrize("as_filter", [False, True])
def test_function_when_it_does_not_return_then_a_warning_names_it(
    monkeypatch: pytest.MonkeyPatch, as_filter: bool
) -> None:
    monkeypatch.setattr(watching, "_TELL_S", 0.02)
    gate, told = Gate(), list[str]()

    def show(message: Any, *_: Any, **__: Any) -> None:
        told.append(str(message))
        gate.opened.set()

    samples = numbers(40).filter(gate) if as_filter else numbers(40).map(gate)
    with warnings.catch_warnings():
        warnings.simplefilter("always", RuntimeWarning)
        monkeypatch.setattr(warnings, "showwarning", show)
        assert len(list(samples.batch(4).loader(threads=2))) == 10
    stage = "filter(Gate)" if as_filter else "map(Gate)"
    place = f"(stage {stage}, sample 13 of the epoch, shard numbers-1, record 3, offset 300)"
    assert any(one.startswith("Gate has not returned for") and place in one for one in told), told


def test_function_when_it_hangs_in_a_thread_then_the_sample_is_named() -> None:
    def slow(sample: dict[str, Any]) -> dict[str, Any]:
        time.sleep(2 if sample["id"] == 13 else 0)
        return sample

    with pytest.raises(rm.MapError, match="slow hangs") as caught:
        list(numbers(20).map(slow, timeout=0.05).batch(4).loader(threads=2))
    error = caught.value
    assert (error.position, error.shard, error.record, error.offset) == (13, "numbers-1", 3, 300)


@pytest.mark.parametrize("stage", STAGES)
def test_script_when_a_function_hangs_then_it_can_be_interrupted(stage: str, tmp_path: Path) -> None:
    with script(HANGS.format(stage=stage), tmp_path) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "interrupted\n", "")


@pytest.mark.deep
@pytest.mark.parametrize("stage", STAGES[-1:])
def test_loader_when_a_function_hangs_then_closing_and_leaving_do_not(stage: str, tmp_path: Path) -> None:
    text = HANGS.format(stage=stage).replace("ids(loader)", "ids([next(iter(loader))])\n        loader.close()")
    # In the element behind the first one, or the chunk that is held against the filter behind it.
    done = run_script(text.replace("== 13", "== 70" if "filter" in stage else "== 5"), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("head", [0, 1])
def test_filter_when_it_takes_longer_than_it_may_then_is_named(head: int) -> None:
    gate = Gate()
    samples = (numbers(200).filter(len) if head else numbers(200)).filter(gate, timeout=0.05)
    try:
        with pytest.raises(rm.MapError, match="Gate hangs") as caught:
            ids(samples.batch(4).loader(threads=2))
    finally:
        gate.opened.set()
    assert (caught.value.stage, caught.value.position) == ("filter(Gate, timeout=0.05)", 13)
    assert "timeout" not in samples.fingerprint()  # a state of the same without a limit goes on here


def test_function_when_it_hangs_on_a_substitute_then_is_named() -> None:
    opened, calls = threading.Event(), []

    def refuses(sample: dict[str, Any]) -> dict[str, Any]:
        calls.append(sample)
        if len(calls) > 12:  # all of the batch were called
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

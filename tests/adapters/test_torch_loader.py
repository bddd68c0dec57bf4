"""The loader of tensors: exact states, errors in order, and transfers ahead of the caller."""

from __future__ import annotations

import threading
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from tests.adapters.conftest import equal
from tests.adapters.squares import NUM_BATCHES, batches

pytestmark = pytest.mark.deep


def has_no_threads() -> bool:
    return not any(thread.name.startswith("recordmill") for thread in threading.enumerate())


def as_arrays(batch: dict[str, Any]) -> dict[str, Any]:
    return {name: value.numpy() for name, value in batch.items()}


def test_loader_returns_batches_of_each_epoch_as_tensors(squares: Path) -> None:
    pipeline = batches(squares, "ofrecord")
    with rm.torch.loader(pipeline, threads=2) as loader:
        assert len(loader) == NUM_BATCHES and (loader.rank, loader.world_size) == (0, 1)
        for epoch in range(2):
            got = [as_arrays(batch) for batch in loader]
            assert equal(got, pipeline.fetch(range(NUM_BATCHES), epoch=epoch)) and loader.epoch == epoch + 1
    assert has_no_threads()


def test_loader_refuses_cuda_device_without_cuda(squares: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ValueError, match=r"device='cuda:0' requires CUDA"):
        rm.torch.loader(batches(squares, "tfrecord"), device="cuda:0")


def test_pin_memory_has_no_effect_without_cuda(squares: Path) -> None:
    with rm.torch.loader(batches(squares, "tfrecord"), pin_memory=True, device="cpu") as loader:
        assert equal([as_arrays(batch) for batch in loader], list(batches(squares, "tfrecord")))


def test_loader_moves_tensors_to_device(squares: Path) -> None:
    pipeline = rm.open(squares / "recordio").batch(8)
    with rm.torch.loader(pipeline, device="meta") as loader:
        batch = next(iter(loader))
        assert batch["label"].device.type == "meta" and batch["label"].shape == (8,)
        assert isinstance(batch["image"][0], bytes)
    assert has_no_threads()


@pytest.mark.parametrize("count", range(1, NUM_BATCHES + 1))
def test_state_dict_ignores_batches_transferred_ahead(count: int, squares: Path) -> None:
    pipeline = batches(squares, "tfrecord")
    with rm.torch.loader(pipeline, device="meta") as ahead, pipeline.loader() as plain:
        iterators = iter(ahead), iter(plain)
        for _ in range(count):
            for iterator in iterators:
                next(iterator)
        assert ahead.state_dict() == plain.state_dict()
        iterators[0].close()
        assert ahead.state_dict() == plain.state_dict()
    assert has_no_threads()


def test_loader_raises_error_after_earlier_batches(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "bad", format="tfrecord") as writer:
        for number in range(40):
            writer.write({"numbers": np.zeros(4, np.uint8).tobytes()[: 3 if number == 20 else 4], "label": number})
    pipeline = rm.open(tmp_path).decode(numbers=rm.Raw("uint8", (4,))).batch(8)
    with rm.torch.loader(pipeline, device="meta") as loader:
        iterator = iter(loader)
        assert len(list(islice(iterator, 2))) == 2
        with pytest.raises(rm.DecodeError, match="numbers"):
            next(iterator)
    assert has_no_threads()


class Recorder:
    """Replaces `torch.cuda` and records the calls of streams."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.current = RecorderStream(self, "compute")

    def Stream(self, device: Any) -> RecorderStream:  # noqa: N802 (the name in torch.cuda)
        return RecorderStream(self, f"copies on {device}")

    def stream(self, stream: RecorderStream) -> RecorderStream:
        return stream

    def current_stream(self, device: Any) -> RecorderStream:
        return self.current

    def is_available(self) -> bool:
        return True


class RecorderStream:
    """A stream that records what happens on it."""

    def __init__(self, recorder: Recorder, name: str) -> None:
        self.recorder, self.name = recorder, name

    def __enter__(self) -> None:
        self.recorder.calls.append(f"enter {self.name}")

    def __exit__(self, *error: object) -> None:
        self.recorder.calls.append(f"leave {self.name}")

    def record_event(self) -> str:
        self.recorder.calls.append("record event")
        return self.name

    def wait_event(self, event: str) -> None:
        self.recorder.calls.append(f"{self.name} waits for {event}")


def test_cuda_transfer_copies_on_own_stream_and_caller_stream_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    from recordmill.adapters.torch.loader import create_transfer

    cuda = Recorder()
    moved = torch.ones(2)
    monkeypatch.setattr(torch, "cuda", cuda)
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: cuda.calls.append("pin") or tensor)
    monkeypatch.setattr(torch.Tensor, "to", lambda tensor, *args, **kwargs: cuda.calls.append(f"to {kwargs}") or moved)
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda tensor, stream: cuda.calls.append(f"for {stream.name}"))
    transfer = create_transfer("cuda:0", pin_memory=False)
    assert transfer is not None
    started = transfer.start({"image": torch.zeros(2), "name": [b"a"]})
    copies = "copies on cuda:0"
    steps = [f"enter {copies}", "pin", "to {'non_blocking': True}", "record event", f"leave {copies}"]
    assert cuda.calls == steps
    received = transfer.finish(started)
    assert received == {"image": moved, "name": [b"a"]}
    assert cuda.calls[len(steps) :] == [f"compute waits for {copies}", "for compute"]

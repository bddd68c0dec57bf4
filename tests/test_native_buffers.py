"""Memory that Python passes to the native module: changes during a call have no effect, and outputs are no inputs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import recordmill as rm
from recordmill import _core
from recordmill.decode.geometry import GeometryPlan
from recordmill.decode.native import decode_images
from recordmill.decode.options import DecodeOptions, OutputFormat
from recordmill.decode.plan import compile_image_plan, plan_images
from recordmill.types import Ragged
from tests.images import encode_jpeg

NUM_BYTES = 256 << 20


@pytest.fixture
def slow_switching() -> Iterator[None]:
    """Let threads change only where the interpreter lock is released."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize(
    "kind", [bytearray, lambda size: np.zeros(size, np.uint8), lambda size: memoryview(bytearray(size))]
)
@pytest.mark.usefixtures("slow_switching")
def test_native_call_ignores_changes_by_other_threads(kind) -> None:
    data, results, started = kind(NUM_BYTES), [], threading.Event()
    expected = _core.crc32c(bytes(NUM_BYTES))

    def compute() -> None:
        started.set()
        results.append(_core.crc32c(data))

    thread = threading.Thread(target=compute)
    thread.start()
    started.wait()
    data[NUM_BYTES - 1] = 1
    thread.join()
    assert results == [expected]


def test_frame_table_ignores_later_changes_of_arrays() -> None:
    offsets, lengths = np.array([0, 20, 50]), np.array([20, 30, 10])
    table = _core.FrameTable([(offsets, lengths, None)])
    offsets[:] = lengths[:] = 1 << 40
    located = table.locate(np.array([2, 0]))
    assert np.asarray(located[3]).tolist() == [50, 0]
    assert np.asarray(located[4]).tolist() == [10, 20]


def test_payload_columns_are_read_only(tmp_path) -> None:
    with rm.ShardWriter(tmp_path / "part", format="recordio") as writer:
        writer.write({"image": b"abc", "label": 1.0})
    payloads = rm.ShardReader(next(tmp_path.glob("part*"))).fetch_ragged([0])
    with pytest.raises(ValueError, match="read-only"):
        payloads.data[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        payloads.data.flags.writeable = True


@pytest.mark.parametrize("overlap", ["data", "row_splits", "payload"])
def test_output_must_not_overlap_an_input(overlap: str) -> None:
    jpeg = encode_jpeg(0, 20, 14)
    memory = np.zeros(len(jpeg) + 64, np.uint8)
    memory[: len(jpeg)] = np.frombuffer(jpeg, np.uint8)
    rows = Ragged(memory[: len(jpeg)], np.array([0, len(jpeg)]))
    payloads = [memory[: len(jpeg)]] if overlap == "payload" else (rows.data, rows.row_splits)
    out = rows.row_splits.view(np.uint8) if overlap == "row_splits" else memory[len(jpeg) - 16 : len(jpeg) + 32]
    plan = compile_image_plan(DecodeOptions(), OutputFormat("uint8"))
    geometry = GeometryPlan.identity(np.array([[20, 14]]))
    with pytest.raises(ValueError, match="must not share memory"):
        decode_images(plan_images(plan, payloads, geometry, np.array([1])), out.reshape(1, -1), 1, "native")
    assert bytes(memory[: len(jpeg)]) == jpeg

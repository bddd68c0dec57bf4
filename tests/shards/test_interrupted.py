"""Ctrl-C while a shard is walked through without Python."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

import recordmill as rm
from recordmill.testing import tfrecord

# Of a file without blocks: far more than can be read within the time limit of a test.
_HUGE = 4 << 40


def test_verify_when_interrupted_within_a_shard_then_ends(tmp_path: Path) -> None:
    path = tmp_path / "huge.tfrecord"
    path.write_bytes(tfrecord.frame(b"sound"))
    os.truncate(path, _HUGE)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            rm.verify(path)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

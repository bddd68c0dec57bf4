"""The Rust crate `png`, measured by the same example as our decoder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benches.contenders import ours_engine
from benches.jobs import Job
from benches.windows import list_file

ENVIRONMENT = ""
REQUIREMENTS = ("recordmill",)
VARIANTS = {"image-png-digits": ("",), "image-png-photos": ("",)}
prepare = ours_engine.prepare


def _command(job: Job) -> list[str]:
    return [ours_engine.example("png_speed"), list_file(job), "crate"]


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Run the example without end in a process of the same process group."""
    yield from ours_engine.counts(_command(job))


def checked(job: Job) -> dict[str, Any]:
    """Return the digest of the decoded pixels."""
    return ours_engine.digest(_command(job))

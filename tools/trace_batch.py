"""Count the Python code that runs between a shard and a batch.

    python -m tools.trace_batch           calls, functions and files for rm.open, the first batch and a warm batch
    python -m tools.trace_batch --list    each call in order, with its file

Only calls of functions in the package count. The program: 64 JPEG images in two TFRecord shards, shuffled, a random
resized crop with flip and normalization, batches of 16, no worker threads. One epoch runs before, so that imports and
filling caches do not count.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median_low
from types import CodeType, FrameType
from typing import Any

import recordmill as rm

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that it also runs as a script
from tools.behavior.images import COLOR_JPEGS, read_image

PACKAGE = f"{Path(rm.__file__).parent}/"
NUM_IMAGES, BATCH_SIZE = 64, 16


@dataclass
class Trace:
    """The calls of functions of the package, in order; resumptions of a generator count as calls."""

    calls: list[CodeType] = field(default_factory=list)

    @property
    def num_functions(self) -> int:
        """Number of distinct functions."""
        return len(set(self.calls))

    @property
    def num_files(self) -> int:
        """Number of distinct source files."""
        return len({code.co_filename for code in self.calls})


def trace_calls(action: Callable[[], Any]) -> tuple[Trace, Any]:
    """Run a function; return the calls that it made and its result."""
    trace = Trace()

    def note_call(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            trace.calls.append(frame.f_code)

    sys.setprofile(note_call)
    try:
        result = action()
    finally:
        sys.setprofile(None)
    return trace, result


def make_pipeline() -> rm.Dataset:
    """Open the shards as a training program does."""
    image = rm.Image(crop=rm.RandomResizedCrop(64), flip=True, mean=rm.IMAGENET_MEAN, std=rm.IMAGENET_STD)
    return rm.open("photos-*").shuffle(seed=1).decode(image=image).batch(BATCH_SIZE)


def trace_pipeline() -> dict[str, Trace]:
    """Return the calls of `rm.open`, of the first batch, and of the warm batch with the median number of calls."""
    opened, _ = trace_calls(partial(rm.open, "photos-*"))
    with make_pipeline().loader(threads=0) as loader:
        batches: Iterator[Any] = iter(loader)
        first, _ = trace_calls(partial(next, batches))
        warm = [trace_calls(partial(next, batches))[0] for _ in range(NUM_IMAGES // BATCH_SIZE - 1)]
    middle = median_low([len(trace.calls) for trace in warm])
    return {
        "rm.open": opened,
        "first batch": first,
        "warm batch": next(trace for trace in warm if len(trace.calls) == middle),
    }


def main() -> int:
    """Print the table of traces, and with --list each call."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print each call")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):  # the length of a path changes the number of calls
        examples = ({"image": read_image(COLOR_JPEGS[n % len(COLOR_JPEGS)]), "label": n} for n in range(NUM_IMAGES))
        rm.pack(examples, "photos", format="tfrecord", shards=2, progress=False)
        for _ in make_pipeline().loader(threads=0):
            pass
        traces = trace_pipeline()
    print(f"{'':12}{'calls':>7}{'functions':>11}{'files':>7}")
    for name, trace in traces.items():
        print(f"{name:12}{len(trace.calls):>7}{trace.num_functions:>11}{trace.num_files:>7}")
    if args.list:
        for name, trace in traces.items():
            print(f"\n{name}")
            for code in trace.calls:
                print(f"  {code.co_filename.removeprefix(PACKAGE):40} {code.co_qualname}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

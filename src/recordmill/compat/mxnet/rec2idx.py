"""``python -m recordmill.compat.mxnet.rec2idx``: create the index file of a record file; keys are record positions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import recordmill as rm
from recordmill.compat.mxnet.base import convert_errors


def write_index(record: str, index: str) -> int:
    """Write the index file of a record file, with record positions as keys; return the number of records."""
    with convert_errors(), rm.ShardReader(record, format="recordio", compression=None, index="never") as reader:
        reader.raise_damage(reader.damage)
        offsets = reader.index.offsets.tolist()
    Path(index).write_text("".join(f"{key}\t{offset}\n" for key, offset in enumerate(offsets)))
    return len(offsets)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m recordmill.compat.mxnet.rec2idx", description=__doc__)
    parser.add_argument("record", help="path of the .rec file")
    parser.add_argument("index", help="path of the .idx file that is written")
    options = parser.parse_args(arguments)
    try:
        count = write_index(options.record, options.index)
    except rm.RecordmillError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{count} records in {options.index}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Records the text index that tfrecord 1.14.6 makes: python make_tfrecord_index.py TENSORFLOW_DIR.

Reads the files that make_tensorflow.py wrote and puts NAME.tfindex beside each. Environment:
    pip install tfrecord==1.14.6 protobuf==7.36.2 numpy==2.4.6
"""

from __future__ import annotations

import sys
from pathlib import Path

from tfrecord.tools.tfrecord2idx import create_index

FILES = ["sizes.tfrecord", "many.tfrecord", "only_empty_records.tfrecord", "empty.tfrecord"]


def main(out: Path) -> None:
    """Write the index of each file."""
    for name in FILES:
        path = out / "framing" / name
        create_index(str(path), str(path.with_suffix(".tfindex")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Records what MXNet 1.9.1 writes and reads: python make_mxnet.py OUTDIR [PART ...].

Environment (CPython 3.11):
    pip install mxnet==1.9.1 numpy==1.23.5 opencv-python-headless==4.7.0.72
"""

from __future__ import annotations

import sys
from pathlib import Path

from recipes import isolate, mx_damage, mx_faces, mx_headers, mx_images, mx_index, mx_lists, mx_records

PARTS = {
    "records": mx_records.record,
    "index": mx_index.record,
    "headers": mx_headers.record,
    "images": mx_images.record,
    "faces": mx_faces.record,
    "lists": mx_lists.record,
    "damage": lambda out: mx_damage.record(out, Path(__file__).resolve()),
}


def main(arguments: list[str]) -> None:
    """Record the parts named, or all of them."""
    if arguments[0] == isolate.CHILD:
        isolate.child_main(mx_damage.look, arguments[1:])
        return
    for part in arguments[1:] or PARTS:
        PARTS[part](Path(arguments[0]))
        print(f"{part}: recorded", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

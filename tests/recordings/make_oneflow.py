"""Records what OneFlow 0.9.0 writes and reads: python make_oneflow.py OUTDIR [PART ...].

Environment (CPython 3.10; about 3 GB; no GPU is used):
    pip install oneflow==0.9.0 numpy==1.23.5 protobuf==3.20.3 opencv-python-headless==4.7.0.72 pillow==12.3.0 \
        six==1.17.0 nvidia-cudnn-cu11==8.9.6.50 nvidia-cublas-cu11==11.11.3.6
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from recipes.oneflow_runtime import find_cuda_libraries

find_cuda_libraries()

from recipes import isolate, of_damage, of_decoders, of_messages, of_parts  # noqa: E402

HERE = Path(__file__).resolve()
PARTS = {
    "messages": lambda out: of_messages.record(out, HERE),
    "parts": of_parts.record,
    "decoders": lambda out: of_decoders.record(out, HERE),
    "damage": lambda out: of_damage.record(out, HERE),
}


def look(folder: Path, name: str) -> Any:
    """Answer a case named SUBJECT:NAME."""
    subject, _, case = name.partition(":")
    if subject == "damage":
        return of_damage.look(folder, case)
    return {"message": of_messages, "decoder": of_decoders}[subject].look(case)


def main(arguments: list[str]) -> None:
    """Record the parts named, or all of them."""
    if arguments[0] == isolate.CHILD:
        isolate.child_main(look, arguments[1:])
        return
    out = Path(arguments[0])
    out.mkdir(parents=True, exist_ok=True)
    for part in arguments[1:] or PARTS:
        PARTS[part](out)
        print(f"{part}: recorded", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

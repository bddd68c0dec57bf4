"""Spells an exception of TensorFlow or protobuf without the parts that change from run to run."""

from __future__ import annotations

import re
from typing import Any


def error_json(error: BaseException) -> dict[str, Any]:
    """Return {"class", "message"} and, for a damaged record, the "offset" that the message names."""
    text = str(getattr(error, "message", "") or error)
    if isinstance(error, UnicodeDecodeError):  # a TensorFlow message that quotes the payload: its bytes are kept
        text = error.object.decode("utf-8", "backslashreplace")
    text = re.sub(r"\{\{function_node [^}]*\}\} ?", "", text)
    text = re.sub(r" ?\[Op:[^\]]*\]( name: ?)?", "", text).strip()
    out: dict[str, Any] = {"class": type(error).__name__, "message": text}
    if place := re.search(r"record at (\d+)", text):
        out["offset"] = int(place[1])
    return out

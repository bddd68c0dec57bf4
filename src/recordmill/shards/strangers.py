"""Files among the shards of a folder that are none: the error names a pattern that leaves them out."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import escape

from recordmill.errors import FormatError
from recordmill.formats.detect import from_name
from recordmill.shards.opening import NAME_THEM


@contextmanager
def leaving_out(names: Sequence[str]) -> Iterator[None]:
    """Put a pattern for the other files into the error that one of them is no shard.

    Parameters
    ----------
    names : sequence of str
        All files that a caller's patterns and folders stand for.
    """
    try:
        yield
    except FormatError as error:
        pattern = error.hint == NAME_THEM and error.shard is not None and pattern_beside(error.shard, names)
        if pattern:
            error.hint = f"{NAME_THEM}, for example {pattern!r}"
        raise


def pattern_beside(stranger: str, names: Sequence[str]) -> str | None:
    """Pattern of the most files in the same folder whose names differ in numbers only.

    Parameters
    ----------
    stranger : str
        The file that the pattern leaves out.
    names : sequence of str

    Returns
    -------
    str or None
        None where no other file is there.
    """
    folder = os.path.dirname(stranger)
    beside = [os.path.basename(name) for name in names if name != stranger and os.path.dirname(name) == folder]
    counts = Counter(map(_numbered, beside))
    counts.pop(_numbered(os.path.basename(stranger)), None)
    if not counts:
        return None
    best = max(counts, key=lambda form: (from_name(form) is not None, counts[form]))
    alone = next(name for name in beside if _numbered(name) == best) if counts[best] == 1 else best
    return os.path.join(folder, alone)


def _numbered(name: str) -> str:
    return re.sub(r"\d+", "*", escape(name))

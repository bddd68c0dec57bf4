"""Shards that this process holds open: as many as its descriptors allow, those opened longest ago are let go."""

from __future__ import annotations

import errno
import os
import resource
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol, TypeVar
from weakref import ref

# Half of the descriptors are left to the rest of the process and to shards that are being read, by several threads.
_PART = 2
_PART_AT_ONCE = 16
# So many are left to the rest of the process also where it has most of the others itself: to import a module, say.
_SPARE = 8
# So many shards may always be read by one call.
_FREE = 4
# So many descriptors are asked of the system at most: shards beyond half of them are opened again when needed.
_MOST = 1 << 16

Opened = TypeVar("Opened")


class Holder(Protocol):
    """Something that can open its files again."""

    def let_go(self) -> None:
        """Close the files until they are needed."""


# By identity, the oldest first. Each change is whole by itself, so no lock is there that a fork could leave locked.
_HOLDERS: OrderedDict[int, ref[Holder]] = OrderedDict()


def hold(holder: Holder) -> None:
    """Note that a shard was opened; where there are too many, one that was opened longest ago is let go.

    The soft limit of descriptors is raised first, as far as the hard one allows.

    Parameters
    ----------
    holder : Holder
    """
    key, forget = id(holder), _HOLDERS.pop  # the name of the table may be gone when the process ends
    forget(key, None)
    _HOLDERS[key] = ref(holder, lambda _: forget(key, None))
    while len(_HOLDERS) > limit() // _PART and (raise_limit() or _let_oldest_go()):
        pass
    while len(_HOLDERS) > 1 and is_short() and (raise_limit() or _let_oldest_go()):
        pass


def opened(open_files: Callable[[], Opened], name: str) -> Opened:
    """Open files; where descriptors do not suffice, those of other shards are let go.

    Parameters
    ----------
    open_files : callable
    name : str
        Of the shard.

    Returns
    -------
    object
        What the function returned.

    Raises
    ------
    OSError
        Too many files are open all the same.
    """
    while True:
        try:
            return open_files()
        except OSError as error:
            if error.errno != errno.EMFILE:
                raise
            if not raise_limit() and not _let_oldest_go():
                told = f"too many open files: `ulimit -n` allows {limit()}; raise it, or take smaller batches"
                raise OSError(errno.EMFILE, told, name) from None


def limit() -> int:
    """How many files this process may have open.

    Returns
    -------
    int
    """
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MOST if soft == resource.RLIM_INFINITY else soft


def is_short() -> bool:
    """Whether few descriptors are left, whoever has the others.

    Returns
    -------
    bool
    """
    # A new one gets the lowest number that is free.
    try:
        lowest = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        return error.errno == errno.EMFILE
    os.close(lowest)
    return lowest >= limit() - _SPARE


def enough(count: int) -> bool:
    """Whether one call may read from so many shards; the soft limit is raised for that, too.

    Parameters
    ----------
    count : int

    Returns
    -------
    bool
    """
    while count > _FREE and count > limit() // _PART_AT_ONCE:
        if not raise_limit():
            return False
    return True


def raise_limit() -> bool:
    """Raise the soft limit of descriptors to double, within the hard one.

    Returns
    -------
    bool
        Whether there are more now.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return False
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(2 * soft, most), hard))
    except (OSError, ValueError):
        return False
    return True


def _let_oldest_go() -> bool:
    try:
        oldest = _HOLDERS.popitem(last=False)[1]()
    except KeyError:
        return False
    if oldest is not None:
        oldest.let_go()
    return True

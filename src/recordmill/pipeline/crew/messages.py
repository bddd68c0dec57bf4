"""What a worker process and the consumer tell one another, each message one packet of a socket."""

from __future__ import annotations

import os
import socket
import struct
from array import array
from enum import IntEnum

from recordmill._core import HandedFile, next_packet
from recordmill.dataclass import dataclass

MAX_INSIDE = 32 * 1024
"""Largest element, in bytes, that travels inside a message."""
STOP = -1
"""An order to end, in place of a place."""

_HEAD = struct.Struct("<bqqqdd")
_RETURN = struct.Struct("<qb")
_ORDER = struct.Struct("<q")
ORDER_BYTES = _ORDER.size


class Kind(IntEnum):
    """What a worker tells."""

    READY = 0
    """It waits for its first order."""
    BEGUN = 1
    """It makes an element."""
    MADE = 2
    """It made one."""
    FAILED = 3
    """Making one raised a `Failure`."""
    BROKEN = 4
    """It could not start: a `Failure`."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message from a worker.

    Parameters
    ----------
    kind : Kind
    place : int
    slot : int
        Of the file with the element.
    nbytes : int
        Of the element; 0 where it is inside.
    busy_s, waited_s : float
        Seconds since the message before; of `Kind.BEGUN`, the time of the clock and the seconds waited.
    inside : bytearray
        A small element.
    file : HandedFile, optional
        That came with the message.
    """

    kind: Kind
    place: int = -1
    slot: int = -1
    nbytes: int = 0
    busy_s: float = 0.0
    waited_s: float = 0.0
    inside: bytes | bytearray = b""
    file: HandedFile | None = None


def tell(link: socket.socket, message: Message, file: int | None = None) -> None:
    """Send a message; waits while the other side has not read those before.

    Parameters
    ----------
    link : socket
    message : Message
    file : int, optional
        Descriptor of a file that the other side does not know yet.
    """
    one = message
    head = _HEAD.pack(one.kind, one.place, one.slot, one.nbytes, one.busy_s, one.waited_s)
    files = [] if file is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [file]))]
    link.sendmsg([head, one.inside], files, socket.MSG_NOSIGNAL)


def heard(link: socket.socket) -> Message | None:
    """Return the next message that is there.

    Parameters
    ----------
    link : socket

    Returns
    -------
    Message or None
        None where the other side will send no more.

    Raises
    ------
    BlockingIOError
        Nothing is there.
    """
    packet = next_packet(link.fileno(), _HEAD.size + MAX_INSIDE)
    if packet is None:
        return None
    data, file = packet
    kind, place, slot, nbytes, busy_s, waited_s = _HEAD.unpack_from(data)
    inside = bytearray(memoryview(data)[_HEAD.size :])
    return Message(Kind(kind), place, slot, nbytes, busy_s, waited_s, inside, file)


def tell_return(link: socket.socket, slot: int, again: bool) -> bool:
    """Give a slot back to its worker.

    Parameters
    ----------
    link : socket
    slot : int
    again : bool
        Whether it may be filled again.

    Returns
    -------
    bool
        False where the worker has to read first.
    """
    try:
        link.send(_RETURN.pack(slot, again), socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
    except BlockingIOError:
        return False
    except ConnectionError:
        return True  # a worker that ended needs nothing
    return True


def heard_return(link: socket.socket) -> tuple[int, bool] | None:
    """Return the next slot that was given back.

    Parameters
    ----------
    link : socket

    Returns
    -------
    tuple of (int, bool), or None
        None where the consumer is gone.

    Raises
    ------
    BlockingIOError
        Nothing is there.
    """
    try:
        data = link.recv(_RETURN.size, socket.MSG_DONTWAIT)
    except ConnectionError:
        return None
    if not data:
        return None
    slot, again = _RETURN.unpack(data)
    return slot, bool(again)


def send_orders(orders: int, places: range) -> int:
    """Write orders into the pipe that all workers read from.

    Parameters
    ----------
    orders : int
        Descriptor; writing does not block.
    places : range

    Returns
    -------
    int
        How many went in.
    """
    sent = 0
    while sent < len(places):
        part = places[sent : sent + 512]  # so many bytes are written together or not at all
        try:
            os.write(orders, struct.pack(f"<{len(part)}q", *part))
        except BlockingIOError:
            break
        sent += len(part)
    return sent


def next_order(orders: int) -> int:
    """Wait for an order.

    Parameters
    ----------
    orders : int
        Descriptor; each order goes to one reader.

    Returns
    -------
    int
        Place, or `STOP`, also where nobody can order any more.
    """
    data = os.read(orders, ORDER_BYTES)
    return int(_ORDER.unpack(data)[0]) if len(data) == ORDER_BYTES else STOP

"""Messages that consumers and workers send over sockets, and task numbers that workers read from a pipe."""

from __future__ import annotations

import os
import socket
import struct
from array import array
from dataclasses import dataclass
from enum import IntEnum

from recordmill._core import HandedFile, next_packet

MAX_INLINE_BYTES = 32 * 1024
"""Maximum size of a result that is sent inside a message, in bytes. Larger ones are sent in shared memory."""
STOP = -1
"""Sent in place of a task number to make the worker that reads it exit."""

_HEAD = struct.Struct("<bqqqdd")
_RELEASE = struct.Struct("<qb")
_TASK = struct.Struct("<q")
_TASKS_PER_WRITE = 512  # 512 numbers take PIPE_BUF bytes, the most that the kernel writes to a pipe atomically.


class MessageKind(IntEnum):
    """Kinds of messages that a worker process sends."""

    READY = 0
    """The worker waits for its first task."""
    STARTED = 1
    """The worker started a task."""
    RESULT = 2
    """The worker finished a task; the message has the result."""
    ERROR = 3
    """A task raised an error; the message has an `ErrorChain`."""
    BROKEN = 4
    """The worker could not start; the message has an `ErrorChain`."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message from a worker process to its consumer.

    Parameters
    ----------
    kind : MessageKind
    task : int
    slot : int
        Slot of the shared memory segment with the result.
    nbytes : int
        Size of a result in a segment; 0 if the message contains the result.
    seconds : float
        STARTED: time of the monotonic clock. RESULT and ERROR: seconds that the task took.
    waited_s : float
        STARTED: seconds that the worker waited for the task.
    data : bytearray
        Serialized result, if it is not in a segment.
    file : HandedFile, optional
        File descriptor that was passed with the message.
    """

    kind: MessageKind
    task: int = -1
    slot: int = -1
    nbytes: int = 0
    seconds: float = 0.0
    waited_s: float = 0.0
    data: bytes | bytearray = b""
    file: HandedFile | None = None


def send_message(link: socket.socket, message: Message, file: int | None = None) -> None:
    """Send a message, and the file descriptor `file` if it is not None. Wait while the buffer of the socket is full."""
    head = _HEAD.pack(message.kind, message.task, message.slot, message.nbytes, message.seconds, message.waited_s)
    files = [] if file is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [file]))]
    link.sendmsg([head, message.data], files, socket.MSG_NOSIGNAL)


def receive_message(link: socket.socket) -> Message | None:
    """Return the next message, or None if the worker has closed the socket.

    Raise BlockingIOError if no message has arrived.
    """
    packet = next_packet(link.fileno(), _HEAD.size + MAX_INLINE_BYTES)
    if packet is None:
        return None
    raw, file = packet
    kind, task, slot, nbytes, seconds, waited_s = _HEAD.unpack_from(raw)
    data = bytearray(memoryview(raw)[_HEAD.size :])
    return Message(MessageKind(kind), task, slot, nbytes, seconds, waited_s, data, file)


def send_released_segment(link: socket.socket, slot: int, reusable: bool) -> bool:
    """Tell a worker that one of its segments is free; return False, and send nothing, if the socket is full."""
    try:
        link.send(_RELEASE.pack(slot, reusable), socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
    except BlockingIOError:
        return False
    except ConnectionError:
        return True  # The worker has exited and no longer needs the message.
    return True


def receive_released_segment(link: socket.socket) -> tuple[int, bool] | None:
    """Return (slot, reusable) for the next released segment, or None if the consumer has closed the socket."""
    try:
        data = link.recv(_RELEASE.size, socket.MSG_DONTWAIT)
    except ConnectionError:
        return None
    if not data:
        return None
    slot, reusable = _RELEASE.unpack(data)
    return slot, bool(reusable)


def send_task_numbers(pipe: int, tasks: range) -> int:
    """Write task numbers to the non-blocking pipe that all workers read; return how many numbers fit into the pipe."""
    sent = 0
    while sent < len(tasks):
        part = tasks[sent : sent + _TASKS_PER_WRITE]
        try:
            os.write(pipe, struct.pack(f"<{len(part)}q", *part))
        except BlockingIOError:
            break
        sent += len(part)
    return sent


def receive_task_number(pipe: int) -> int:
    """Wait for a task number, which only one worker receives; return `STOP` if the consumer has closed the pipe."""
    data = os.read(pipe, _TASK.size)
    return int(_TASK.unpack(data)[0]) if len(data) == _TASK.size else STOP

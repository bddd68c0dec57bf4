"""Files in memory that belong to a thread."""

from __future__ import annotations

import gc
import os
import threading
from concurrent.futures import ThreadPoolExecutor

from recordmill.packing.recode import read_output, thread_output_file


def test_thread_output_file_when_asked_for_again_then_holds_what_is_written_now() -> None:
    for data in (b"a longer one", b"short", b""):
        file = thread_output_file()
        file.write(data)
        assert read_output(file) == data


def test_thread_output_file_when_it_has_grown_large_then_its_memory_is_given_back() -> None:
    thread_output_file().write(bytes(9 << 20))
    file = thread_output_file()
    assert os.fstat(file.fileno()).st_size == 0
    file.write(bytes(1 << 20))
    assert os.fstat(thread_output_file().fileno()).st_size == 1 << 20


def test_thread_output_file_when_threads_use_it_then_each_has_its_own() -> None:
    barrier = threading.Barrier(4)

    def use(number: int) -> tuple[int, bytes]:
        file = thread_output_file()
        file.write(bytes([number]) * 1000)
        barrier.wait()
        return file.fileno(), read_output(file)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(use, range(4)))
    assert len({fd for fd, _ in found}) == 4
    assert [data for _, data in found] == [bytes([number]) * 1000 for number in range(4)]


def test_thread_output_file_when_its_thread_ends_then_is_closed() -> None:
    files = []
    thread = threading.Thread(target=lambda: files.append(thread_output_file()))
    thread.start()
    thread.join()
    gc.collect()
    assert files[0].closed

"""MXRecordIO and MXIndexedRecordIO: reading, writing, damage, fork and pickle."""

from __future__ import annotations

import builtins
import multiprocessing
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import recordmill as rm
import recordmill.compat.mxnet as mx
from tests.recorded import RECORDINGS, load_cases, load_recording

MAGIC = bytes.fromhex("0a23d7ce")
PAYLOADS = [b"record_0", b"", MAGIC, b"abc" + MAGIC, b"abcd" + MAGIC + b"e", bytes(70000)]
# What MXNet does on purpose or by accident, and ours reports: see docs/migrating/mxnet.md.
STRICTER = ("cflag", "parts", "cut_between", "magic_not_split")


def written(path, payloads=PAYLOADS):
    record = mx.recordio.MXRecordIO(str(path), "w")
    for payload in payloads:
        record.write(payload)
    record.close()
    return str(path)


def everything(record):
    return list(iter(record.read, None))


def test_written_records_are_read_back(tmp_path) -> None:
    record = mx.recordio.MXRecordIO(written(tmp_path / "any.name"), "r")
    assert everything(record) == PAYLOADS
    assert [path.name for path in tmp_path.iterdir()] == ["any.name"]


@pytest.mark.parametrize("file", load_cases("mxnet/records/expected.json", "files"), ids=lambda file: file["path"])
def test_files_of_mxnet_are_rewritten_identically(file, tmp_path) -> None:
    path = RECORDINGS / "mxnet" / "records" / file["path"]
    payloads = [bytes.fromhex(record) for record in file["records"]]
    assert everything(mx.recordio.MXRecordIO(str(path), "r")) == payloads
    assert Path(written(tmp_path / "again.rec", payloads)).read_bytes() == path.read_bytes()


def test_reader_continues_after_reset_and_seek(tmp_path) -> None:
    record = mx.recordio.MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w")
    for key, payload in enumerate(PAYLOADS):
        record.write_idx(key, payload)
    record.close()
    record = mx.recordio.MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "r")
    assert everything(record) == PAYLOADS and record.read() is None
    assert record.read_idx(3) == PAYLOADS[3]
    assert everything(record) == PAYLOADS[4:]
    record.reset()
    assert everything(record) == PAYLOADS


@pytest.mark.parametrize("case", load_cases("mxnet/damage/expected.json", "cases"), ids=lambda case: case["path"])
def test_damaged_file_yields_earlier_records_and_error(case) -> None:
    path = RECORDINGS / "mxnet" / "damage" / case["path"]
    got, error = [], None
    try:
        record = mx.recordio.MXRecordIO(str(path), "r")
        while (payload := record.read()) is not None:
            got.append(payload.hex())
    except mx.MXNetError as caught:
        error = caught
    if case["path"].startswith(STRICTER):
        assert error is not None or got == case["records"]
        return
    if case["error"] is None:
        assert (got, error) == (case["records"], None)
        return
    assert error is not None and isinstance(error, RuntimeError) and error.shard == str(path)
    assert got == case["records"][: len(got)]


def test_truncated_header_has_message_of_mxnet() -> None:
    record = mx.recordio.MXRecordIO(str(RECORDINGS / "mxnet" / "damage" / "cut_first_header_4.rec"), "r")
    with pytest.raises(mx.MXNetError, match=r"nread == sizeof\(header\): Inavlid RecordIO File") as caught:
        record.read()
    assert caught.value.offset == 0 and "cut_first_header_4.rec" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.offset == 0


@pytest.mark.parametrize("case", load_cases("mxnet/index/expected.json", "cases"), ids=lambda case: case["idx"])
def test_index_files_are_read_as_in_mxnet(case) -> None:
    folder = RECORDINGS / "mxnet" / "index"
    key_type = {"int": int, "str": str}[case["key_type"]]

    def opened():
        return mx.recordio.MXIndexedRecordIO(folder / case["idx"], folder / "records.rec", "r", key_type)

    if "error" in case["found"]:
        with pytest.raises({"ValueError": ValueError, "IndexError": IndexError}[case["found"]["error"]["class"]]):
            opened()
        return
    record, found = opened(), case["found"]
    assert record.keys == found["keys"]
    assert [[key, offset] for key, offset in record.idx.items()] == found["offsets"]
    for key, expected in found["read"]:
        if "error" in expected:
            with pytest.raises((mx.MXNetError, ValueError)):
                record.read_idx(key)
        else:
            wanted = expected["record"]
            assert record.read_idx(key) == (None if wanted is None else bytes.fromhex(wanted))
    with pytest.raises(KeyError):
        record.read_idx("no such key")


def test_written_index_equals_documentation(tmp_path) -> None:
    record = mx.recordio.MXIndexedRecordIO(tmp_path / "tmp.idx", tmp_path / "tmp.rec", "w")
    assert record.tell() == 0
    for number in range(5):
        record.write_idx(number, f"record_{number}".encode())
        assert record.tell() == 16 * (number + 1)
    assert record.idx == {number: 16 * number for number in range(5)} and record.keys == list(range(5))
    record.close()
    assert (tmp_path / "tmp.idx").read_text() == "0\t0\n1\t16\n2\t32\n3\t48\n4\t64\n"


@pytest.mark.parametrize(
    "name,do",
    [
        ("write text", lambda path: mx.recordio.MXRecordIO(path, "w").write("text")),
        ("read while writing", lambda path: mx.recordio.MXRecordIO(path, "w").read()),
        ("flag a", lambda path: mx.recordio.MXRecordIO(path, "a")),
        ("a missing file", lambda path: mx.recordio.MXRecordIO(path + ".missing", "r")),
    ],
)
def test_recordio_errors_have_types_of_mxnet(name, do, tmp_path) -> None:
    recorded = {case["name"]: case["error"] for case in load_recording("mxnet/records/refusals.json")["cases"]}[name]
    with pytest.raises(mx.MXNetError if recorded["class"] == "MXNetError" else getattr(builtins, recorded["class"])):
        do(str(tmp_path / "x.rec"))


def test_missing_file_raises_file_not_found_error(tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        mx.recordio.MXRecordIO(tmp_path / "none.rec", "r")


@pytest.mark.deep
def test_too_long_record_is_rejected(tmp_path) -> None:
    record = mx.recordio.MXRecordIO(tmp_path / "x.rec", "w")
    record.write(b"before")
    with pytest.raises(mx.MXNetError, match="only accept record less than 2"):
        record.write(bytes(1 << 29))
    record.write(b"after")
    record.close()
    assert everything(mx.recordio.MXRecordIO(tmp_path / "x.rec", "r")) == [b"before", b"after"]


def test_existing_file_is_replaced_on_close(tmp_path) -> None:
    path = written(tmp_path / "a.rec", [b"old"])
    record = mx.recordio.MXRecordIO(path, "w")
    record.write(b"new")
    assert everything(mx.recordio.MXRecordIO(path, "r")) == [b"old"]
    record.reset()
    record.write(b"newer")
    record.close()
    record.close()
    assert everything(mx.recordio.MXRecordIO(path, "r")) == [b"newer"]


def test_unclosed_writer_is_finished_at_exit(tmp_path) -> None:
    program = (
        "import sys, recordmill.compat.mxnet as mx\nr = mx.recordio.MXRecordIO(sys.argv[1], 'w')\nr.write(b'saved')"
    )
    path = str(tmp_path / "left.rec")
    subprocess.run([sys.executable, "-c", program, path], check=True, env=os.environ)
    assert everything(mx.recordio.MXRecordIO(path, "r")) == [b"saved"]


def test_pickled_reader_starts_again(tmp_path) -> None:
    record = mx.recordio.MXRecordIO(written(tmp_path / "a.rec"), "r")
    record.read()
    copy = pickle.loads(pickle.dumps(record))
    assert copy.read() == PAYLOADS[0] and record.read() == PAYLOADS[1]


def test_writer_cannot_be_pickled(tmp_path) -> None:
    record = mx.recordio.MXRecordIO(tmp_path / "a.rec", "w")
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(record)
    record.close()


def in_a_child(record, results) -> None:
    try:
        results.put(record.read() if not record.writable else record.write(b"child"))
    except RuntimeError as error:
        results.put(str(error))


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forked_reader_continues_and_writer_raises(tmp_path) -> None:
    fork = multiprocessing.get_context("fork")
    reader, results = mx.recordio.MXRecordIO(written(tmp_path / "a.rec"), "r"), fork.Queue()
    reader.read()
    writer = mx.recordio.MXRecordIO(tmp_path / "b.rec", "w")
    writer.write(b"parent")
    for record, expected in ((reader, PAYLOADS[1]), (writer, "Forbidden operation in multiple processes")):
        child = fork.Process(target=in_a_child, args=(record, results))
        child.start()
        assert results.get(timeout=60) == expected
        child.join()
    assert reader.read() == PAYLOADS[1]
    writer.close()
    assert everything(mx.recordio.MXRecordIO(tmp_path / "b.rec", "r")) == [b"parent"]


def test_failed_payload_writer_leaves_no_file(tmp_path) -> None:
    def fail() -> None:
        with rm.PayloadWriter(tmp_path / "x.bin", format="tfrecord") as writer:
            writer.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_writer_needs_an_existing_folder(tmp_path) -> None:
    for make in (
        lambda: mx.recordio.MXRecordIO(tmp_path / "none" / "a.rec", "w"),
        lambda: mx.recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "none" / "a.rec", "w"),
    ):
        with pytest.raises(FileNotFoundError, match="none") as caught:
            make()
        assert isinstance(caught.value, mx.MXNetError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("offset", ["-4", str(2**64), "0.5"])
def test_invalid_offset_of_index_is_rejected(offset, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    record = mx.recordio.MXRecordIO("a.rec", "w")
    record.write(b"x" * 30)
    record.close()
    Path("a.idx").write_text(f"7\t{offset}\n")
    with pytest.raises(mx.MXNetError, match="index file"):
        mx.io.ImageRecordIter(path_imgrec="a.rec", path_imgidx="a.idx", data_shape=(3, 4, 4), batch_size=1)
    if offset == "-4":
        with pytest.raises(mx.MXNetError, match="-4 for key 7"):
            mx.recordio.MXIndexedRecordIO("a.idx", "a.rec", "r").read_idx(7)

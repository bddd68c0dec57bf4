"""Failures of `pack`: errors that name the file and the cause, skipped items, and no incomplete shards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from recordmill.errors import ImageError, LimitError, WriteError
from recordmill.formats.registry import get_format
from recordmill.packing.options import Check, ImageOptions, OutputOptions, RecordOptions, RunOptions
from recordmill.packing.pack import pack
from recordmill.packing.pack_files import FilePacker
from recordmill.packing.progress import Progress
from recordmill.packing.recode import Encoding
from recordmill.packing.sources import ImageFolder, ImagePairs, LabelFile, ListFile
from recordmill.storage.base import Storage
from recordmill.testing.storage import FaultyStorage, MemoryStorage
from tests.images import encode_image
from tests.packing.helpers import smooth_jpeg


def list_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def break_image(folder: Path, kind: str) -> Path:
    path = folder / "05.jpg"
    if kind in ("missing", "folder", "dangling"):
        path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "dangling":
        path.symlink_to(folder / "nowhere.jpg")
    elif kind != "missing":
        path.write_bytes({"empty": b"", "text": b"<html>not found</html>", "cut": smooth_jpeg(5, 60, 60)[:700]}[kind])
    return path


CAUSES = {
    "missing": "No such file",
    "folder": "directory",
    "dangling": "No such file",
    "empty": "the file is empty",
    "text": "the file is not an image: it starts with the bytes 3c 68",
}


def list_images(folder: Path, tmp_path: Path) -> LabelFile:
    path = tmp_path / "label.txt"
    path.write_text("".join(f'{{"{index:02}.jpg": {index}}}\n' for index in range(12)))
    return LabelFile(path, root=folder)


@pytest.mark.parametrize("kind", CAUSES)
@pytest.mark.parametrize("workers", [1, 3])
def test_pack_error_names_unusable_image_and_its_line(
    flat_folder: Path, tmp_path: Path, kind: str, workers: int
) -> None:
    path, source = break_image(flat_folder, kind), list_images(flat_folder, tmp_path)
    with pytest.raises(ImageError) as caught:
        pack(source, tmp_path / "out/train", shards=2, workers=workers)
    text = str(caught.value)
    assert CAUSES[kind] in text and str(path) in text and "label.txt, line 6" in text and 'on_error="skip"' in text
    assert list_files(tmp_path / "out") == []


@pytest.mark.parametrize("kind", CAUSES)
def test_pack_skip_reports_unusable_image(flat_folder: Path, tmp_path: Path, kind: str) -> None:
    path, source = break_image(flat_folder, kind), list_images(flat_folder, tmp_path)
    result = pack(source, tmp_path / "out/train", shards=2, on_error="skip", workers=2)
    assert result.num_records == 11 and result.num_skipped == 1
    assert result.skipped[0][0] == str(path) and CAUSES[kind] in result.skipped[0][1]
    assert result.to_json()["skipped"] == [{"path": str(path), "cause": result.skipped[0][1]}]


def test_pack_detects_truncated_image_only_by_decoding(flat_folder: Path, tmp_path: Path) -> None:
    path, source = break_image(flat_folder, "cut"), list_images(flat_folder, tmp_path)
    for number, check in enumerate(["signature", "header", "none", True, False]):
        assert pack(source, tmp_path / f"{number}/train", check=check).num_records == 12
    with pytest.raises(ImageError, match=f"truncated.*\n.*{path}"):
        pack(source, tmp_path / "decode/train", check="decode")
    skipped = pack(source, tmp_path / "skip/train", check="decode", on_error="skip").skipped
    assert [name for name, cause in skipped if "\n" not in cause] == [str(path)]
    with pytest.raises(ImageError, match="truncated"):
        pack(source, tmp_path / "encode/train", encode="jpeg")


def test_pack_check_signature_detects_files_of_other_types(tmp_path: Path) -> None:
    tiff = encode_image(Image.new("L", (3, 3)), "TIFF")
    images = [encode_image(Image.new("L", (3, 3)), encoding) for encoding in ("PNG", "GIF", "BMP", "WEBP")]
    images += [smooth_jpeg(1), tiff, b"MM\0*" + tiff[4:]]
    others = [b"", b"\xff\xd8\xff", b"<!DOCTYPE html>", b"RIFF1234WAVEfmt ", b"\x89PNG\n\x1a\n\0\0\0\0\0\0", bytes(20)]
    for number, data in enumerate([*images, *others]):
        (tmp_path / f"{number:02}.jpg").write_bytes(data)
    result = pack(ImageFolder(tmp_path, labels=None), tmp_path / "out/train", on_error="skip")
    assert result.num_records == len(images)
    assert [int(Path(path).stem) for path, _ in result.skipped] == list(range(len(images), len(images + others)))


def test_pack_without_check_stores_any_file(flat_folder: Path, tmp_path: Path) -> None:
    break_image(flat_folder, "text")
    assert pack(list_images(flat_folder, tmp_path), tmp_path / "out/train", check="none").num_records == 12
    break_image(flat_folder, "missing")
    with pytest.raises(ImageError, match="No such file"):
        pack(list_images(flat_folder, tmp_path), tmp_path / "out2/train", check="none")


def test_pack_reports_skipped_images_in_order_of_source(flat_folder: Path, tmp_path: Path) -> None:
    for index in (9, 2, 7):
        (flat_folder / f"{index:02}.jpg").write_bytes(b"")
    result = pack(
        ImageFolder(flat_folder, labels=None), tmp_path / "a", on_error="skip", shuffle=1, workers=3, shards=3
    )
    assert [Path(path).name for path, _ in result.skipped] == ["02.jpg", "07.jpg", "09.jpg"]


def test_pack_rejects_empty_ofrecord_shard_after_skipping(flat_folder: Path, tmp_path: Path) -> None:
    for index in (0, 1):
        (flat_folder / f"{index:02}.jpg").write_bytes(b"")
    with pytest.raises(ImageError, match="all images of a shard were skipped"):
        pack(ImageFolder(flat_folder, labels=None), tmp_path / "out/part", format="ofrecord", shards=6, on_error="skip")
    assert list_files(tmp_path / "out") == []


def test_pack_error_names_unreadable_mask(voc: Path, tmp_path: Path) -> None:
    path = voc / "SegmentationClass/2007_0.png"
    path.write_bytes(path.read_bytes()[:90])
    with pytest.raises(ImageError, match=r"2007_0\.png"):
        pack(ImagePairs.voc(voc), tmp_path / "out/train", mask="raw")
    result = pack(ImagePairs.voc(voc), tmp_path / "out/train", mask="raw", on_error="skip")
    assert result.num_records == 3 and [name for name, _ in result.skipped] == [str(path)]


@pytest.mark.parametrize("encode, side", [("jpeg", 2000), ("png", 300), ("jpeg", 2), ("webp", 1)])
def test_pack_reports_image_that_resizing_makes_too_large(
    flat_folder: Path, tmp_path: Path, encode: Encoding, side: int
) -> None:
    Image.new("L", (65_500, 1)).save(flat_folder / "05.jpg")
    result = pack(list_images(flat_folder, tmp_path), tmp_path / "out/x", encode=encode, resize=side, on_error="skip")
    ((path, cause),) = result.skipped
    assert path.endswith("05.jpg") and "too large" in cause and "expected at most" in cause
    assert result.num_records == 11


@pytest.mark.parametrize("error", [LimitError("the image is too large", kind="limit_exceeded"), MemoryError()])
def test_pack_reports_images_that_exceed_limits_or_memory(
    flat_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(data: object, recoding: object) -> None:
        raise error

    monkeypatch.setattr("recordmill.packing.records.recode_image", fail)
    result = pack(list_images(flat_folder, tmp_path), tmp_path / "out/x", encode="jpeg", on_error="skip")
    assert len(result.skipped) == 12 and result.skipped[5][0].endswith("05.jpg")


@pytest.mark.parametrize("check", ["header", "decode"])
@pytest.mark.parametrize("mask", ["other size", "cut"])
def test_pack_check_validates_masks(voc: Path, tmp_path: Path, check: Check, mask: str) -> None:
    source = ImagePairs.voc(voc)
    rows = source.rows()
    path = Path(rows.mask_paths()[1])
    image = Image.open(path)
    image.load()
    if mask == "cut":
        path.write_bytes(path.read_bytes()[:-40])
    else:
        image.resize((image.width + 1, image.height)).save(path)
    assert pack(source, tmp_path / "unseen/x").num_records == len(rows)
    result = pack(source, tmp_path / "out/x", check=check, on_error="skip")
    skipped = [name for name, _ in result.skipped]
    assert skipped == ([] if (check, mask) == ("header", "cut") else [str(path)])
    if mask == "other size":
        assert f"the mask has {image.height} x {image.width + 1} pixels" in result.skipped[0][1]


def test_pack_rejects_resized_pair_of_different_sizes(voc: Path, tmp_path: Path) -> None:
    source = ImagePairs.voc(voc)
    path = Path(source.rows().mask_paths()[0])
    with Image.open(path) as image:
        image.resize((image.width * 3, image.height)).save(path)
    with pytest.raises(ImageError, match="the mask has"):
        pack(source, tmp_path / "out/x", encode="png", resize=20)


def test_pack_error_names_line_of_missing_image(flat_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.lst"
    path.write_text("0\t1\t00.jpg\n1\t1\tgone.jpg\n")
    with pytest.raises(ImageError, match=rf"(?s)No such file.*gone\.jpg.*{path}, line 2"):
        pack(ListFile(path, root=flat_folder), tmp_path / "out/a.rec", format="recordio", worker_kind="processes")
    assert list_files(tmp_path / "out") == []


def test_pack_leaves_no_files_after_interrupt_in_progress_function(flat_folder: Path, tmp_path: Path) -> None:
    def interrupt(num_records: int, total: int | None) -> None:
        raise KeyboardInterrupt

    for workers in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            pack(
                ImageFolder(flat_folder, labels=None), tmp_path / "out/t", shards=3, workers=workers, progress=interrupt
            )
    assert list_files(tmp_path / "out") == []


SCRIPT = """
import sys, time
from recordmill.packing import pack_files
from recordmill.packing.pack import pack
from recordmill.packing.chunks import ChunkLimits
from recordmill.packing.sources import ImageFolder
if __name__ == "__main__":
    pack_files.COPY_LIMITS = ChunkLimits(1, 1)
    def slow(num_records, total):
        print(num_records, flush=True)
        time.sleep({pause})
    pack(ImageFolder(sys.argv[1], labels=None), sys.argv[2] + "/train", progress=slow, shards=2, {options})
"""


def start(tmp_path: Path, folder: Path, options: str, pause: float = 0.2) -> subprocess.Popen:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(options=options, pause=pause))
    command = [sys.executable, str(script), str(folder), str(tmp_path / "out")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


@pytest.mark.parametrize("options", ["format='recordio'", "workers=2", "workers=2, worker_kind='processes'"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_killed_or_interrupted_pack_leaves_no_shard_under_final_name(
    flat_folder: Path, tmp_path: Path, options: str, number: signal.Signals
) -> None:
    process = start(tmp_path, flat_folder, options)
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() and process.stdout.readline()
    os.killpg(process.pid, number)
    assert process.wait(30) != 0
    stderr = process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    files = list_files(tmp_path / "out")
    if number == signal.SIGINT:
        assert files == [] and stderr.rstrip().endswith("KeyboardInterrupt")
    else:
        assert files and all(Path(name).name.startswith(".") for name in files)


@pytest.mark.parametrize("workers", [1, 2])
def test_pack_error_names_shard_when_disk_is_full(flat_folder: Path, tmp_path: Path, workers: int) -> None:
    script = tmp_path / "full.py"
    script.write_text(
        "import resource, signal, sys\n"
        "from recordmill.errors import WriteError\n"
        "from recordmill.packing.pack import pack\n"
        "from recordmill.packing.sources import ImageFolder\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "try:\n"
        "    pack(ImageFolder(sys.argv[1], labels=None), sys.argv[2] + '/train', shards=2, workers=int(sys.argv[3]))\n"
        "except WriteError as error:\n"
        "    print(error.shard, error)\n"
    )
    command = [sys.executable, str(script), str(flat_folder), str(tmp_path / "out"), str(workers)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (
        result.stdout.startswith(str(tmp_path / "out/train-0000")) and "cannot write: File too large" in result.stdout
    )
    assert list_files(tmp_path / "out") == []


def test_pack_raises_write_error_when_worker_process_is_killed(flat_folder: Path, tmp_path: Path) -> None:
    process = start(tmp_path, flat_folder, "worker_kind='processes', workers=2", pause=0.5)
    assert process.stdout is not None and process.stderr is not None and process.stdout.readline()
    pids = [int(name) for name in os.listdir("/proc") if name.isdecimal() and _is_spawned_by(process.pid, name)]
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    assert process.wait(30) != 0
    stderr = process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    assert "a worker process ended unexpectedly" in stderr and list_files(tmp_path / "out") == []


@pytest.mark.parametrize(
    "outputs", [OutputOptions(shards=2), OutputOptions(max_shard_bytes=3000)], ids=["dealt", "rolling"]
)
def test_pack_leaves_no_file_after_any_failed_storage_operation(flat_folder: Path, outputs: OutputOptions) -> None:
    items = ImageFolder(flat_folder, labels=None).rows()

    def pack_to(storage: Storage) -> None:
        options = RecordOptions(), ImageOptions(), RunOptions()
        packer = FilePacker(items, "out/part", get_format("recordio"), outputs, *options, storage)
        packer.run(None, Progress(len(items), None))

    complete = MemoryStorage()
    recorder = FaultyStorage(complete)
    pack_to(recorder)
    num_failed = 0
    for fail_at, operation in enumerate(recorder.operations):
        storage = MemoryStorage()
        try:
            pack_to(FaultyStorage(storage, fail_at, lambda path: WriteError("cannot write", shard=path)))
        except WriteError:
            num_failed += 1
            assert not [path for path in storage.files if not path.endswith(".lock")], operation
            pack_to(storage)
        assert {path: storage.files[path] for path in complete.files} == complete.files, operation
        assert set(storage.files) - set(complete.files) <= {"out/.part.lock"}, operation
    assert num_failed >= 16


def test_worker_processes_end_when_parent_is_killed(flat_folder: Path, tmp_path: Path) -> None:
    process = start(tmp_path, flat_folder, "worker_kind='processes', workers=2", pause=0.5)
    assert process.stdout is not None and process.stderr is not None and process.stdout.readline()
    workers = [name for name in os.listdir("/proc") if name.isdecimal() and _is_spawned_by(process.pid, name)]
    process.kill()
    assert workers and process.wait(30) == -signal.SIGKILL
    process.stdout.read()  # Returns when all processes that can write to it have ended.
    process.stdout.close()
    process.stderr.close()


def _is_spawned_by(parent: int, name: str) -> bool:
    try:
        status = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        return int(status[1]) == parent and "spawn_main" in Path(f"/proc/{name}/cmdline").read_text()
    except OSError:
        return False

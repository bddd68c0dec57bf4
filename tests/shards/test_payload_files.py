"""PayloadReader and PayloadWriter: one file of any name, in every format, record by record."""

from __future__ import annotations

import pickle

import pytest

import recordmill as rm

PAYLOADS = [b"", b"a", bytes(5000), b"last"] * 90
FORMATS = ["tfrecord", "recordio", "ofrecord"]


def written(path, format_, payloads):
    with rm.PayloadWriter(path, format=format_) as writer:
        for payload in payloads:
            writer.write(payload)
    return writer


@pytest.mark.parametrize("format_", FORMATS)
def test_payload_reader_reads_from_start_and_after_seek(format_, tmp_path) -> None:
    payloads = [payload or b"-" for payload in PAYLOADS]
    writer = written(tmp_path / "any.name", format_, payloads)
    assert writer.num_records == len(payloads) and writer.tell() == (tmp_path / "any.name").stat().st_size
    with rm.PayloadReader(tmp_path / "any.name", format=format_) as reader:
        assert list(iter(reader.read, None)) == payloads and reader.read() is None
        for place in (0, 7, len(payloads) - 1):
            reader.seek(int(writer.offsets[place]))
            assert reader.tell() == writer.offsets[place] and reader.read() == payloads[place]
    with pytest.raises(ValueError, match="closed"):
        reader.read()


def test_pickled_payload_reader_continues(tmp_path) -> None:
    written(tmp_path / "a.rec", "recordio", PAYLOADS)
    reader = rm.PayloadReader(tmp_path / "a.rec")
    taken = [reader.read() for _ in range(5)]
    copy = pickle.loads(pickle.dumps(reader))
    assert taken == PAYLOADS[:5] and list(iter(copy.read, None)) == PAYLOADS[5:] == list(iter(reader.read, None))


def test_payload_reader_raises_repeatedly_at_damaged_frame(tmp_path) -> None:
    writer = written(tmp_path / "a.rec", "recordio", PAYLOADS)
    path = tmp_path / "a.rec"
    data = bytearray(path.read_bytes())
    place = 301
    data[writer.offsets[place]] ^= 1
    path.write_bytes(data)
    reader = rm.PayloadReader(path)
    assert [reader.read() for _ in range(place)] == PAYLOADS[:place]
    for _ in range(2):
        with pytest.raises(rm.DamageError) as caught:
            reader.read()
        assert caught.value.offset == writer.offsets[place] and caught.value.shard == str(path)
    reader.seek(int(writer.offsets[place + 1]))
    assert reader.read() == PAYLOADS[place + 1]


def test_payload_reader_continues_after_damaged_payload(tmp_path) -> None:
    writer = written(tmp_path / "a.tfrecord", "tfrecord", PAYLOADS)
    path, place = tmp_path / "a.tfrecord", 5
    data = bytearray(path.read_bytes())
    data[writer.offsets[place] + 12] ^= 1
    path.write_bytes(data)
    reader = rm.PayloadReader(path)
    assert [reader.read() for _ in range(place)] == PAYLOADS[:place]
    for _ in range(2):
        with pytest.raises(rm.ChecksumError) as caught:
            reader.read()
        assert caught.value.offset == writer.offsets[place] and caught.value.kind == "payload_checksum"
    reader.seek(int(writer.offsets[place + 1]))
    assert reader.read() == PAYLOADS[place + 1]


def test_image_sizes_equal_sizes_of_decoded_images() -> None:
    from tests.compat.mxnet.programs import NUM_IMAGES
    from tests.golden import RECORDINGS

    with rm.ShardReader(RECORDINGS / "compat" / "mxnet" / "images.rec", index="never") as reader:
        images = [payload[24:] for payload in reader]
    assert len(images) == NUM_IMAGES
    for orientation in ("ignore", "apply"):
        sizes = rm.image_sizes([*images, b"no image"], orientation=orientation)
        decoded = [rm.decode_image(image, orientation=orientation).shape[:2] for image in images]
        assert sizes.tolist() == [*map(list, decoded), [0, 0]]

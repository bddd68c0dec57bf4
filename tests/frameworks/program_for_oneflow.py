"""A program as people wrote it for OneFlow: parts of records, readers, decoders, crops. It prints what it finds."""

import hashlib
import io
import os
import struct

import numpy as np
import oneflow as flow
import oneflow.core.record.record_pb2 as ofrecord
from PIL import Image


def tell(array):
    """Shape, dtype and a hash."""
    array = np.ascontiguousarray(array)
    return array.shape, array.dtype.name, hashlib.sha256(array.tobytes()).hexdigest()[:16]


def scene(number, height, width):
    """JPEG of a slope and a disc."""
    y, x = np.mgrid[:height, :width]
    inside = (x - 30) ** 2 + (y - 25) ** 2 < (9 + number) ** 2
    pixels = np.stack([x * 2 + number, y * 3, 120 * inside + number * 9], axis=-1).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=92)
    return out.getvalue()


def bytes_feature(value):
    """Feature of one byte string."""
    return ofrecord.Feature(bytes_list=ofrecord.BytesList(value=[value]))


def int32_feature(value):
    """Feature of one whole number."""
    return ofrecord.Feature(int32_list=ofrecord.Int32List(value=[value]))


os.mkdir("parts")
for part in range(2):
    with open(f"parts/part-{part}", "wb") as file:
        for place in range(4):
            number = 4 * part + place
            row = ofrecord.OFRecord(
                feature={
                    "images": bytes_feature(scene(number, 60 + 5 * number, 70 + 3 * number)),
                    "labels": int32_feature(number),
                    "box": ofrecord.Feature(float_list=ofrecord.FloatList(value=[number, 0.5, -1.25])),
                    "words": ofrecord.Feature(bytes_list=ofrecord.BytesList(value=[b"ab\x80"])),
                }
            )
            data = row.SerializeToString(deterministic=True)
            file.write(struct.pack("q", len(data)))
            file.write(data)
            if number == 3:
                again = ofrecord.OFRecord.FromString(data)
                print(again == row, sorted(again.feature), again.feature["labels"].WhichOneof("kind"))

with open("parts/part-0", "rb") as file:
    length = struct.unpack("q", file.read(8))[0]
    first = ofrecord.OFRecord()
    first.ParseFromString(file.read(length))
    print(length, first.feature["labels"].int32_list.value[0], len(first.feature["images"].bytes_list.value[0]))

for options in (
    {},
    {"shuffle_after_epoch": True},
    {"random_shuffle": True, "random_seed": 7, "shuffle_buffer_size": 3},
):
    reader = flow.nn.OFRecordReader("parts", batch_size=3, data_part_num=2, **options)
    decode = flow.nn.OFRecordRawDecoder("labels", shape=(1,), dtype=flow.int32)
    print(options, [decode(reader()).numpy().ravel().tolist() for _ in range(6)])

reader = flow.nn.OFRecordReader("parts", batch_size=4, data_part_num=2)
box = flow.nn.OFRecordRawDecoder("box", shape=(3,), dtype=flow.float)
words = flow.nn.OFRecordRawDecoder("words", shape=(3,), dtype=flow.int8)
encoded = flow.nn.OFRecordBytesDecoder("images")
pixels = flow.nn.OFRecordImageDecoder("images", color_space="RGB")
resize = flow.nn.image.Resize(target_size=(24, 32), channels=3)
normal = flow.nn.CropMirrorNormalize(
    color_space="RGB", output_layout="NCHW", mean=[123.68, 116.779, 103.939], std=[58.393, 57.12, 57.375]
)
coin = flow.nn.CoinFlip(4, random_seed=5)
for _ in range(2):
    rows = reader()
    print(box(rows).numpy().tolist(), words(rows).numpy().tolist())
    tensor = encoded(rows)
    raw = tensor.numpy()
    print(tuple(tensor.shape), [bytes(one)[:3] for one in raw], [len(one) for one in raw])
    decoded = pixels(rows)
    print([tell(one) for one in decoded.numpy()])
    small = resize(decoded)[0]
    print(tell(small.numpy()))
    print(tell(normal(small).numpy()), normal(small, coin()).numpy().shape)

# 60 x 70 comes out at a half.
for options in ({"target_size": 21}, {"target_size": 20, "resize_side": "longer", "min_size": 18}):
    reader = flow.nn.OFRecordReader("parts", batch_size=4, data_part_num=2)
    sided, scale, sizes = flow.nn.image.Resize(keep_aspect_ratio=True, **options)(pixels(reader()))
    print([tell(one) for one in sided.numpy()], scale.numpy().tolist(), sizes.numpy().tolist())

crop = flow.nn.OFRecordImageDecoderRandomCrop("images", color_space="RGB", random_seed=3)
reader = flow.nn.OFRecordReader("parts", batch_size=4, data_part_num=2)
print(len(crop(reader()).numpy()))

"""Functions of older programs, global functions, result types, namespaces and unsupported names."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill.compat.oneflow as flow
import recordmill.compat.oneflow.typing as tp
from recordmill.compat.oneflow import record_pb2
from tests.compat.oneflow.parts import PICTURES, frame, labels_of, message, write_labels


class Loader(flow.nn.Module):
    """A data loader as in OneFlow's model zoo."""

    def __init__(self, folder: str, batch_size: int) -> None:
        super().__init__()
        self.reader = flow.nn.OfrecordReader(
            folder, batch_size=batch_size, data_part_num=2, part_name_suffix_length=-1, placement=None, sbp=None
        )
        self.label = flow.nn.OfrecordRawDecoder("labels", shape=(1,), dtype=flow.int32)

    def forward(self) -> Any:
        return self.label(self.reader())


@pytest.fixture
def folder(tmp_path: Path) -> str:
    write_labels(tmp_path, [3, 3])
    return str(tmp_path)


def read_labels(folder: str) -> Any:
    records = flow.data.ofrecord_reader(folder, batch_size=2, data_part_num=2)
    return flow.data.OFRecordRawDecoder(records, "labels", shape=(), dtype=flow.int32)


def test_reader_function_returns_next_batch_per_call_site(folder: str) -> None:
    batches = [labels_of(flow.data.ofrecord_reader(folder, batch_size=2)) for _ in range(3)]
    other = flow.data.ofrecord_reader(folder, batch_size=2)
    assert batches == [[0, 1], [2, 0], [1, 2]] and labels_of(other) == [0, 1]


def load_images(folder: str) -> tuple[Any, Any]:
    """Return images and labels as an older training program reads them."""
    records = flow.data.ofrecord_reader(folder, batch_size=3, data_part_num=1, shuffle_after_epoch=True)
    image = flow.data.OFRecordImageDecoderRandomCrop(records, "images", color_space="GRAY", seed=1)
    label = flow.data.OFRecordRawDecoder(records, "labels", shape=(1,), dtype=flow.int32)
    resized, scale, _ = flow.image.Resize(image, target_size=(8, 8), channels=1)
    coins = flow.random.CoinFlip(batch_size=3, seed=2, name="coins")
    normal = flow.image.CropMirrorNormalize(resized, mirror_blob=coins, color_space="GRAY", mean=[0.0], std=[255.0])
    assert scale.shape == (3, 2)
    return normal, label


def test_functions_return_results_of_modules(tmp_path: Path) -> None:
    names = ("png_RGB", "jpeg_0", "png_L", "bmp")
    with np.load(PICTURES) as pictures:
        rows = [message(images=pictures[name].tobytes(), labels=label) for label, name in enumerate(names)]
    (tmp_path / "part-0").write_bytes(b"".join(map(frame, rows)))
    reader = flow.nn.OFRecordReader(str(tmp_path), batch_size=3, shuffle_after_epoch=True)
    crop = flow.nn.OFRecordImageDecoderRandomCrop("images", color_space="GRAY", random_seed=1)
    resize, coins = flow.nn.image.Resize((8, 8), channels=1), flow.nn.CoinFlip(3, random_seed=2)
    normalize = flow.nn.CropMirrorNormalize(color_space="GRAY", mean=[0.0], std=[255.0])
    for expected in ([0, 1, 2], [3, 0, 1], [2, 3, 0]):
        images, labels = load_images(str(tmp_path))
        assert labels.numpy().ravel().tolist() == expected
        assert images.shape == (3, 1, 8, 8) and images.dtype == flow.float
        assert np.array_equal(images, normalize(resize(crop(reader()))[0], coins()))


def test_decoder_functions_accept_positional_arguments_in_oneflow_order(tmp_path: Path) -> None:
    with np.load(PICTURES) as pictures:
        data = pictures["png_RGB"].tobytes()
    (tmp_path / "part-0").write_bytes(frame(message(images=data, labels=7)))
    records = flow.data.ofrecord_reader(str(tmp_path))
    assert flow.data.OFRecordBytesDecoder(records, "images").numpy()[0].tobytes() == data
    decoded = flow.data.OFRecordImageDecoder(records, "images", "RGB").numpy()[0]
    assert np.array_equal(decoded, flow.nn.OFRecordImageDecoder("images", "RGB")(records).numpy()[0])
    padded = flow.data.OFRecordRawDecoder(records, "labels", (2,), flow.int32, False, True)
    assert padded.numpy().tolist() == [[7, 0]]


@pytest.mark.parametrize("options", [{"unknown": 1}, {"input_blob": 2}])
def test_function_raises_for_unknown_or_repeated_argument(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="|".join(options)):
        flow.data.OFRecordBytesDecoder("records", "images", **options)


@pytest.mark.parametrize(
    "function, module, renamed",
    [
        (flow.data.ofrecord_reader, flow.nn.OFRecordReader, {}),
        (flow.data.OFRecordRawDecoder, flow.nn.OFRecordRawDecoder, {}),
        (flow.data.OFRecordImageDecoderRandomCrop, flow.nn.OFRecordImageDecoderRandomCrop, {"seed": "random_seed"}),
        (flow.image.Resize, flow.nn.image.Resize, {}),
        (flow.image.CropMirrorNormalize, flow.nn.CropMirrorNormalize, {}),
        (flow.random.CoinFlip, flow.nn.CoinFlip, {"seed": "random_seed"}),
    ],
)
def test_function_offers_all_options_of_its_module(function: Any, module: Any, renamed: dict[str, str]) -> None:
    offered = {renamed.get(name, name) for name in inspect.signature(function).parameters}
    assert set(inspect.signature(module).parameters) - {"device", "placement", "sbp"} <= offered


def test_module_accepts_only_the_cpu(folder: str) -> None:
    loader = Loader(folder, 2)
    assert loader.to("cpu") is loader and loader.cpu() is loader and loader.train().eval() is loader
    for move in (lambda: loader.to("cuda"), loader.cuda, lambda: loader().to(device="cuda:1")):
        with pytest.raises(NotImplementedError, match="device='cuda"):
            move()


@pytest.mark.parametrize("kind", ["array", "tuple", "list", "dict"])
def test_global_function_without_annotation_returns_result_with_get(folder: str, kind: str) -> None:
    def arrange(label: Any) -> Any:
        return {"array": label, "tuple": (label, label), "list": [label], "dict": {"label": label}}[kind]

    job = flow.global_function()(lambda: arrange(read_labels(folder)))
    found, received = job(), list[Any]()
    result = found.get()
    found.async_get(received.append)
    assert received[0] is found and result is found
    first = {"array": lambda: result, "dict": lambda: result["label"]}.get(kind, lambda: result[0])()
    assert first.numpy().tolist() == [0, 1]
    if kind == "dict":
        assert found.get("label") is first and found.get("other", 3) == 3


def test_global_function_with_annotation_returns_arrays_of_next_batch(folder: str) -> None:
    @flow.global_function(type="predict", function_config=None)
    def job(scale: tp.Numpy.Placeholder((1,), dtype=flow.float)) -> tuple[tp.Numpy, Any]:  # type: ignore[valid-type]
        with flow.scope.placement("cpu", "0:0"):
            records = flow.data.ofrecord_reader(folder, batch_size=2, data_part_num=2)
            label = flow.data.OFRecordRawDecoder(records, "labels", shape=(), dtype=flow.int32)
            return label * scale, {"images": flow.data.OFRecordBytesDecoder(records, "images")}

    write_images(Path(folder))
    first, second = job(3), job(1)
    assert type(first[0]) is np.ndarray and [first[0].tolist(), second[0].tolist()] == [[0, 3], [2, 3]]
    assert bytes(first[1]["images"][0]) == b"ab" and job.__name__ == "job"


def write_images(folder: Path) -> None:
    for part in range(2):
        rows = [frame(message(labels=2 * part + row, images=b"ab")) for row in range(2)]
        (folder / f"part-{part}").write_bytes(b"".join(rows))


def test_global_function_can_be_used_without_parentheses() -> None:
    assert flow.global_function(lambda: {"a": [1]})() == {"a": [1]}


def test_global_function_and_placement_raise_for_training_and_gpu() -> None:
    with pytest.raises(NotImplementedError, match="must be 'predict', got 'train'"):
        flow.global_function(type="train")
    with (
        pytest.raises(NotImplementedError, match="device_tag must be 'cpu', got 'gpu'"),
        flow.scope.placement("gpu", "0:0-1"),
    ):
        pass


def test_settings_of_older_programs_have_no_effect() -> None:
    assert flow.config.gpu_device_num(1) is None
    assert flow.__version__ == "0.9.0" and flow.double == np.float64


@pytest.mark.parametrize(
    "name, hint",
    [
        ("tensor", "use numpy"),
        ("manual_seed", "pass random_seed"),
        ("float16", "double"),
        ("sbp", "omit it"),
        ("placement", "omit it"),
        ("no_grad", "omit it"),
        ("FunctionConfig", "global_function needs no settings"),
        ("tensor_buffer_to_tensor", r"numpy\.stack"),
        ("nn.Linear", "this package only loads data"),
        ("nn.image.batch_align", "use Resize"),
        ("image.decode", "OFRecordImageDecoder"),
        ("data.decode_ofrecord", "ofrecord_reader"),
        ("data.BlobConf", "ofrecord_reader and the decoders"),
        ("data.ofrecord_bytes_decoder", "OFRecordBytesDecoder"),
        ("data.image_decoder_random_crop_resize", "OFRecordImageDecoderRandomCrop"),
        ("data.onerec_reader", "OFRecord"),
        ("env.all_device_placement", "omit it"),
        ("config.machine_num", "omit it"),
        ("scope.consistent_view", "omit it"),
        ("random.coin_flip", "CoinFlip"),
        ("typing.Callback", "omit the annotation"),
    ],
)
def test_unsupported_name_raises_error_with_hint(name: str, hint: str) -> None:
    *path, attribute = name.split(".")
    module: Any = flow
    for part in path:
        module = getattr(module, part)
    with pytest.raises(NotImplementedError, match=rf"flow\.{name} is not supported: .*{hint}") as caught:
        getattr(module, attribute)
    assert isinstance(caught.value, AttributeError) and not hasattr(module, attribute)


def test_record_messages_can_be_imported_by_the_path_of_oneflow() -> None:
    module = importlib.import_module("recordmill.compat.oneflow.core.record.record_pb2")
    assert module.OFRecord is record_pb2.OFRecord and flow.core.record.record_pb2 is module

"""Programs in the shapes that OneFlow's users published: loaders as modules, functions of the first versions."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill.compat.oneflow as flow
import recordmill.compat.oneflow.typing as tp
from recordmill.compat.oneflow import record_pb2
from tests.compat.oneflow.parts import write_labels


class Loader(flow.nn.Module):
    """As in OneFlow's model zoo."""

    def __init__(self, folder: str, batch_size: int, placement: Any = None, sbp: Any = None) -> None:
        super().__init__()
        self.reader = flow.nn.OfrecordReader(
            folder, batch_size=batch_size, data_part_num=2, part_name_suffix_length=-1, placement=placement, sbp=sbp
        )
        self.label = flow.nn.OfrecordRawDecoder("labels", shape=(1,), dtype=flow.int32)

    def forward(self) -> Any:
        return self.label(self.reader())


@pytest.fixture
def folder(tmp_path: Path) -> str:
    write_labels(tmp_path, [3, 3])
    return str(tmp_path)


def decoded(folder: str) -> Any:
    records = flow.data.ofrecord_reader(folder, batch_size=2, data_part_num=2)
    return flow.data.OFRecordRawDecoder(records, "labels", shape=(), dtype=flow.int32)


def test_loader_when_moved_to_the_processor_then_stays_and_elsewhere_is_refused(folder: str) -> None:
    loader = Loader(folder, 2)
    assert loader.to("cpu") is loader and loader.cpu() is loader and loader.train().eval() is loader
    for wrong in (lambda: loader.to("cuda"), loader.cuda, lambda: loader().to(device="cuda:1")):
        with pytest.raises(NotImplementedError, match="hand the array"):
            wrong()


def test_tensor_when_asked_as_training_loops_do_then_answers(folder: str) -> None:
    with flow.no_grad():
        labels = Loader(folder, 4)()
    assert labels.to("cpu", dtype=flow.int64).dtype == np.int64 and labels.to(device="cpu").tolist() == labels.tolist()
    assert labels.size() == (4, 1) and labels.size(0) == 4 and labels.size == 4 and labels.numel() == 4
    assert np.mean(labels) == 1.5 and labels.reshape(labels.size).shape == (4,)


@pytest.mark.parametrize("kind", ["array", "tuple", "list", "dict"])
def test_function_when_it_says_nothing_then_its_result_can_be_got_in_the_first_versions_ways(folder, kind) -> None:
    def results(label: Any) -> Any:
        return {"array": label, "tuple": (label, label), "list": [label], "dict": {"label": label}}[kind]

    job = flow.global_function()(lambda: results(decoded(folder)))
    found, seen = job(), list[Any]()
    again = found.get()
    found.async_get(seen.append)
    assert seen[0] is found and again is found
    first = {"array": lambda: again, "dict": lambda: again["label"]}.get(kind, lambda: again[0])()
    assert first.numpy().tolist() == [0, 1]
    if kind == "dict":
        assert found.get("label") is first and found.get("other", 3) == 3


def test_function_when_it_says_callback_then_takes_what_is_to_be_called(folder: str) -> None:
    @flow.global_function(type="predict")
    def job(scale: tp.Numpy.Placeholder((1,), dtype=flow.float)) -> tp.Callback[tp.Numpy]:
        return decoded(folder) * scale

    seen = list[Any]()
    job(3)(seen.append)
    assert type(seen[0]) is np.ndarray and seen[0].tolist() == [0, 3]
    job.__wrapped__.__annotations__["return"] = tp.Callback[tp.Numpy]
    flow.global_function()(job.__wrapped__)(2)(seen.append)
    assert seen[1].tolist() == [4, 6]


def test_settings_when_older_programs_make_them_then_are_taken_and_training_is_refused() -> None:
    config = flow.function_config()
    config.default_distribute_strategy(flow.scope.mirrored_view())
    config.enable_auto_mixed_precision(True)
    config.use_xla_jit(False)
    flow.config.gpu_device_num(1)
    flow.config.cpu_device_num(2)
    flow.config.enable_debug_mode(True)
    flow.enable_eager_execution(False)
    flow.clear_default_session()
    assert flow.env.init() and flow.env.get_local_rank() == 0 and flow.__version__ == "0.9.0"
    with pytest.raises(NotImplementedError, match=r"FunctionConfig\.train is not supported"):
        _ = config.train


@pytest.mark.parametrize(
    "name, hint",
    [
        ("data.decode_ofrecord", "ofrecord_reader"),
        ("data.BlobConf", "ofrecord_reader and decoders"),
        ("data.ofrecord_bytes_decoder", "OFRecordBytesDecoder"),
        ("data.image_decoder_random_crop_resize", "OFRecordImageDecoderRandomCrop"),
        ("data.ofrecord_image_classification_reader", "OFRecordImageDecoder"),
        ("data.onerec_reader", "OFRecord"),
        ("env.all_device_placement", "leave it out"),
        ("env.log_dir", "leave it out"),
        ("config.machine_num", "leave it out"),
        ("random.coin_flip", "CoinFlip"),
        ("typing.Bundle", "not supported"),
    ],
)
def test_name_when_it_is_not_here_then_says_what_to_do(name: str, hint: str) -> None:
    module, _, attribute = name.partition(".")
    with pytest.raises(NotImplementedError, match=hint):
        getattr(getattr(flow, module), attribute)


def test_messages_when_imported_by_oneflows_path_then_are_the_same() -> None:
    module = importlib.import_module("recordmill.compat.oneflow.core.record.record_pb2")
    assert module.OFRecord is record_pb2.OFRecord and flow.core.record.record_pb2 is module

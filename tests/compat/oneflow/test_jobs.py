"""Functions that were graphs give arrays; placements other than the processor are refused."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import recordmill.compat.oneflow as flow
import recordmill.compat.oneflow.typing as tp
from recordmill.compat.oneflow import record_pb2


def parts(folder: Path) -> str:
    with open(folder / "part-0", "wb") as file:
        for number in range(6):
            record = record_pb2.OFRecord()
            record.feature["label"].int32_list.value.append(number)
            record.feature["text"].bytes_list.value.append(b"ab")
            data = record.SerializeToString()
            file.write(struct.pack("q", len(data)) + data)
    return str(folder)


def test_global_function_when_called_then_gives_arrays_of_the_next_batch(tmp_path: Path) -> None:
    folder, config = parts(tmp_path), flow.FunctionConfig()
    config.default_data_type(flow.float)
    config.default_logical_view(flow.scope.consistent_view())

    @flow.global_function(type="predict", function_config=config)
    def job() -> tuple[tp.Numpy, tp.Numpy]:
        with flow.scope.placement("cpu", "0:0"):
            records = flow.data.ofrecord_reader(folder, batch_size=2)
            label = flow.data.OFRecordRawDecoder(records, "label", shape=(), dtype=flow.int32)
            return label, flow.data.OFRecordBytesDecoder(records, "text")

    first, second = job(), job()
    assert type(first[0]) is np.ndarray and [first[0].tolist(), second[0].tolist()] == [[0, 1], [2, 3]]
    assert bytes(first[1][0]) == b"ab" and job.__name__ == "job"
    assert flow.global_function(lambda: {"a": [1]})() == {"a": [1]}
    assert flow.global_function(flow.function_config())(lambda: 3)() == 3


def test_global_function_when_it_trains_or_runs_elsewhere_then_is_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match=r"flow\.global_function\(type='train'\) is not supported"):
        flow.global_function(type="train")
    place = flow.scope.placement("gpu", "0:0-1")
    with pytest.raises(NotImplementedError, match=r"flow\.scope\.placement\('gpu'\) is not supported"), place:
        pass
    with pytest.raises(NotImplementedError, match=r"flow\.sbp is not supported: leave it out"):
        _ = flow.sbp

"""Tensors under OneFlow's names, and the largest window of a random crop, as OneFlow 0.9.0 has them."""

from __future__ import annotations

import numpy as np
import pytest

import recordmill as rm
import recordmill.compat.oneflow as flow
from recordmill.compat.oneflow.image_decoders import WindowRule
from recordmill.compat.oneflow.tensors import Place, TensorBuffer, tensor_of

TENSOR = tensor_of(np.array([[0.7, -0.7, 1], [1.7, -1.7, 2]], np.float32))


def test_axes_when_two_are_named_then_are_swapped() -> None:
    assert TENSOR.transpose(0, 1).numpy().tolist() == TENSOR.numpy().T.tolist()
    assert tensor_of(np.zeros((2, 3, 4))).transpose(0, 2).shape == (4, 3, 2)
    assert TENSOR.permute(1, 0).shape == TENSOR.transpose().shape == TENSOR.transpose((1, 0)).shape == (3, 2)
    assert np.transpose(TENSOR, (0, 1)).shape == (2, 3)


def test_values_when_of_another_dtype_then_are_cut() -> None:
    assert TENSOR.to(flow.int32).numpy().tolist() == TENSOR.long().numpy().tolist() == [[0, 0, 1], [1, -1, 2]]
    assert [one.dtype for one in (TENSOR.to("cpu", flow.double), TENSOR.long().float())] == [np.float64, np.float32]
    assert TENSOR.cpu().detach().numel() == 6


def test_tensor_when_sent_to_another_device_then_it_is_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match="cuda:0"):
        TENSOR.to("cuda:0")


@pytest.mark.parametrize(
    "size, area, ratio, expected",
    [
        ((75, 101), 1.0, (0.99, 1.01), (75, 75)),
        ((100, 300), 1.0, (0.9, 1.1), (100, 110)),
        ((40, 90), 1.0, (0.99, 1.02), (40, 40)),
        ((75, 113), 0.85, (2.9, 3.0), (38, 113)),
        ((90, 40), 1.0, (0.95, 0.965), (42, 40)),
        ((50, 50), 0.4, (0.07, 0.08), (50, 4)),
        ((60, 80), 0.25, (1.33, 1.34), (30, 40)),
    ],
)
def test_window_when_no_attempt_fits_then_is_the_largest_with_sides_cut_off(size, area, ratio, expected) -> None:
    rule = WindowRule(1, (area, area), ratio)
    assert tuple(rule._largest(np.array([size[::-1]]))[0][::-1]) == expected
    window = rule.windows(np.array([size]), rm.Draws(1))
    assert ((window[0, :2] >= 0) & (window[0, :2] + window[0, 2:] <= size[::-1])).all()


def test_labels_when_shaped_and_cast_as_in_training_loops_then_keep_their_values() -> None:
    labels = tensor_of(np.array([[3], [1]], np.int32))
    assert [labels.view(-1).tolist(), labels.view((1, 2)).tolist()] == [[3, 1], [[3, 1]]]
    assert (labels.dim(), labels.unsqueeze(0).shape, labels.is_cuda) == (2, (1, 2, 1), False)
    assert [one.dtype for one in (labels.type(flow.float), labels.double(), labels.int())] == ["f4", "f8", "i4"]
    copy = labels.clone()
    copy[0] = 9
    assert labels.view(np.uint32).tolist() == [[3], [1]]
    with pytest.raises(NotImplementedError, match="cuda"):
        labels.cuda()


@pytest.mark.parametrize(
    "ask, name",
    [
        (lambda: flow.tensor([1]), r"flow\.tensor is not supported: use numpy"),
        (lambda: flow.manual_seed(1), r"flow\.manual_seed is not supported: give random_seed"),
        (lambda: flow.float16, r"flow\.float16 .* double"),
        (lambda: flow.nn.Linear(3, 4), r"flow\.nn\.Linear is not supported"),
        (lambda: flow.nn.image.batch_align(1), r"flow\.nn\.image\.batch_align"),
        (lambda: flow.data.BlobConf(1), r"flow\.data\.BlobConf"),
    ],
)
def test_name_when_oneflow_has_it_and_we_have_not_then_is_refused_by_name(ask, name) -> None:
    with pytest.raises(NotImplementedError, match=name) as caught:
        ask()
    assert isinstance(caught.value, AttributeError)
    assert not hasattr(flow, "optim")


@pytest.mark.parametrize(
    "options, size, expected",
    [
        ({"target_size": 20}, (41, 40), (20, 20)),
        ({"target_size": 20}, (43, 40), (22, 20)),
        ({"target_size": 20}, (45, 40), (22, 20)),
        ({"target_size": 20, "resize_side": "longer", "min_size": 18}, (50, 40), (22, 18)),
        ({"target_size": 20, "resize_side": "longer", "min_size": 19}, (90, 60), (28, 19)),
    ],
)
def test_side_when_it_comes_out_at_a_half_then_is_the_even_number_as_in_oneflow(options, size, expected) -> None:
    picture = TensorBuffer([np.zeros((*size[::-1], 3), np.uint8)], [Place("part-0", 0, 0)])
    _, _, new = flow.nn.image.Resize(keep_aspect_ratio=True, **options)(picture)
    assert tuple(new.numpy()[0]) == expected


@pytest.mark.parametrize("option", ["random_area", "random_aspect_ratio"])
@pytest.mark.parametrize("value", [0.5, (0.1, 0.2, 0.3), "ab"])
def test_range_of_windows_when_it_is_no_pair_then_is_refused_by_name(option, value) -> None:
    with pytest.raises(ValueError, match=f"{option} is two numbers"):
        flow.nn.OFRecordImageDecoderRandomCrop("images", **{option: value})

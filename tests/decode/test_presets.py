"""Presets against recordings of OpenCV 4.7, TensorFlow 2.21 and MXNet 1.9.1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import recordmill as rm
from recordmill.decode.geometry import build_inverse_matrices
from recordmill.decode.presets import KERNELS, PRESETS, parse_kernel

HERE = Path(__file__).parent / "recordings"
LIBRARIES = ("opencv", "tensorflow", "mxnet")
CHANNELS = {"rgb": "rgb", "grey": "gray"}  # by the words of the recordings


def load(name: str) -> dict[str, np.ndarray]:
    with np.load(HERE / f"{name}.npz") as saved:
        return {key: saved[key] for key in saved.files}


PICTURES = load("pictures")
RECORDED = {name: load(name) for name in LIBRARIES}
DECODED = [
    (library, key) for library, recorded in RECORDED.items() for key in recorded if key.startswith(("rgb_", "grey_"))
]
RESIZED = [(library, key) for library, recorded in RECORDED.items() for key in recorded if key.startswith("resize_")]


def test_recordings_cover_every_library_and_kind() -> None:
    assert {library for library, _ in DECODED} == {library for library, _ in RESIZED} == set(LIBRARIES)
    assert len(DECODED) > 100 and len(RESIZED) == 20


@pytest.mark.parametrize("library, key", DECODED)
def test_preset_decodes_like_library(library: str, key: str) -> None:
    word, _, name = key.partition("_")
    options = {"dct": "accurate"} if library == "tensorflow" else {}
    if key == "grey_jpeg_cmyk" and library == "tensorflow":
        with pytest.raises(rm.ImageError, match="luma"):
            rm.decode_image(PICTURES[name], like=library, channels=CHANNELS[word], depth="8", **options)
        return
    found = rm.decode_image(PICTURES[name], like=library, channels=CHANNELS[word], depth="8", **options)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, RECORDED[library][key])


@pytest.mark.parametrize("library, key", RESIZED)
def test_preset_resizes_like_library(library: str, key: str) -> None:
    _, kernel, height, width = key.split("_")
    found = rm.resize(PICTURES["pixels"], (int(height), int(width)), kernel=kernel, like=library)
    assert found.dtype == RECORDED[library][key].dtype
    np.testing.assert_array_equal(found, RECORDED[library][key])


@pytest.mark.parametrize("name", ["jpeg_1", "jpeg_turned_6", "png_RGB"])
def test_mxnet_batch_equals_image_record_iter(name: str) -> None:
    spec = rm.Image(
        resize=rm.Resize(shorter=11),
        crop=rm.CenterCrop((8, 10)),
        like="mxnet",
        mean=(123.68, 116.28, 103.53),
        std=(58.395, 57.12, 57.375),
        white=255.0,
    )
    batch = rm.decode_batch([PICTURES[name]], {"image": spec})["image"]
    np.testing.assert_array_equal(batch[0], RECORDED["mxnet"][f"iterated_{name}"])


def test_opencv_halving_is_mean_of_four_pixels() -> None:
    found = rm.resize(PICTURES["pixels"][:8, :12], (4, 6), like="opencv")
    np.testing.assert_array_equal(found, RECORDED["opencv"]["halved"])
    wide = PICTURES["pixels"][:8, :12].astype(int)
    total = wide[::2, ::2] + wide[1::2, ::2] + wide[::2, 1::2] + wide[1::2, 1::2]
    np.testing.assert_array_equal(found, (total + 2) // 4)


def test_opencv_default_channels_are_bgr() -> None:
    found = rm.decode_image(PICTURES["jpeg_2"], like="opencv")
    np.testing.assert_array_equal(found[:, :, ::-1], RECORDED["opencv"]["rgb_jpeg_2"])


def test_pillow_rejects_fast_dct() -> None:
    spec = rm.Image(like="tensorflow", decoder="pillow")
    with pytest.raises(rm.DecodeError, match='dct="accurate"'):
        rm.decode_batch([PICTURES["jpeg_2"]], {"image": spec})
    assert rm.decode_image(PICTURES["png_RGB"], like="tensorflow").shape == (9, 13, 3)


def test_plain_upsampling_does_not_affect_luma() -> None:
    assert (rm.decode_jpeg(PICTURES["jpeg_2"], upsampling="plain") != rm.decode_jpeg(PICTURES["jpeg_2"])).any()
    luma = rm.decode_jpeg(PICTURES["jpeg_2"], upsampling="plain", channels="gray")
    np.testing.assert_array_equal(luma, RECORDED["opencv"]["grey_jpeg_2"])


@pytest.mark.parametrize("like", PRESETS)
def test_option_overrides_preset(like: str) -> None:
    data = PICTURES["jpeg_turned_6"]
    options = {"like": like, "dct": "accurate", "orientation": "ignore", "channels": "rgb"}
    np.testing.assert_array_equal(rm.decode_image(data, **options), RECORDED["tensorflow"]["rgb_jpeg_turned_6"])
    upright = rm.decode_image(data, **{**options, "orientation": "apply"})
    np.testing.assert_array_equal(upright, RECORDED["opencv"]["rgb_jpeg_turned_6"])


@pytest.mark.parametrize("like", PRESETS)
def test_full_kernel_name_selects_other_library(like: str) -> None:
    for library, kernels in KERNELS.items():
        assert [parse_kernel(f"{library}:{kernel}", like) for kernel in kernels] == [
            f"{library}:{kernel}" for kernel in kernels
        ]
    assert parse_kernel(None, like) == f"{PRESETS[like].library}:bilinear"


@pytest.mark.parametrize("kernel, like", [("lanczos", "opencv"), ("cubic", "pillow"), ("magic:bilinear", "pillow")])
def test_unknown_kernel_error_lists_kernels(kernel: str, like: str) -> None:
    with pytest.raises(ValueError, match="pillow:lanczos"):
        rm.resize(PICTURES["pixels"], 4, kernel=kernel, like=like)
    with pytest.raises(ValueError, match="kernel must be one of"):
        rm.Image(kernel=kernel, like=like)


MODES = [
    key for key in RECORDED["tensorflow"] if key.partition("_")[0] in ("fast", "plain", "scale2", "scale4", "scale8")
]


@pytest.mark.parametrize("key", MODES)
def test_tensorflow_jpeg_modes_equal_recordings(key: str) -> None:
    word, _, name = key.partition("_")
    options = {"upsampling": "plain"} if word == "plain" else {}
    scale = int(word.removeprefix("scale")) if word.startswith("scale") else 1
    found = rm.decode_image(PICTURES[name], like="tensorflow", channels="rgb", scale=scale, **options)
    np.testing.assert_array_equal(found, RECORDED["tensorflow"][key])


def test_recordings_have_five_modes_per_jpeg() -> None:
    assert len(MODES) == 5 * sum(name.startswith("jpeg") for name in PICTURES)


@pytest.mark.parametrize("number", range(24))
def test_affine_equals_torchvision(number: int) -> None:
    recorded = load("torchvision")
    angle, right, down, scale, shear = recorded[f"numbers_{number}"]
    height, width = PICTURES["pixels"].shape[:2]
    turns = (np.deg2rad(np.array([angle])), np.array([[right, down]]), np.array([scale]), np.deg2rad(np.array([shear])))
    matrix = build_inverse_matrices(np.array([[width, height]]), *turns)[0]
    np.testing.assert_array_equal(matrix, recorded[f"matrix_{number}"])
    for kernel in ("nearest", "bilinear"):
        moved = rm.affine(PICTURES["pixels"], matrix, kernel=kernel, fill=(9, 8, 7))
        np.testing.assert_array_equal(moved, recorded[f"{kernel}_{number}"])

"""Errors for OneFlow names and options that are not supported, with hints at what to use instead."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from recordmill.suggestions import MISSPELLED, suggest_name

_NETWORKS = "this package only loads data; pass the arrays to Keras, PyTorch or JAX"
_CPU = "omit it, because records are read on the CPU and each process reads its own parts"
_READER = "use flow.data.ofrecord_reader and the decoders of flow.data"
_DTYPE = "use int8, uint8, int32, int64, float or double"
_RESIZE = "use OFRecordImageDecoderRandomCrop and image.Resize"

# Hint for each unsupported name, by namespace. An empty name stands for all other names of the namespace.
_HINTS: dict[str, dict[str, str]] = {
    "flow": {
        "": _NETWORKS,
        "Tensor": "use numpy.ndarray",
        "tensor": "use numpy.array; modules accept NumPy arrays",
        "from_numpy": "omit it, because modules accept NumPy arrays",
        "manual_seed": "pass random_seed to the reader, to the decoders and to CoinFlip",
        "no_grad": "omit it, because no gradients are recorded",
        "enable_eager_execution": "omit it, because functions run when they are called",
        "clear_default_session": "omit it, because there is no session",
        "tensor_buffer_to_tensor": "use numpy.stack(buffer.numpy())",
        "utils": "use rm.torch, rm.keras or rm.jax",
        "cuda": "pass the arrays to your framework, which moves them to the GPU",
        "fixed_placement": "use flow.scope.placement('cpu', ...), or omit it",
        **dict.fromkeys(("FunctionConfig", "function_config"), "omit it, because global_function needs no settings"),
        **dict.fromkeys(("device", "placement", "sbp"), _CPU),
        **dict.fromkeys(("bool", "float16", "half", "bfloat16", "char"), _DTYPE),
    },
    "flow.nn": {
        "": _NETWORKS,
        "OFRecordImageGpuDecoderRandomCropResize": _RESIZE,
        **dict.fromkeys(("COCOReader", "OneRecReader"), "use OFRecordReader"),
    },
    "flow.nn.image": {"": "use Resize", "decode": "use nn.OFRecordImageDecoder", "flip": "use CropMirrorNormalize"},
    "flow.data": {
        "": _READER,
        "decode_random": "use numpy.random",
        "ofrecord_bytes_decoder": "use OFRecordBytesDecoder",
        "ofrecord_image_decoder": "use OFRecordImageDecoder",
        "ofrecord_image_decoder_random_crop": "use OFRecordImageDecoderRandomCrop",
        "ofrecord_raw_decoder": "use OFRecordRawDecoder",
        **dict.fromkeys(("ImageDecoderRandomCropResize", "image_decoder_random_crop_resize"), _RESIZE),
        **dict.fromkeys(("onerec_reader", "onerec_decoder"), "convert the OneRec files to OFRecord"),
    },
    "flow.image": {
        "": "use Resize",
        "decode": "use data.OFRecordImageDecoder",
        **dict.fromkeys(("crop_mirror_normalize", "flip", "normalize"), "use CropMirrorNormalize"),
    },
    "flow.random": {"": "use CoinFlip"},
    "flow.typing": {"": "use Numpy, or omit the annotation"},
    "flow.env": {"": _CPU},
    "flow.config": {"": _CPU},
    "flow.scope": {"": _CPU},
}


class AbsentError(NotImplementedError, AttributeError):
    """Raised for a function or class of OneFlow that recordmill does not have."""


def create_module_getattr(path: str, members: Mapping[str, Any]) -> Callable[[str], Any]:
    """Create the ``__getattr__`` of a module: private names raise AttributeError, all other names AbsentError."""

    def raise_absent_error(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {path!r} has no attribute {name!r}", name=name)
        hints = _HINTS[path]
        similar = None if name in hints else suggest_name(name, members, MISSPELLED)
        suggestion = f"did you mean {similar!r}? Otherwise, " if similar else ""
        raise AbsentError(f"{path}.{name} is not supported: {suggestion}{hints.get(name, hints[''])}")

    return raise_absent_error


def create_namespace(path: str, members: Mapping[str, Any]) -> types.ModuleType:
    """Return a module object with the given members; access to other names raises AbsentError."""
    module = types.ModuleType(path)
    vars(module).update(members, __getattr__=create_module_getattr(path, members))
    return module


def raise_unsupported(option: str, value: Any, hint: str) -> NoReturn:
    """Raise NotImplementedError for an option whose value is not supported."""
    raise NotImplementedError(f"{option}={value!r} is not supported: {hint}")


def check_device(device: Any = None, placement: Any = None, sbp: Any = None) -> None:
    """Raise NotImplementedError if `device` is not the CPU, or if `placement` or `sbp` is given."""
    if device is not None and str(device).partition(":")[0] != "cpu":
        raise_unsupported("device", device, "results are NumPy arrays on the CPU; pass them to your framework")
    for option, value in (("placement", placement), ("sbp", sbp)):
        if value is not None:
            raise_unsupported(option, value, "omit it; RANK and WORLD_SIZE select the parts that a process reads")

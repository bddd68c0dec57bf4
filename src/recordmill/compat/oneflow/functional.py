"""The functional interface: ``flow.data``, ``flow.image`` and ``flow.random``.

The first call at each place in a program creates a module, and later calls at the same place reuse it. Therefore, a
reader function that is called in a loop returns the next batch each time.
"""

from __future__ import annotations

import atexit
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

from recordmill.compat.oneflow import nn
from recordmill.compat.oneflow.unsupported import create_namespace

_modules: dict[tuple[Any, ...], Any] = {}
# Free the readers at exit, because they need Python modules that the interpreter unloads later.
atexit.register(_modules.clear)


def _create_module_function(module: Callable[..., Any], parameters: str, num_inputs: int = 1) -> Callable[..., Any]:
    """Create the functional form of a module: a function that creates one module per call site and then calls it.

    The first `num_inputs` arguments are inputs of the call; the others are options of the module.
    """
    names = [*parameters.split(), "name"]
    signature = inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])

    def call(*args: Any, **kwargs: Any) -> Any:
        options = signature.bind_partial(*args, **kwargs).arguments
        options.pop("name", None)
        inputs = [options.pop(name) for name in names[:num_inputs] if name in options]
        if "seed" in options:
            options["random_seed"] = options.pop("seed")
        caller = sys._getframe(1)
        key = (caller.f_code.co_filename, caller.f_lineno, caller.f_lasti, module, repr(options))
        if key not in _modules:
            _modules[key] = module(**options)
        return _modules[key](*inputs)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


_READER = (
    "ofrecord_dir batch_size data_part_num part_name_prefix part_name_suffix_length random_shuffle"
    " shuffle_buffer_size shuffle_after_epoch random_seed"
)
_RAW = "input_blob blob_name shape dtype dim1_varying_length auto_zero_padding truncate"
_CROP = "input_blob blob_name color_space num_attempts seed random_area random_aspect_ratio"
_RESIZE = (
    "image target_size min_size max_size keep_aspect_ratio resize_side channels dtype interpolation_type"
    " color_space interp_type resize_shorter resize_x resize_y"
)
_NORMALIZE = (
    "input_blob mirror_blob color_space output_layout crop_h crop_w crop_pos_y crop_pos_x mean std output_dtype"
)
_DATA: Mapping[str, Any] = {
    "ofrecord_reader": _create_module_function(nn.OFRecordReader, _READER, num_inputs=0),
    "OFRecordRawDecoder": _create_module_function(nn.OFRecordRawDecoder, _RAW),
    "OFRecordBytesDecoder": _create_module_function(nn.OFRecordBytesDecoder, "input_blob blob_name"),
    "OFRecordImageDecoder": _create_module_function(nn.OFRecordImageDecoder, "input_blob blob_name color_space"),
    "OFRecordImageDecoderRandomCrop": _create_module_function(nn.OFRecordImageDecoderRandomCrop, _CROP),
}
_IMAGE: Mapping[str, Any] = {
    "Resize": _create_module_function(nn.image.Resize, _RESIZE),
    "CropMirrorNormalize": _create_module_function(nn.CropMirrorNormalize, _NORMALIZE, num_inputs=2),
}
data = create_namespace("flow.data", _DATA)
image = create_namespace("flow.image", _IMAGE)
random = create_namespace(
    "flow.random", {"CoinFlip": _create_module_function(nn.CoinFlip, "batch_size seed probability", num_inputs=0)}
)

"""``tf.image``: decoding, encoding, geometry and colors of images."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes

_NAMES = {
    "boxes": (
        "crop_and_resize draw_bounding_boxes sample_distorted_bounding_box stateless_sample_distorted_bounding_box"
    ),
    "color": (
        "adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation convert_image_dtype "
        "grayscale_to_rgb hsv_to_rgb per_image_standardization rgb_to_grayscale rgb_to_hsv"
    ),
    "crop": "central_crop crop_to_bounding_box pad_to_bounding_box resize_with_crop_or_pad",
    "decode": "decode_and_crop_jpeg decode_image decode_jpeg decode_png extract_jpeg_shape is_jpeg",
    "encode": "encode_jpeg encode_png",
    "flip": "flip_left_right flip_up_down rot90 transpose",
    "random": (
        "random_brightness random_contrast random_crop random_flip_left_right random_flip_up_down random_hue "
        "random_saturation stateless_random_brightness stateless_random_contrast stateless_random_crop "
        "stateless_random_flip_left_right stateless_random_flip_up_down stateless_random_hue "
        "stateless_random_saturation"
    ),
    "resize": "ResizeMethod resize resize_with_pad",
    "resize_v1": "resize_bicubic resize_bilinear resize_image_with_pad resize_nearest_neighbor",
}
# Maps each public name to the module that defines it.
MEMBERS: dict[str, str] = {name: f"images.{module}" for module, names in _NAMES.items() for name in names.split()}
MEMBERS |= {
    "resize_image_with_crop_or_pad": "images.crop:resize_with_crop_or_pad",
    "resize_images": "images.resize_v1:resize",
    "transpose_image": "images.flip:transpose",
}
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS)

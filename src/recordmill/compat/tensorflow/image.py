"""``tf.image``: geometry, colours, decoding and encoding of images."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy

_PLACES = {
    "boxes": "central_crop crop_to_bounding_box pad_to_bounding_box resize_with_crop_or_pad",
    "colours": "adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation",
    "decoding": (
        "decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png decode_webp "
        "extract_jpeg_shape is_jpeg"
    ),
    "distortion": "sample_distorted_bounding_box stateless_sample_distorted_bounding_box",
    "drawing": "draw_bounding_boxes non_max_suppression",
    "encoding": "encode_jpeg encode_png",
    "flips": "flip_left_right flip_up_down rot90 transpose",
    "levels": "convert_image_dtype",
    "luminance": "rgb_to_yiq rgb_to_yuv yiq_to_rgb yuv_to_rgb",
    "measures": "image_gradients psnr sobel_edges total_variation",
    "padded_suppression": "non_max_suppression_padded",
    "patches": "crop_and_resize extract_patches",
    "quality": "adjust_jpeg_quality",
    "random": (
        "random_brightness random_contrast random_crop random_flip_left_right random_flip_up_down random_hue "
        "random_jpeg_quality random_saturation"
    ),
    "resizing": "ResizeMethod resize resize_with_pad",
    "similarity": "ssim ssim_multiscale",
    "spaces": "grayscale_to_rgb hsv_to_rgb rgb_to_grayscale rgb_to_hsv",
    "standardization": "per_image_standardization",
    "stateless": (
        "stateless_random_brightness stateless_random_contrast stateless_random_crop "
        "stateless_random_flip_left_right stateless_random_flip_up_down stateless_random_hue "
        "stateless_random_jpeg_quality stateless_random_saturation"
    ),
    "suppression": "combined_non_max_suppression non_max_suppression_overlaps non_max_suppression_with_scores",
}
# name: the module that has it
MEMBERS: dict[str, str] = {name: f"images.{module}" for module, names in _PLACES.items() for name in names.split()}
# names of TensorFlow 1 that were given up
MEMBERS |= {
    "extract_image_patches": "ops.older_functions",
    "resize_bilinear": "images.older_resizing",
    "resize_image_with_crop_or_pad": "images.boxes:resize_with_crop_or_pad",
    "resize_image_with_pad": "images.older_resizing",
    "resize_images": "images.older_resizing:resize",
    "resize_nearest_neighbor": "images.older_resizing",
    "transpose_image": "images.flips:transpose",
}
__getattr__, __dir__ = lazy(__name__, MEMBERS)

"""Which function decodes which kind of spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from recordmill.decode.features.image import decode_images
from recordmill.decode.features.mask import decode_masks
from recordmill.decode.features.places import decode_boxes, decode_points
from recordmill.decode.features.plain import decode_raw, decode_text
from recordmill.decode.specs.boxes import Boxes, Keypoints
from recordmill.decode.specs.image import Image
from recordmill.decode.specs.mask import Mask
from recordmill.decode.specs.raw import Raw
from recordmill.decode.specs.text import Text
from recordmill.decode.state import BatchState

DECODERS: dict[type, Callable[[BatchState, str, Mapping[str, Any]], dict[str, Any]]] = {
    Image: decode_images,
    Mask: decode_masks,
    Raw: decode_raw,
    Text: decode_text,
    Boxes: decode_boxes,
    Keypoints: decode_points,
}

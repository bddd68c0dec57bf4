"""What Keras's data sets of folders have under TensorFlow and not here."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordmill.compat.tensorflow as tf

pytestmark = pytest.mark.deep


def test_folders_when_an_option_is_not_there_then_it_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="crop_to_aspect_ratio"):
        tf.keras.utils.image_dataset_from_directory(tmp_path, crop_to_aspect_ratio=True)

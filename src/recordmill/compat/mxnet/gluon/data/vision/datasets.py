"""``mx.gluon.data.vision.ImageRecordDataset``."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from recordmill.compat.mxnet.gluon.data.datasets import RecordFileDataset
from recordmill.compat.mxnet.image.functions import imdecode
from recordmill.compat.mxnet.recordio import unpack


class ImageRecordDataset(RecordFileDataset):
    """Pictures and labels of a record file.

    Parameters
    ----------
    filename : str or path
        Of the ``.rec`` file, beside which lies its ``.idx`` file.
    flag : {1, 0}
        Colours, or grey.
    transform : callable, optional
        Takes picture and label, gives the sample.
    """

    def __init__(
        self, filename: str | os.PathLike[str], flag: int = 1, transform: Callable[[Any, Any], Any] | None = None
    ) -> None:
        super().__init__(filename)
        self._flag, self._transform = flag, transform

    def __getitem__(self, idx: Any) -> Any:
        """Picture (uint8, height × width × channels) and label at a position, or what `transform` makes of them."""
        header, data = unpack(super().__getitem__(idx))
        picture = imdecode(data, self._flag)
        return (picture, header.label) if self._transform is None else self._transform(picture, header.label)

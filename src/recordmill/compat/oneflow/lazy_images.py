"""Images decoded on first use, so that a chain of modules becomes one native call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import DTypeLike, NDArray

import recordmill as rm
from recordmill.compat.oneflow.dtypes import uint8
from recordmill.compat.oneflow.tensors import Place, Tensor, TensorBuffer, tensor_of
from recordmill.concurrency.threads import num_cpus
from recordmill.dataclass import dataclass
from recordmill.errors import RecordmillError
from recordmill.types import Ragged

Size = tuple[int, int]
Pixels = NDArray[Any]
Channels = Literal["rgb", "bgr", "grey"]
_IMAGE, _WINDOW, _MIRROR = "image", "window", "mirror"


@dataclass(frozen=True, eq=False, slots=True)
class Encoded:
    """Encoded pictures of a batch, and the part of each that is wanted."""

    strings: Ragged | list[Any]
    windows: NDArray[np.int64]
    channels: Channels
    orientation: Literal["ignore", "apply"]

    def __len__(self) -> int:
        """Return the number of pictures."""
        return len(self.windows)

    @property
    def num_channels(self) -> int:
        """Values of a pixel."""
        return 1 if self.channels == "grey" else 3

    @property
    def shapes(self) -> list[tuple[int, int, int]]:
        """Shapes of the parts."""
        return [(height, width, self.num_channels) for width, height in self.windows[:, 2:].tolist()]

    def decode(self, mirror: NDArray[np.bool_] | None = None, empty: Any = np.empty, **options: Any) -> Any:
        """Decode in one call."""
        columns: dict[str, Any] = {_IMAGE: self.strings, _WINDOW: self.windows}
        flip = None
        if mirror is not None:
            columns[_MIRROR], flip = mirror, rm.GivenFlip(_MIRROR)
        try:
            spec = rm.Image(
                crop=rm.GivenCrop(_WINDOW, options.pop("size", None)),
                flip=flip,
                like="opencv",
                channels=self.channels,
                orientation=self.orientation,
                **options,
            )
            return rm.decode_batch(columns, {_IMAGE: spec}, threads=num_cpus(), empty=empty)[_IMAGE]
        except (RecordmillError, ValueError, TypeError):
            return None


class LazyBuffer(TensorBuffer):
    """Pictures of several sizes, decoded when somebody asks for their pixels."""

    __slots__ = ("_decode_stepwise", "encoded")

    def __init__(self, encoded: Encoded, places: Sequence[Place], decode_stepwise: Callable[[], list[Pixels]]) -> None:
        super().__init__([], places)
        self.encoded, self._decode_stepwise = encoded, decode_stepwise

    @property
    def is_decoded(self) -> bool:
        """Whether pixels are there already."""
        return bool(self._arrays)

    @property
    def shape(self) -> tuple[int]:
        """Number of pictures."""
        return (len(self.encoded),)

    def numpy(self) -> list[Pixels]:
        """Pictures in a list."""
        if not self._arrays:
            found = self.encoded.decode(dtype="uint8", layout="hwc", stack=False)
            self._arrays = self._decode_stepwise() if found is None else found
        return list(self._arrays)

    def __len__(self) -> int:
        """Return the number of pictures."""
        return len(self.encoded)

    def __getitem__(self, place: int) -> TensorBuffer:
        """One picture, still as a batch."""
        return TensorBuffer(self.numpy(), self.places)[place]

    def __repr__(self) -> str:
        """Shapes of the pictures."""
        return f"TensorBuffer({', '.join(map(str, self.encoded.shapes))})"


@dataclass(frozen=True, eq=False, slots=True)
class ResizePlan:
    """Pictures of one size, before they are decoded."""

    buffer: LazyBuffer
    size: Size
    kernel: str
    decode_stepwise: Callable[[], Pixels]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Pictures, height, width and channels."""
        return len(self.buffer), *self.size, self.buffer.encoded.num_channels

    def values(self) -> Pixels:
        """Levels, uint8, shape (n, height, width, channels)."""
        found = self._decoded(dtype="uint8", layout="hwc")
        return self.decode_stepwise() if found is None else found

    def normalize(self, mirror: NDArray[np.bool_], mean: Any, std: Any, empty: Any) -> Pixels | None:
        """Normalised values, mirrored and with channels first, if one call makes them."""
        return self._decoded(mirror=mirror, empty=empty, mean=mean, std=std, white=255.0, dtype="float32", layout="chw")

    def _decoded(self, **options: Any) -> Pixels | None:
        # Pixels that are there already are used again by the steps.
        if self.buffer.is_decoded:
            return None
        found: Pixels | None = self.buffer.encoded.decode(size=self.size, kernel=self.kernel, **options)
        return found


class LazyTensor(NDArrayOperatorsMixin):
    """Images of one size, decoded when their values are needed; otherwise like `Tensor`."""

    stands_for_tensor = True

    def __init__(self, scaled: ResizePlan) -> None:
        self.plan = scaled
        self._values: Tensor | None = None

    @property
    def is_decoded(self) -> bool:
        """Whether values are there already."""
        return self._values is not None

    @property
    def shape(self) -> tuple[int, ...]:
        """Pictures, height, width and channels."""
        return self.plan.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """uint8."""
        return uint8

    @property
    def ndim(self) -> int:
        """Four."""
        return len(self.shape)

    def tensor(self) -> Tensor:
        """Values as `Tensor`."""
        if self._values is None:
            self._values = tensor_of(self.plan.values())
        return self._values

    def numpy(self) -> NDArray[Any]:
        """Values as a plain array."""
        return self.tensor().numpy()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Values for NumPy."""
        values = self.numpy()
        if dtype is not None and values.dtype != dtype:
            return values.astype(dtype)
        return values.copy() if copy else values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute with the values."""
        if "out" in options:
            options["out"] = tuple(map(_values, options["out"]))
        return getattr(ufunc, method)(*map(_values, inputs), **options)

    def __getattr__(self, name: str) -> Any:
        """Whatever else an array has."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.tensor(), name)

    def __getitem__(self, key: Any) -> Any:
        """Values of a part."""
        return self.tensor()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        """Replace values of a part."""
        self.tensor()[key] = value

    def __len__(self) -> int:
        """Return the number of pictures."""
        return self.shape[0]

    def __repr__(self) -> str:
        """Values, as `Tensor` prints them."""
        return repr(self.tensor())

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as values."""
        return tensor_of, (self.numpy(),)


def _values(given: Any) -> Any:
    return given.tensor() if isinstance(given, LazyTensor) else given

"""``mx.gluon.data``."""

from __future__ import annotations

from recordmill.compat.mxnet.absent import absent
from recordmill.compat.mxnet.gluon.data import vision
from recordmill.compat.mxnet.gluon.data.dataloader import DataLoader
from recordmill.compat.mxnet.gluon.data.dataset import ArrayDataset, Dataset, RecordFileDataset, SimpleDataset
from recordmill.compat.mxnet.gluon.data.sampler import (
    BatchSampler,
    FilterSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
)

__getattr__ = absent(__name__, {}, "use rm.open(...), and rm.torch, rm.keras or rm.jax")

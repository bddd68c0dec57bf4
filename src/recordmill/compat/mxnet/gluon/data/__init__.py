"""``mx.gluon.data``: datasets, samplers and `DataLoader`."""

from __future__ import annotations

from recordmill.compat.mxnet.base import create_module_getattr
from recordmill.compat.mxnet.gluon.data import vision
from recordmill.compat.mxnet.gluon.data.dataloader import (
    BatchSampler,
    DataLoader,
    RandomSampler,
    Sampler,
    SequentialSampler,
)
from recordmill.compat.mxnet.gluon.data.dataset import ArrayDataset, Dataset, RecordFileDataset, SimpleDataset

__getattr__ = create_module_getattr(
    __name__,
    {"FilterSampler": "use Dataset.filter", "sampler": "use the samplers of mx.gluon.data"},
    "use rm.open(...), and rm.torch, rm.keras or rm.jax",
)

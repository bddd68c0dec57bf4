"""``tensorflow.core.example.feature_pb2``: the protobuf messages of feature values."""

from recordmill.compat.tensorflow.train.messages import (
    BytesList,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
)

__all__ = ["BytesList", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList", "Int64List"]

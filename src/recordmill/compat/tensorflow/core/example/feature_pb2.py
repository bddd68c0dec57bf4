"""The messages of feature.proto."""

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

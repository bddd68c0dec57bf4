"""TensorFlow's names for records, images and datasets: ``import recordmill.compat.tensorflow as tf``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.dtypes import (
    DType,
    as_dtype,
    bool_,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)
from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes, map_names_to_sources
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import AnyTensor as Tensor

bool = bool_  # noqa: A001 (TensorFlow's name)
newaxis = None
__version__ = "2.21.0"

# Maps each public submodule to the module that implements it. These modules are imported on first use.
MODULES: dict[str, str] = {
    "app": "app",
    "autograph": "autograph",
    "compat": "compat",
    "config": "config",
    "contrib": "contrib",
    "data": "data",
    "debugging": "debugging",
    "distribute": "distribute",
    "dtypes": "dtypes",
    "errors": "core.errors",
    "gfile": "gfile",
    "image": "image",
    "initializers": "keras.initializers",
    "io": "io",
    "keras": "keras",
    "linalg": "linalg",
    "logging": "logging",
    "lookup": "lookup",
    "losses": "keras.losses",
    "math": "math",
    "metrics": "keras.metrics",
    "nest": "ops.nest",
    "nn": "nn",
    "optimizers": "keras.optimizers",
    "python": "python",
    "python_io": "python_io",
    "ragged": "ragged",
    "random": "random",
    "signal": "signal",
    "sparse": "sparse",
    "strings": "strings",
    "train": "train",
}
# Names of TensorFlow 2.
MEMBERS: dict[str, str] = map_names_to_sources(
    {
        "@array": "bitcast boolean_mask broadcast_to cast concat constant convert_to_tensor ensure_shape expand_dims "
        "fill gather gather_nd identity linspace meshgrid one_hot ones ones_like pad range rank repeat reshape reverse "
        "saturate_cast scatter_nd sequence_mask shape size slice split squeeze stack strided_slice "
        "tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub "
        "tensor_scatter_nd_update tile transpose unique unstack where zeros zeros_like argsort sort",
        "@control": "case cond group map_fn no_op numpy_function print py_func:numpy_function py_function scan "
        "switch_case while_loop",
        "@debugging": "Assert assert_equal assert_greater assert_less",
        "@linalg": "einsum matmul norm",
        "@math": "abs add add_n argmax argmin clip_by_value cos cumsum divide equal exp floor greater greater_equal "
        "less less_equal logical_and logical_not logical_or maximum minimum multiply negative not_equal pow reduce_all "
        "reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum round sigmoid sign sin sqrt square "
        "subtract tan tanh truediv",
        "@strings": "as_string",
        "core.dtypes": "bfloat16",
        "core.ragged": "RaggedTensor",
        "core.sparse": "SparseTensor",
        "core.variable": "Variable",
        "logging": "get_logger",
        "ops.functions": "function",
        "ops.program": "device executing_eagerly get_static_value is_tensor name_scope",
        "ops.specs": "RaggedTensorSpec SparseTensorSpec TensorSpec type_spec_from_value",
        "ops.tensor_array": "TensorArray",
    }
)
# Names of TensorFlow 1.
MEMBERS |= map_names_to_sources(
    {
        "@array": "where_v2:where",
        "@debugging": "assert_greater_equal assert_less_equal assert_negative assert_non_negative assert_non_positive "
        "assert_none_equal assert_positive check_numerics",
        "@linalg": "matrix_inverse:inv",
        "@math": "ceil floordiv floormod is_finite is_inf is_nan log log1p logical_xor mod:floormod reciprocal rsqrt "
        "squared_difference",
        "@random": "random_gamma:gamma random_normal:normal random_shuffle:shuffle random_uniform:uniform "
        "truncated_normal",
        "@sparse": "sparse_reorder:reorder sparse_reshape:reshape sparse_slice:slice sparse_tensor_to_dense:to_dense "
        "sparse_to_dense",
        "@strings": "regex_replace string_join:join string_split string_strip:strip "
        "string_to_hash_bucket_fast:to_hash_bucket_fast substr",
        "app": "flags",
        "core.random_state": "set_random_seed:set_seed",
        "files.contents": "matching_files read_file write_file",
        "graphs.graph": "global_variables_initializer initialize_all_tables initialize_all_variables "
        "initialize_local_variables local_variables_initializer placeholder tables_initializer",
        "graphs.modes": "ConfigProto Graph control_dependencies disable_eager_execution disable_v2_behavior "
        "enable_eager_execution enable_v2_behavior",
        "graphs.queues": "TFRecordReader TextLineReader WholeFileReader",
        "graphs.sessions": "Session get_default_session",
        "images.random": "random_crop",
        "io.csv_lines": "decode_csv",
        "io.features": "FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature",
        "io.parsing": "parse_example:parse_example_v1 parse_single_example:parse_single_example_v1",
        "io.sequences": "parse_single_sequence_example",
        "io.tensor_protos": "make_tensor_proto parse_tensor serialize_tensor",
        "ops.cast": "to_float to_int32 to_int64",
        "ops.elementwise": "div",
        "ops.numerals": "decode_raw string_to_number",
    }
)
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS, MODULES)

__all__ = [
    "DType",
    "Tensor",
    "TensorShape",
    "as_dtype",
    "bool",
    "complex64",
    "complex128",
    "double",
    "float16",
    "float32",
    "float64",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "newaxis",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

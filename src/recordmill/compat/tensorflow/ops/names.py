"""Which module has each operation that stands directly under ``tf``."""

from __future__ import annotations

_BY_MODULE: dict[str, str] = {
    "ops.arithmetic": "abs add add_n atan2 divide maximum minimum multiply negative pow subtract truediv "
    "truncatediv truncatemod",
    "ops.asserting": "Assert assert_equal assert_greater assert_less",
    "ops.asserting_shapes": "assert_rank",
    "ops.casting": "bitcast cast saturate_cast to_double to_float to_int32 to_int64",
    "ops.comparing": "equal greater greater_equal less less_equal logical_and logical_not logical_or not_equal",
    "ops.control": "case cond group map_fn no_op print switch_case timestamp vectorized_map while_loop",
    "core.draws": "set_random_seed:set_seed",
    "ops.distances": "edit_distance",
    "ops.drawing": "random_normal:normal random_shuffle:shuffle random_uniform:uniform truncated_normal",
    "ops.complexes": "complex",
    "ops.counting": "histogram_fixed_width histogram_fixed_width_bins",
    "ops.elementwise": "acos asin atan clip_by_value cos cosh cumsum exp floor round sigmoid sign sin sinh sqrt square "
    "tan tanh",
    "ops.folding": "foldl foldr scan",
    "ops.functions": "function numpy_function py_func py_function",
    "ops.hashes": "fingerprint",
    "ops.hot": "one_hot sequence_mask",
    "ops.joining": "concat repeat reverse roll split stack tile unstack",
    "ops.making": "constant convert_to_tensor eye fill linspace ones ones_like range zeros zeros_like",
    "ops.matrices": "clip_by_norm einsum matmul norm tensordot",
    "ops.padding": "pad",
    "ops.partitions": "dynamic_partition dynamic_stitch reverse_sequence unravel_index",
    "ops.picking": "gather gather_nd meshgrid scatter_nd tensor_scatter_nd_add tensor_scatter_nd_max "
    "tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update where",
    "ops.program": "__version__ device executing_eagerly get_static_value is_tensor name_scope stop_gradient",
    "ops.ratios": "acosh asinh atanh clip_by_global_norm identity_n",
    "ops.reducing": "reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum",
    "ops.shaping": "broadcast_to ensure_shape expand_dims identity rank reshape shape size squeeze transpose",
    "ops.slicing": "boolean_mask newaxis slice:slice_",
    "ops.strided": "strided_slice",
    "ops.numerals": "as_string",
    "ops.sorting": "argmax argmin argsort searchsorted sort unique unique_with_counts",
    "ops.tensor_array": "TensorArray",
    "ops.specs": "RaggedTensorSpec SparseTensorSpec TensorSpec type_spec_from_value",
}

# names of TensorFlow 1 that were given up, or moved
_OLDER: dict[str, str] = {
    "core.sparse": "sparse_tensor_to_dense:to_dense",
    "core.sparse_making": "sparse_reorder:reorder",
    "images.random": "random_crop",
    "io.base64": "decode_base64 encode_base64",
    "ops.activations": "log_softmax",
    "ops.arithmetic": "div_no_nan:divide_no_nan floor_div:floordiv floordiv floormod mod:floormod realdiv:truediv "
    "scalar_mul:multiply squared_difference",
    "ops.asserting": "assert_greater_equal assert_less_equal assert_near assert_negative assert_non_negative "
    "assert_non_positive assert_none_equal assert_positive check_numerics",
    "ops.asserting_shapes": "assert_integer assert_rank_at_least assert_rank_in assert_same_float_dtype assert_scalar "
    "assert_type is_numeric_tensor",
    "ops.comparing": "is_finite is_inf is_nan logical_xor",
    "ops.elementwise": "ceil cumprod expm1 log log1p reciprocal rint rsqrt",
    "ops.joining": "reverse_v2:reverse",
    "ops.making": "lin_space:linspace",
    "ops.older_functions": "div extract_image_patches sparse_to_dense string_split string_to_number",
    "ops.patterns": "regex_replace",
    "ops.picking": "tensor_scatter_add:tensor_scatter_nd_add tensor_scatter_sub:tensor_scatter_nd_sub "
    "tensor_scatter_update:tensor_scatter_nd_update where_v2:where",
    "ops.pooling": "depth_to_space space_to_depth",
    "ops.complexes": "angle conj imag real",
    "ops.counting": "bincount",
    "ops.decompositions": "cholesky matrix_set_diag:set_diag matrix_solve:solve matrix_solve_ls:lstsq qr "
    "self_adjoint_eig:eigh self_adjoint_eigvals:eigvalsh svd",
    "ops.distributions": "multinomial random_gamma:gamma random_poisson",
    "ops.hashes": "string_to_hash_bucket:to_hash_bucket string_to_hash_bucket_fast:to_hash_bucket_fast "
    "string_to_hash_bucket_strong:to_hash_bucket_strong",
    "ops.segments": "segment_max segment_mean segment_min segment_prod segment_sum unsorted_segment_max "
    "unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum",
    "ops.ratios": "erf global_norm is_non_decreasing is_strictly_increasing log_sigmoid",
    "ops.shaping": "matrix_transpose",
    "ops.sparse_parts": "sparse_concat:concat sparse_fill_empty_rows:fill_empty_rows sparse_reduce_sum:reduce_sum "
    "sparse_reset_shape:reset_shape sparse_reshape:reshape sparse_retain:retain sparse_slice:slice_ sparse_split:split "
    "sparse_tensor_dense_matmul:sparse_dense_matmul sparse_to_indicator:to_indicator sparse_transpose:transpose",
    "ops.sparse_sums": "sparse_add:add sparse_maximum:maximum sparse_minimum:minimum sparse_reduce_max:reduce_max "
    "sparse_segment_mean:segment_mean sparse_segment_sqrt_n:segment_sqrt_n sparse_segment_sum:segment_sum "
    "sparse_softmax:softmax",
    "ops.inverse_signals": "fft2d fft3d ifft2d ifft3d",
    "ops.signals": "fft ifft",
    "ops.squares": "cross matrix_band_part:band_part matrix_determinant:det matrix_inverse:inv trace",
    "ops.sorting": "count_nonzero",
    "ops.texts": "string_join:join string_strip:strip substr",
}

# what TensorFlow 1's programs say around a session
_SESSIONS: dict[str, str] = {
    "app": "flags",
    "graphs.graph": "global_variables_initializer initialize_all_tables initialize_all_variables "
    "initialize_local_variables local_variables_initializer placeholder tables_initializer",
    "graphs.modes": "ConfigProto Graph control_dependencies disable_eager_execution disable_v2_behavior "
    "enable_eager_execution enable_v2_behavior",
    "graphs.queues": "TFRecordReader TextLineReader WholeFileReader",
    "graphs.sessions": "Session get_default_session",
}


def table(by_module: dict[str, str]) -> dict[str, str]:
    """Turn lists of names by module into a module for each name."""
    found = {}
    for module, names in by_module.items():
        for entry in names.split():
            name, _, other = entry.partition(":")
            found[name] = f"{module}:{other or name}"
    return found


TOP = table(_BY_MODULE)
OLDER = table(_OLDER | _SESSIONS)

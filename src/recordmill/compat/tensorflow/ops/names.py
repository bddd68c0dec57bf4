"""Which module has each operation that stands directly under ``tf``."""

from __future__ import annotations

_BY_MODULE: dict[str, str] = {
    "ops.arithmetic": "abs add add_n atan2 divide maximum minimum multiply negative pow subtract truediv "
    "truncatediv truncatemod",
    "ops.asserting": "Assert assert_equal assert_greater assert_less",
    "ops.asserting_shapes": "assert_rank",
    "ops.casting": "bitcast cast saturate_cast to_double to_float to_int32 to_int64",
    "ops.comparing": "equal greater greater_equal less less_equal logical_and logical_not logical_or not_equal",
    "ops.control": "case cond group map_fn no_op print switch_case vectorized_map while_loop",
    "core.draws": "set_random_seed:set_seed",
    "ops.drawing": "random_normal:normal random_shuffle:shuffle random_uniform:uniform truncated_normal",
    "ops.elementwise": "acos asin atan clip_by_value cos cosh cumsum exp floor round sigmoid sign sin sinh sqrt square "
    "tan tanh",
    "ops.functions": "function numpy_function py_func py_function",
    "ops.hot": "one_hot sequence_mask",
    "ops.joining": "concat repeat reverse roll split stack tile unstack",
    "ops.making": "constant convert_to_tensor eye fill linspace ones ones_like range zeros zeros_like",
    "ops.matrices": "clip_by_norm einsum matmul norm tensordot",
    "ops.padding": "pad",
    "ops.picking": "gather gather_nd meshgrid scatter_nd tensor_scatter_nd_add tensor_scatter_nd_sub "
    "tensor_scatter_nd_update where",
    "ops.program": "__version__ device executing_eagerly get_static_value is_tensor name_scope stop_gradient",
    "ops.reducing": "reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum",
    "ops.shaping": "broadcast_to ensure_shape expand_dims identity rank reshape shape size squeeze transpose",
    "ops.slicing": "boolean_mask newaxis slice:slice_",
    "ops.strided": "strided_slice",
    "ops.numerals": "as_string",
    "ops.sorting": "argmax argmin argsort searchsorted sort unique unique_with_counts",
    "ops.specs": "RaggedTensorSpec SparseTensorSpec TensorSpec type_spec_from_value",
}


def table(by_module: dict[str, str]) -> dict[str, str]:
    """Turn lists of names by module into a module for each name.

    Parameters
    ----------
    by_module : dict of str to str
        Names separated by spaces; ``name:other`` where the module calls it otherwise.

    Returns
    -------
    dict of str to str
        As `recordmill.compat.tensorflow.core.lazy.lazy` takes it.
    """
    found = {}
    for module, names in by_module.items():
        for entry in names.split():
            name, _, other = entry.partition(":")
            found[name] = f"{module}:{other or name}"
    return found


TOP = table(_BY_MODULE)

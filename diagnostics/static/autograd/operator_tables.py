"""Which operations of torch keep a tensor for backward, give a view, or change one in place. Pure tables.

Each entry was seen to hold on torch 2.9 by changing the tensor between forward and backward.

Which expression a statement or call changes in place.
"""

from __future__ import annotations

import ast

SAVES_RESULT = frozenset(["sigmoid", "tanh", "softmax", "log_softmax", "exp", "sqrt", "rsqrt", "relu", "reciprocal"])
SAVES_INPUT = frozenset(
    ["gelu", "silu", "softplus", "mish", "elu", "leaky_relu", "log", "log2", "log10", "log1p", "sin", "cos", "abs",
     "square", "norm", "std", "var", "clamp", "clip", "hardtanh", "logsigmoid", "layer_norm", "max_pool1d",
     "max_pool2d", "relu6"]
)  # fmt: skip
SAVES_FACTORS = frozenset(["mul", "multiply", "matmul", "bmm", "mm", "linear", "conv1d", "conv2d", "conv3d"])
SEVERAL_VIEWS = frozenset(["chunk", "split", "unbind", "tensor_split", "hsplit", "vsplit"])
VIEWS = frozenset(
    ["view", "transpose", "permute", "narrow", "squeeze", "unsqueeze", "swapaxes", "t", "select", "view_as", "movedim",
     "diagonal", "detach"]
)  # fmt: skip
EXPANDS = frozenset(["expand", "expand_as", "broadcast_to"])
# A gradient flows through these, and nothing that can be changed is kept.
PASSES = frozenset(
    ["cat", "stack", "concat", "sum", "mean", "add", "sub", "clone", "contiguous", "reshape", "flatten", "dropout",
     "interpolate", "pad", "roll", "flip", "repeat", "repeat_interleave", "masked_fill", "cumsum", "to", "float",
     "half", "type_as", "avg_pool2d", "adaptive_avg_pool2d", "normalize", "logsumexp", "div", "einsum", "neg"]
)  # fmt: skip
# They end in an underscore and change no values, or set a tensor up.
NOT_CHANGES = frozenset(
    ["requires_grad_", "detach_", "share_memory_", "squeeze_", "unsqueeze_", "transpose_", "t_", "swapaxes_", "rename_",
     "retain_grad_", "apply_", "resize_", "set_", "eval_", "as_strided_"]
)  # fmt: skip
# torch writes these into expanded memory without a word; the others raise.
EXPANDED_BEARS = frozenset(["fill_", "zero_", "masked_fill_", "index_put_", "setitem"])
ACTIVATIONS = frozenset(
    ["ReLU", "ReLU6", "LeakyReLU", "ELU", "SELU", "CELU", "SiLU", "Mish", "Hardswish", "Hardsigmoid", "Hardtanh",
     "RReLU", "Threshold", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout"]
)  # fmt: skip
FUNCTION_OF_LAYER = {
    "ReLU": "relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Softmax": "softmax", "LogSoftmax": "log_softmax",
    "GELU": "gelu", "SiLU": "silu", "Softplus": "softplus", "ELU": "elu", "LeakyReLU": "leaky_relu", "Mish": "mish",
    "ReLU6": "relu6", "MaxPool1d": "max_pool1d", "MaxPool2d": "max_pool2d", "Dropout": "dropout", "Flatten": "flatten",
    "Dropout2d": "dropout", "Identity": "", "AvgPool2d": "avg_pool2d", "AdaptiveAvgPool2d": "adaptive_avg_pool2d",
}  # fmt: skip


def changed_in_place(node: ast.AST) -> ast.expr | None:
    """Returns what a node changes in place, without `.data`, None where it changes nothing that way."""
    if isinstance(node, ast.AugAssign):
        return _plain(node.target)
    if isinstance(node, ast.Assign):
        return next((_plain(one) for one in node.targets if isinstance(one, ast.Subscript)), None)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        if name.endswith("_") and not name.startswith("_") and name not in NOT_CHANGES:
            return _plain(node.func.value)
    return None


def _plain(value: ast.expr) -> ast.expr | None:
    base = value
    while isinstance(base, (ast.Attribute, ast.Subscript, ast.Call)):
        if isinstance(base, ast.Attribute) and base.attr in ("data", "grad"):
            return None
        base = base.func if isinstance(base, ast.Call) else base.value
    return value

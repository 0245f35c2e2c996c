"""Losses in which predictions of one column meet targets of one row: (32, 1) and (32,) give (32, 32).

The graph is followed from the loss to the first difference between what a linear layer gave and something that has no
gradient. Its shapes say whether each prediction was compared with each target. A prediction that the program itself
gave another shape (x[:, None]) is compared so on purpose.
"""

from __future__ import annotations

MOST_NODES = 48
MOST_DEEP = 12
DIFFERENCES = ("MseLossBackward0", "SmoothL1LossBackward0", "HuberLossBackward0")
# What may stand between a difference and the loss without asking for all pairs: no exponential, no sum over rows.
PLAIN = frozenset((
    "MeanBackward0", "SumBackward0", "PowBackward0", "MulBackward0", "DivBackward0", "AddBackward0", "AbsBackward0",
    "SqrtBackward0", "ToCopyBackward0", "CloneBackward0", "SubBackward0", *DIFFERENCES,
))  # fmt: skip
LAYERS = ("AddmmBackward0", "MmBackward0", "LinearBackward0", "MkldnnLinearBackward0")
FLATTENED = ("SqueezeBackward0", "SqueezeBackward1", "SelectBackward0", "ViewBackward0")


def spread_behind(root):
    """Returns the shapes of predictions and of the difference they were spread to, None where there is none."""
    waiting, seen = [root], 0
    while waiting and seen < MOST_NODES:
        node = waiting.pop(0)
        seen += 1
        if node is None or node.name() not in PLAIN:
            continue
        inputs = [pair for pair in node.next_functions if pair[0] is not None]
        if len(inputs) == 1:
            found = _spread_at(node, *inputs[0])
            if found is not None:
                return found
        waiting.extend(one for one, _ in inputs)
    return None


def _spread_at(node, given, output):
    """Returns both shapes, where this node takes the difference of a column of predictions and a row."""
    made = shape_of(node, 0)
    if node.name() in DIFFERENCES:
        if given.name() != "ExpandBackward0":  # as broadcast_tensors() does it
            return None
        made, ((given, output),) = shape_of(given, output), given.next_functions
        if given is None:
            return None
    elif node.name() != "SubBackward0":
        return None
    shape = shape_of(given, output)
    if made is None or shape is None or len(made) != 2 or made[0] != made[1] or made[0] < 2:
        return None
    is_row = shape == made[:1] and node.name() in DIFFERENCES
    is_column = shape == (made[0], 1)
    return (shape, made) if (is_column or is_row) and _is_of_a_layer(given, output, made[0]) else None


def _is_of_a_layer(node, output, rows):
    """Whether a linear layer gave it, through functions of each element alone, or as the only column of it."""
    for _ in range(MOST_DEEP):
        if node.name() in LAYERS:
            return shape_of(node, 0) == (rows, 1)
        inputs = [pair for pair in node.next_functions if pair[0] is not None]
        if len(inputs) != 1:
            return False
        before, after = shape_of(*inputs[0]), shape_of(node, output)
        if before != after and not (node.name() in FLATTENED and before == (rows, 1) and after == (rows,)):
            return False
        node, output = inputs[0]
    return False


def shape_of(node, output):
    """Returns the shape of what a function of the graph gave, None where torch does not tell."""
    told = getattr(node, "_input_metadata", None)
    return tuple(told[output].shape) if told is not None and output < len(told) else None

"""Losses in which predictions of one column meet targets of one row: (32, 1) and (32,) give (32, 32).

The graph is followed from the loss to the first differences and products of what a layer gave and something that has no
gradient. Their shapes say whether each prediction meets each target. A prediction that the program itself gave another
shape (x[:, None]) is compared so on purpose, and so is everything in a loss that also holds the predictions against
each other, as energy distances do.
"""

from __future__ import annotations

import ctypes

from ..torch_hooks import tensor_samples
from .saved_tensors import saved_by

MOST_NODES = 96
MOST_DEEP = 12
ROUNDING = 0.05  # bfloat16 has eight bits
DIFFERENCES = ("MseLossBackward0", "SmoothL1LossBackward0", "HuberLossBackward0")
SUB, PRODUCTS = "SubBackward0", ("MulBackward0", "DivBackward0")
MEASURES = ("PowBackward0", "AbsBackward0")  # they keep the difference
REDUCED = ("SumBackward1", "MeanBackward1")  # over some dimensions
# What may stand between a difference and the loss without asking for all pairs: no exponential, no softmax.
PLAIN = frozenset((
    "MeanBackward0", "SumBackward0", "PowBackward0", "AddBackward0", "AbsBackward0", "NegBackward0", "RsubBackward1",
    "SqrtBackward0", "ToCopyBackward0", "CloneBackward0", "MaximumBackward0", "MinimumBackward0", "WhereBackward0",
    "ClampBackward0", "ClampBackward1", "ClampMinBackward0", "ClampMaxBackward0", "ReluBackward0", "SoftplusBackward0",
    "LogBackward0", "Log1PBackward0", "CoshBackward0", "LinalgVectorNormBackward0", "StackBackward0",
    SUB, *PRODUCTS, *REDUCED, *DIFFERENCES,
))  # fmt: skip
LAYERS = ("AddmmBackward0", "MmBackward0", "LinearBackward0", "MkldnnLinearBackward0", "CompiledFunctionBackward")
FLATTENED = ("SqueezeBackward0", "SqueezeBackward1", "SelectBackward0", "ViewBackward0")
CHOSEN = ("GatherBackward0", "SliceBackward0", "SplitBackward0", "SplitWithSizesBackward0")  # one column of several
PASSED_ON = "_DDPSinkBackward"  # each input as it is


def spread_behind(root):
    """Returns the shapes of predictions and of what they were spread to, and the function; None where there is none."""
    waiting, met, found = [(root, None, False)], set(), None
    while waiting and len(met) < MOST_NODES:
        node, above, reduced = waiting.pop(0)
        if node is None or node in met or node.name() not in PLAIN:
            continue
        met.add(node)
        inputs = [pair for pair in node.next_functions if pair[0] is not None]
        if node.name() == SUB and len(inputs) == 2 and _makes_pairs(node, inputs):
            return None
        if len(inputs) == 1:
            found = found or _spread_at(node, above, reduced, *inputs[0])
            # What a table of targets was subtracted from is a table itself.
            reduced = reduced or node.name() in (SUB, *DIFFERENCES)
        reduced = reduced or node.name() in REDUCED
        waiting.extend((one, node, reduced) for one, _ in inputs)
    return found


def _makes_pairs(node, inputs):
    """Whether it takes the difference of all pairs of two things that both have a gradient."""
    made, shapes = shape_of(node, 0), [shape_of(*one) for one in inputs]
    return made is not None and all(one is not None and one != made for one in shapes)


def _spread_at(node, above, reduced, given, output):
    """Returns both shapes and the function, where this node has a column of predictions meet a row."""
    made, name = shape_of(node, 0), node.name()
    measured = above.name() if above is not None else ""
    if name == SUB and measured in MEASURES and _is_of_a_table(saved_by(above, "self")):
        return None
    if name in DIFFERENCES or (name == SUB and measured == "AbsBackward0" and given.name() == "ExpandBackward0"):
        if given.name() != "ExpandBackward0":  # as broadcast_tensors() does it
            return None
        made, ((given, output),) = shape_of(given, output), given.next_functions
        name = "L1LossBackward0" if name == SUB else name
        if given is None:
            return None
    elif name != SUB and (name not in PRODUCTS or reduced):
        return None
    shape = shape_of(given, output)
    if made is None or shape is None or len(made) != 2 or made[0] != made[1] or made[0] < 2:
        return None
    if name in PRODUCTS and not any(_shape(one) == made[:1] for one in _saved(node, "self", "other")):
        return None
    if name in DIFFERENCES and not any(_is_spread_row(one) for one in _saved(node, "self", "target")):
        return None
    is_row = shape == made[:1] and name in DIFFERENCES
    is_column = shape == (made[0], 1)
    return (shape, made, name) if (is_column or is_row) and _is_of_a_layer(given, output, made[0]) else None


def _saved(node, *names):
    return [saved_by(node, name) for name in names]


def _shape(tensor):
    return tuple(getattr(tensor, "shape", ()))


def _is_spread_row(tensor):
    """Whether it is one row over and over; not where a hook keeps it, as that of a checkpoint."""
    return len(_shape(tensor)) == 2 and tensor.stride()[0] == 0


def _is_of_a_table(difference):
    """Whether its rows differ by more than one number each, as they do against a table; not on a device."""
    if len(_shape(difference)) != 2 or tensor_samples.why_not(difference):
        return False
    (rows, columns), (down, right) = _shape(difference), difference.stride()
    first, second, third, fourth = (
        _number_at(difference, place) for place in (0, (rows - 1) * down, (columns - 1) * right,
                                                    (rows - 1) * down + (columns - 1) * right)
    )  # fmt: skip
    if None in (first, second, third, fourth):
        return False
    apart = abs((first - second) - (third - fourth))
    return apart > ROUNDING * max(map(abs, (first, second, third, fourth)))


def _number_at(tensor, place):
    size = tensor.element_size()
    told = tensor_samples.numbers_in(
        ctypes.string_at(tensor.data_ptr() + place * size, size), str(tensor.dtype)[len("torch.") :]
    )
    return told[0] if told else None


def _is_of_a_layer(node, output, rows):
    """Whether a layer gave it, through functions of each element alone, or as one column of it."""
    for _ in range(MOST_DEEP):
        name, after = node.name(), shape_of(node, output)
        if name in LAYERS:
            return after is not None and after[0] == rows and len(after) == 2
        if name == PASSED_ON and output < len(node.next_functions):
            inputs = [node.next_functions[output]]
        else:
            inputs = [pair for pair in node.next_functions if pair[0] is not None]
        if len(inputs) != 1 or inputs[0][0] is None:
            return False
        before = shape_of(*inputs[0])
        flattened = name in FLATTENED and before == (rows, 1) and after == (rows,)
        chosen = name in CHOSEN and after == (rows, 1) and before is not None and before[:1] == (rows,)
        if before != after and not flattened and not (chosen and len(before) == 2):
            return False
        node, output = inputs[0]
    return False


def shape_of(node, output):
    """Returns the shape of what a function of the graph gave, None where torch does not tell."""
    told = getattr(node, "_input_metadata", None)
    return tuple(told[output].shape) if told is not None and output < len(told) else None

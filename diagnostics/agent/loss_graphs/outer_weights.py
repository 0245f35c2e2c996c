"""Losses whose terms are weighed by all samples: (32,) times (32, 1), or times a (32, 32) of differences.

`returns - values` of (32,) and (32, 1) is a table of all differences, and a log-probability of each sample that is
multiplied by it meets the values of all others. The mean of such a product is that of two separate means, so that no
program asks for it: what stands between product and loss has to be linear, or the clipping of a policy.
"""

from __future__ import annotations

import ctypes

from ..torch_hooks import tensor_samples
from .saved_tensors import saved_by
from .spread_differences import shape_of

MOST_NODES = 48
LEAST_ROWS, GRID = 4, 6  # rows and columns that are read of a table
ROUNDING = 1e-3  # of the largest number
PRODUCTS = ("MulBackward0", "DivBackward0")
# A sum of these products is the product of sums; a policy's clipping takes one of two such products.
LINEAR = frozenset((
    "MeanBackward0", "SumBackward0", "NegBackward0", "AddBackward0", "SubBackward0", "RsubBackward1",
    "ToCopyBackward0", "CloneBackward0", "StackBackward0", "MinimumBackward0", "MaximumBackward0",
    "MulBackward1", "DivBackward1", "SelectBackward0",
))  # fmt: skip


def outer_behind(root):
    """Returns (shape of the terms, shape of the product, function), None where each term has one weight."""
    waiting, met = [root], set()
    while waiting and len(met) < MOST_NODES:
        node = waiting.pop(0)
        if node is None or node in met:
            continue
        met.add(node)
        inputs = [pair for pair in node.next_functions if pair[0] is not None]
        if node.name() in PRODUCTS:
            if len(inputs) != 1:
                continue
            found = _outer_at(node, *inputs[0])
            if found is not None:
                return found
            if not _is_number(node):
                continue
        elif node.name() not in LINEAR:
            continue
        waiting.extend(one for one, _ in inputs)
    return None


def _outer_at(node, given, output):
    """Returns both shapes and the function, where this product makes a square of one row or column of terms."""
    made, shape = shape_of(node, 0), shape_of(given, output)
    if made is None or shape is None or len(made) != 2 or made[0] != made[1] or made[0] < LEAST_ROWS:
        return None
    rows = made[0]
    if shape not in ((rows,), (rows, 1)) or given.name() in ("UnsqueezeBackward0", "ExpandBackward0"):
        return None
    for weight in (saved_by(node, "other"), saved_by(node, "self")):
        sizes = tuple(getattr(weight, "shape", ()))
        crossed = sizes == ((rows, 1) if len(shape) == 1 else (rows,))
        if crossed or (sizes == made and _is_table_of_differences(weight, rows)):
            return shape, made, node.name()
    return None


def _is_number(node):
    """Whether the other factor is one number."""
    factors = [saved_by(node, name) for name in ("other", "self")]
    return any(type(one) in (int, float) or getattr(one, "numel", int)() == 1 for one in factors if one is not None)


def _is_table_of_differences(table, rows):
    """Whether each number is one of its row plus one of its column, and both vary; not of one row with itself."""
    if tensor_samples.why_not(table):
        return False
    places = sorted({index * (rows - 1) // (GRID - 1) for index in range(GRID)})
    numbers = [[_number_at(table, row, column) for column in places] for row in places]
    if any(one is None for line in numbers for one in line):
        return False
    top = numbers[0]
    limit = ROUNDING * max(abs(one) for line in numbers for one in line)
    apart = [abs(one - line[0] - above + top[0]) for line in numbers for one, above in zip(line, top)]  # noqa: B905
    varies = max(abs(line[0] - top[0]) for line in numbers) > limit, max(abs(one - top[0]) for one in top) > limit
    own = all(abs(line[index]) <= limit for index, line in enumerate(numbers))
    return max(apart) <= limit and all(varies) and not own


def _number_at(tensor, row, column):
    size, (down, right) = tensor.element_size(), tensor.stride()
    data = ctypes.string_at(tensor.data_ptr() + (row * down + column * right) * size, size)
    told = tensor_samples.numbers_in(data, str(tensor.dtype)[len("torch.") :])
    return told[0] if told else None

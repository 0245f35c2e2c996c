"""Losses to which a term was added that has no graph, and losses beside them of which nothing is in that graph.

`loss + aux.item()` leaves a sum in the graph of which one side has no gradient. So does `0 + loss`: which of both it
is, the variables of the lines around the backward pass tell, which may hold a loss whose graph this one lacks.
"""

from __future__ import annotations

import sys

MOST_NODES = 48
_SUMS = ("AddBackward0", "SubBackward0")
# What a sum of losses is made of, down to where each comes from.
_PLAIN = frozenset((
    *_SUMS, "MulBackward0", "MulBackward1", "DivBackward0", "DivBackward1", "NegBackward0", "MeanBackward0",
    "SumBackward0", "MeanBackward1", "SumBackward1", "ToCopyBackward0", "CloneBackward0", "ViewBackward0",
    "SqueezeBackward0", "UnsqueezeBackward0", "StackBackward0", "CatBackward0", "SelectBackward0", "RsubBackward1",
    "_DDPSinkBackward",
))  # fmt: skip


def parts_behind(root):
    """Returns the nodes of which a loss is a sum, None where each of its terms has a graph."""
    waiting, parts, adds = [root], [], False
    while waiting and len(parts) < MOST_NODES:
        node = waiting.pop(0)
        parts.append(node)
        given = [one for one, _ in node.next_functions]
        adds = adds or (node.name() in _SUMS and len(given) == 2 and given.count(None) == 1)
        if node.name() in _PLAIN:
            waiting += [one for one in given if one is not None]
    return parts if adds and not waiting else None


def losses_beside(variables, parts):
    """Returns the names of variables that hold one number with a graph which is no part of the loss."""
    plain = sys.modules["torch"].Tensor
    found = []
    for name, value in variables:
        if type(value) is not plain or not value.requires_grad or value.grad_fn is None or value.numel() != 1:
            continue
        if not any(value.grad_fn is part for part in parts) and not _lead_to(value.grad_fn, parts):
            found.append(name)
    return found


def _lead_to(node, parts):
    """Whether one of these is made of nothing but a part of the loss, as `aux.mean()` beside `aux` is."""
    while node is not None and node.name() in _PLAIN:
        if any(node is part for part in parts):
            return True
        given = [one for one, _ in node.next_functions if one is not None]
        node = given[0] if len(given) == 1 else None
    return node is not None and any(node is part for part in parts)

"""The terms of which a loss is a sum, and which parameters each of them leads to."""

from __future__ import annotations

from math import prod

from .spread_differences import shape_of

MOST_NODES = 4000  # of one term
MOST_TERMS = 12
_SUMS = ("AddBackward0", "SubBackward0")
_SCALES = frozenset((
    "MulBackward0", "MulBackward1", "DivBackward0", "DivBackward1", "NegBackward0", "ToCopyBackward0",
    "CloneBackward0", "ViewBackward0", "SqueezeBackward0",
))  # fmt: skip
_LEAF = "AccumulateGrad"


def terms_behind(root):
    """Returns the nodes that a loss is the sum of, each one number; [] where it is no sum."""
    waiting, terms = [root], []
    while waiting and len(terms) <= MOST_TERMS:
        node = waiting.pop(0)
        given = [one for one, _ in node.next_functions if one is not None]
        shape, name = shape_of(node, 0), node.name()
        plain = name in _SUMS or (name in _SCALES and len(given) == 1)
        if plain and given and shape is not None and prod(shape) == 1:
            waiting += given
        else:
            terms.append(node)
    return terms if 1 < len(terms) <= MOST_TERMS else []


def leaves_of(node):
    """Returns the ids of the tensors that a graph leads to, None where it is too large."""
    waiting, met, found = [node], set(), set()
    while waiting:
        one = waiting.pop()
        if one in met:
            continue
        if len(met) >= MOST_NODES:
            return None
        met.add(one)
        if one.name().endswith(_LEAF):
            variable = getattr(one, "variable", None)
            if variable is not None:
                found.add(id(variable))
        waiting += [each for each, _ in one.next_functions if each is not None]
    return found

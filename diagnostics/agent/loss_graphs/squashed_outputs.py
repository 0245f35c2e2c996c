"""Losses that take logits and are given what a softmax or sigmoid made of them, and the other way round.

The graph is followed from the loss to the first cross entropies. What stands straight before each says what it was
given: nothing that changes a number lies between.
"""

from __future__ import annotations

from .spread_differences import LAYERS, PASSED_ON, shape_of

MOST_NODES, MOST_DEEP = 32, 6
_ENTROPIES = ("NllLossBackward0", "NllLoss2DBackward0")
_BINARY = "BinaryCrossEntropyWithLogitsBackward0"
_LOG = "LogSoftmaxBackward0"
SQUASHES = ("SoftmaxBackward0", "SigmoidBackward0")
_PLAIN = frozenset((
    "AddBackward0", "SubBackward0", "MulBackward0", "MulBackward1", "DivBackward0", "DivBackward1", "MeanBackward0",
    "SumBackward0", "NegBackward0", "ToCopyBackward0", "StackBackward0", "CloneBackward0",
))  # fmt: skip
# They change where a number stands, and no number.
_MOVES = frozenset((
    "ViewBackward0", "UnsafeViewBackward0", "ReshapeAliasBackward0", "TransposeBackward0", "PermuteBackward0",
    "CloneBackward0", "ToCopyBackward0", "SqueezeBackward0", "SqueezeBackward1", "UnsqueezeBackward0", "TBackward0",
    "AliasBackward0",
))  # fmt: skip


def squashed_behind(root, loss):
    """Returns (what the loss was given, what takes it), None where each is given what it takes."""
    waiting, seen = [root], 0
    while waiting and seen < MOST_NODES:
        node = waiting.pop(0)
        seen += 1
        name = node.name()
        found = _at_entropy(node, loss) if name in _ENTROPIES else _at_binary(node) if name == _BINARY else None
        if found is not None:
            return found
        if name in _PLAIN:
            waiting += [one for one, _ in node.next_functions if one is not None]
    return None


def _at_entropy(node, loss):
    given = _before(node)
    if given is None:
        return None
    if given.name() != _LOG:
        is_raw = given.name() in LAYERS and loss is not None and loss < 0
        return ("LayerBackward", "NllLossBackward0") if is_raw else None  # no logarithm of a probability is above 0
    shape = shape_of(given, 0)
    if shape is not None and len(shape) == 2 and given._saved_dim == 0 and shape[0] > 1:
        return "LogSoftmaxBackward0", "NllLossBackward0"  # over the batch
    inner = _before(given)
    if inner is None or inner.name() != SQUASHES[0]:
        return None
    size = _size_along(inner)
    return (inner.name(), _LOG) if size is not None and size == _size_along(given) else None


def _size_along(node):
    """Returns the size of the dimension along which a softmax was taken: it may have been moved since."""
    shape, along = shape_of(node, 0), node._saved_dim
    along = along - (1 << 64) if along >= 1 << 63 else along  # -1 comes without its sign
    return shape[along] if shape is not None and -len(shape) <= along < len(shape) else None


def _at_binary(node):
    given = _before(node)
    return (given.name(), _BINARY) if given is not None and given.name() in SQUASHES else None


def _before(node):
    """Returns what gave a function its first input, past what only moves numbers."""
    return made_by(*node.next_functions[0])


def made_by(given, output):
    """Returns the node that made the output of this one, past what only moves numbers; None where that is far."""
    for _ in range(MOST_DEEP):
        if given is None:
            return None
        if given.name() == PASSED_ON and output < len(given.next_functions):
            given, output = given.next_functions[output]
        elif given.name() in _MOVES:
            given, output = given.next_functions[0]
        else:
            return given
    return None

"""What one target weighs in a loss: what cross entropy saved of their number, and what the loss is multiplied by."""

from __future__ import annotations

import ctypes
import sys
from math import prod

from ..torch_hooks import tensor_samples
from .saved_tensors import saved_by
from .spread_differences import shape_of

MOST_NODES = 12
_LOSSES = ("NllLossBackward0", "NllLoss2DBackward0")
_SCALES = ("MulBackward0", "MulBackward1", "DivBackward0", "DivBackward1")
_PLAIN = ("AddBackward0", "ToCopyBackward0", "MeanBackward0", "ViewBackward0", "SqueezeBackward0")
_MEAN, _SUM = 1, 2


class TargetWeight:
    """Of one cross entropy: what one target weighs, how many there are, of how many rows and classes."""

    __slots__ = ("classes", "rows", "targets", "weight")

    def __init__(self, weight, targets, rows, classes):
        self.weight, self.targets, self.rows, self.classes = weight, targets, rows, classes


def weight_behind(root):
    """Returns the TargetWeight of the one cross entropy behind a loss, None where that is not known."""
    waiting, found, seen = [(root, 1.0)], None, 0
    while waiting and seen < MOST_NODES:
        node, scale = waiting.pop(0)
        seen += 1
        name = node.name()
        if name in _LOSSES:
            if found is not None:
                return None  # of several losses
            found = _weight_at(node, scale)
            if found is None:
                return None
            continue
        if name in _SCALES:
            factor = _number(saved_by(node, "other"))
            if not factor:
                continue  # something else than a number
            scale = scale * factor if name.startswith("Mul") else scale / factor
        elif name not in _PLAIN:
            continue
        waiting += [(one, scale) for one, _ in node.next_functions if one is not None]
    return found


def _weight_at(node, scale):
    total, reduction = _number(saved_by(node, "total_weight")), getattr(node, "_saved_reduction", None)
    given, output = node.next_functions[0]
    shape = shape_of(given, output) if given is not None else None
    if not total or reduction not in (_MEAN, _SUM) or not shape or len(shape) < 2:
        return None
    if saved_by(node, "weight") is not None:  # of classes
        return None
    rows = prod(shape) // max(1, shape[1])
    return TargetWeight(scale / total if reduction == _MEAN else scale, total, rows, shape[1])


def _number(saved):
    """Returns a number that was saved, None where it cannot be read."""
    if saved is None or type(saved) in (int, float):
        return saved
    if type(saved) is not sys.modules["torch"].Tensor:
        return None
    if str(saved.dtype) == "torch.int64" and saved.numel() == 1 and not tensor_samples.why_not(saved):
        return int.from_bytes(ctypes.string_at(saved.data_ptr(), 8), sys.byteorder, signed=True)
    return tensor_samples.scalar_of(saved)

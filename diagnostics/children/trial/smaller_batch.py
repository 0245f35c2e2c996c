"""Batches of which only the first items are kept."""

from collections import Counter

from ..inspection.refusal import Refusal
from ..trial_observers.walking import MAX_DEPTH, mapped, tensors_in


def smaller(calls, items):
    """Returns calls that give the first items of each batch."""

    def following():
        call = calls()
        size = size_of(call)
        if size is None or size < items:
            raise Refusal("a batch of %s cannot be cut to %d" % ("unknown size" if size is None else size, items))
        return cut_lists(call, size, items, MAX_DEPTH)

    return following


def size_of(call):
    """Returns the batch size: the first dim that most tensors have, of equals the first one's; None without any."""
    sizes = [one.shape[0] for one in tensors_in(call) if one.dim()]
    return Counter(sizes).most_common(1)[0][0] if sizes else None


def cut_lists(value, size, items, depth):
    """Returns the value with tensors and lists of that many items cut."""

    def cut(tensor):
        return tensor[:items] if tensor.dim() and tensor.shape[0] == size else tensor

    if not depth or not isinstance(value, (tuple, list, dict)) or hasattr(value, "_fields"):
        return mapped(value, cut)
    if type(value) is list and len(value) == size:
        value = value[:items]
    if type(value) in (tuple, list):
        return type(value)(cut_lists(item, size, items, depth - 1) for item in value)
    if type(value) is dict:
        return {key: cut_lists(item, size, items, depth - 1) for key, item in value.items()}
    return mapped(value, cut)

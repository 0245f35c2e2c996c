"""Which tensors of a model lie in the same memory; a tensor is known by its storage and the bytes it spans there."""

from itertools import combinations

import torch

from .made import definition

EXACT_ELEMENTS = 1 << 22  # above, two strided tensors that only may meet count as apart
MAX_PAIRS = 50


def storage(tensor):
    """Returns a key that all views of one memory share, None where a tensor has no memory of its own."""
    try:
        return tensor.untyped_storage()._cdata
    except (AttributeError, NotImplementedError, RuntimeError):  # sparse, wrapped by functorch, torch before 2.0
        return None


def dimensions(tensor):
    """Returns (size, stride) of each dimension."""
    return [(tensor.size(number), tensor.stride(number)) for number in range(tensor.dim())]


def span(tensor):
    """Returns the first element and the one behind the last that the tensor reaches in its storage, in bytes."""
    if tensor.numel() == 0:
        return 0, 0
    reach = sum((size - 1) * stride for size, stride in dimensions(tensor))
    first = tensor.storage_offset()
    return first * tensor.element_size(), (first + reach + 1) * tensor.element_size()


def meets(one, other):
    """Whether two tensors of one storage have an element in common."""
    (begin, end), (start, stop) = span(one), span(other)
    if end <= start or stop <= begin:
        return False
    if one.is_contiguous() and other.is_contiguous():
        return True
    if one.dtype != other.dtype or one.numel() + other.numel() > EXACT_ELEMENTS:
        return False
    return bool(torch.isin(_elements(one), _elements(other)).any())


def _elements(tensor):
    index = torch.tensor([tensor.storage_offset()])
    for size, stride in dimensions(tensor):
        index = (index[:, None] + torch.arange(size) * stride).flatten()
    return index


def repeats_itself(tensor):
    """Whether several elements of the tensor are one place in memory, as expand() leaves them."""
    return tensor.numel() > 0 and any(size > 1 and stride == 0 for size, stride in dimensions(tensor))


def registered(model):
    """Returns (name, tensor, kind) of every parameter and buffer, under each of its names."""
    found = [(name, value, "parameter") for name, value in model.named_parameters(remove_duplicate=False)]
    found += [(name, value, "buffer") for name, value in model.named_buffers(remove_duplicate=False)]
    return [(name, value, kind) for name, value, kind in found if not _unmade(value)]


def _unmade(tensor):
    return isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin)


def sharing(model):
    """Returns what of the model shares memory: tied names, views that overlap, tensors that repeat themselves."""
    tensors = registered(model)
    return {
        "tied": [_tie(model, names) for names in _tied(tensors, model)],
        "overlaps": [
            {"one": _described(model, *one), "other": _described(model, *other)} for one, other in _overlaps(tensors)
        ],
        "expanded": [_described(model, *one) for one in tensors if repeats_itself(one[1])],
    }


def _described(model, name, tensor, kind):
    return {
        "name": name,
        "kind": kind,
        "place": definition(model, name),
        "shape": list(tensor.shape),
        "stride": list(tensor.stride()),
        "trainable": bool(tensor.requires_grad),
    }


def _tie(model, names):
    return {"names": names, "places": [definition(model, name) for name in names]}


def _tied(tensors, model):
    """Yields the names of each object that has several; of a module that has several, those of the module."""
    modules = {}
    for name, module in model.named_modules(remove_duplicate=False):
        modules.setdefault(id(module), []).append(name)
    shared = [names for names in modules.values() if len(names) > 1]
    outermost = [names for names in shared if not any(_inside(names, other) for other in shared)]
    yield from (names for names in outermost if _holds_parameters(model, names[0]))
    objects = {}
    for name, tensor, _ in tensors:
        objects.setdefault(id(tensor), []).append(name)
    for names in objects.values():
        if len(names) > 1 and not any(_inside(names, other) for other in shared):
            yield names


def _inside(names, others):
    return names is not others and all(any(name.startswith(other + ".") for other in others) for name in names)


def _holds_parameters(model, name):
    return any(True for _ in dict(model.named_modules(remove_duplicate=False))[name].parameters())


def _overlaps(tensors):
    by_storage = {}
    for name, tensor, kind in tensors:
        known = by_storage.setdefault(storage(tensor), {})
        known.setdefault(id(tensor), (name, tensor, kind))
    pairs = []
    for key, group in by_storage.items():
        if key is not None and len(group) > 1:
            ordered = sorted(group.values(), key=lambda one: span(one[1]))
            pairs += [pair for pair in combinations(ordered[:200], 2) if meets(pair[0][1], pair[1][1])]
    return pairs[:MAX_PAIRS]

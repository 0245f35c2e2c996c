"""A model that a function without arguments makes, and batches that another one, a loader or a generator gives."""

import sys

import torch

from ..inspection.refusal import Refusal
from ..inspection.targets import NEEDED, as_call, check_call, load, required


class Factory:
    """`factory` and `inputs` are `module:name` or `file.py:name`; `inputs` is "" where forward takes nothing."""

    def __init__(self, factory, inputs, workers):
        self.factory, self.inputs, self.workers = factory, inputs, workers
        self.loaded_factory = self.loaded_inputs = None

    def load(self):
        """Imports both; code that reads the command line on import finds none."""
        sys.argv = [self.factory.rpartition(":")[0]]
        self.loaded_factory = load(self.factory)
        self.loaded_inputs = load(self.inputs) if self.inputs else None

    def build(self):
        """Returns the model; what the factory raises is a failure and no refusal."""
        made = self.loaded_factory
        if not isinstance(made, torch.nn.Module):
            if not callable(made):
                raise Refusal("%s is a %s, no factory of a model" % (self.factory, type(made).__name__))
            refuse_arguments(self.factory, made)
            made = made()
        if not isinstance(made, torch.nn.Module):
            raise Refusal("%s returned a %s, not a torch.nn.Module" % (self.factory, type(made).__name__))
        return made

    def calls(self, model, count):
        """Returns the arguments of `count` calls."""
        name = type(model).__name__
        if not count:
            return []
        if self.loaded_inputs is None:
            missing = required(model.forward)
            if missing:
                hint = "add --inputs module:make_batch, %s" % NEEDED
                raise Refusal("%s.forward takes (%s)" % (name, ", ".join(missing)), hint)
            return [((), {})] * count
        return calls_of(model, self.inputs, self.loaded_inputs, self.workers, count)


def calls_of(model, spec, source, workers, count):
    """Returns the arguments of `count` calls with batches of the user's; raises Refusal where forward takes others."""
    calls = [as_call(model, batch) for batch in taken(spec, source, workers, count)]
    for args, kwargs in calls:
        check_call(model, type(model).__name__, args, kwargs)
    return calls


def refuse_arguments(spec, function):
    """Raises Refusal where the function cannot be called without arguments."""
    missing = required(function)
    if missing:
        hint = "name a function without arguments: def make(): return %s(...)" % spec.rpartition(":")[2]
        raise Refusal("%s needs arguments (%s)" % (spec, ", ".join(missing)), hint)


def taken(spec, source, workers, count):
    """Returns `count` batches of a function, a loader, a generator, or of one batch itself."""
    if callable(source) and not isinstance(source, torch.utils.data.DataLoader):
        refuse_arguments(spec, source)
        first = source()
        if not is_source(first):
            return [first] + [source() for _ in range(count - 1)]
        source = first
    if isinstance(source, (torch.Tensor, tuple, dict)):
        return [source] * count
    if not hasattr(source, "__iter__"):
        raise Refusal("%s is a %s" % (spec, type(source).__name__), "name a function, %s" % NEEDED)
    if isinstance(source, torch.utils.data.DataLoader):
        use_workers(source, workers)
    return cycled(spec, source, count)


def is_source(value):
    """Whether a function returned what gives batches, and not a batch: a generator or a loader."""
    return hasattr(value, "__next__") or isinstance(value, torch.utils.data.DataLoader)


def use_workers(loader, workers):
    """Has the user's own loader read with that many workers."""
    loader.num_workers = workers
    loader.prefetch_factor = (loader.prefetch_factor or 2) if workers else None
    if not workers:
        loader.timeout = 0  # means workers only, and is refused without


def cycled(spec, source, count):
    """Returns the first `count` items; where there are fewer, the last one again and again."""
    items, iterator = [], iter(source)
    while len(items) < count:
        try:
            items.append(next(iterator))
        except StopIteration:
            if not items:
                raise Refusal("%s has no batch" % spec) from None
            items += items[-1:] * (count - len(items))
    return items

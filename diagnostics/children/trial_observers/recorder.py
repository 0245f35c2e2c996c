"""What each module takes and gives in one forward, written down before the module runs and after."""

import threading
from contextlib import contextmanager

import torch

from ..trial.autocasting import autocast
from ..trial.lowering import Lowering
from .structures import Describing
from .walking import signature, tensors_in

INTERNAL = frozenset(vars(torch.nn.Module()))  # of every module: no attribute that a forward sets for others


class Recorder:
    """Writes the calls of one forward into the journal; `paths`: id of a module -> its dotted path."""

    def __init__(self, journal, paths, number):
        self.journal, self.paths, self.number = journal, paths, number
        self.thread = threading.get_ident()
        self.lowering = None if autocast() else Lowering()

    def call(self, original, module, args, kwargs):
        """Calls the module as it is, noting both sides."""
        path = self.paths[id(module)]
        number, self.number = self.number, self.number + 1
        inputs = tensors_in((args, kwargs))
        self.enter(path, number, module, args, kwargs)
        versions, before = [version(one) for one in inputs], dict(vars(module))
        output = original(module, *args, **kwargs)
        describing = Describing(inputs, lowering=self.lowering)
        sets = {
            name: describing.describe(value)
            for name, value in list(vars(module).items())
            if name not in INTERNAL and before.get(name, before) is not value
        }
        told = describing.describe(output)
        mutates = [at for at, one in enumerate(inputs) if version(one) != versions[at]]
        self.journal.store("leave-%d" % number, describing.stored)
        self.journal.write(leave=number, output=told, mutates=mutates, sets=sets)
        return output

    def enter(self, path, number, module, args, kwargs):
        """Notes what the module is given."""
        describing = Describing(keep_all=True, lowering=self.lowering)
        told = {"args": describing.describe(tuple(args)), "kwargs": describing.describe(dict(kwargs))}
        self.journal.store("enter-%d" % number, describing.stored)
        grad, cast = torch.is_grad_enabled(), autocast()
        told.update(signature=signature((args, kwargs)), training=module.training)
        self.journal.write(enter=path, number=number, grad=grad, autocast=cast, **told)


def version(tensor):
    """Returns how often a tensor was changed in place, 0 where nobody counts."""
    return 0 if tensor.is_inference() else tensor._version


@contextmanager
def listening(recorder):
    """Has the calls of this thread's modules pass through the recorder; what a compiler traces does not."""
    original, kind = torch.nn.Module.__call__, torch.nn.Module
    compiler = getattr(torch, "compiler", None)
    is_compiling = getattr(compiler, "is_dynamo_compiling", None) or getattr(compiler, "is_compiling", bool)

    def __call__(self, *args, **kwargs):  # noqa: N807
        if is_compiling() or id(self) not in recorder.paths or threading.get_ident() != recorder.thread:
            return original(self, *args, **kwargs)
        return recorder.call(original, self, args, kwargs)

    kind.__call__ = __call__
    try:
        yield
    finally:
        kind.__call__ = original

"""Stands in for Python functions of torch's, unnoticed by torch.jit.script, torch.compile and pickle."""

from __future__ import annotations

import sys
import types

from ..patching import disguised

MODULE = "torch.nn.functional"


def hear(name, before, *modules):
    """Has `before` told of each call of a function, with the caller's frame and the arguments."""
    modules = [sys.modules[one] for one in modules or (MODULE,)]
    original = getattr(modules[0], name, None)
    if not isinstance(original, types.FunctionType):
        return
    wrapper = _standing_in(original, before)
    for module in modules:
        if getattr(module, name, None) is original:
            setattr(module, name, wrapper)


def _standing_in(original, before):
    frame_of = sys._getframe

    def call(*args, **kwargs):
        try:
            before(frame_of(1), args, kwargs)
        except Exception:
            pass  # a call that nobody saw; the job goes on
        return original(*args, **kwargs)

    # torch.jit.script reads the source of the original and looks up its names in the globals of what it was given.
    wrapper = types.FunctionType(call.__code__, original.__globals__, original.__name__, None, call.__closure__)
    wrapper = disguised(wrapper, original)
    wrapper._torchdynamo_inline = original  # what torch.compile looks at in its place: it compiles as it did
    return wrapper

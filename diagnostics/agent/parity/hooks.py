"""Where an experiment looks in: outermost modules, loaders, backward, clipping and optimizers."""

from __future__ import annotations

import functools
import os
import sys
import traceback

from ..imports import when_imported
from ..torch_hooks.dynamo import leave_uncompiled
from . import attention, collating, loaders, randoms, structures, tensors, writing
from . import session as sessions

OPTIMIZERS = "torch.optim.optimizer"


def place_hooks(session, inside):
    """Patches torch of this process; `inside()` says whether a module is open in this thread."""
    import torch

    leave_uncompiled(
        attention, collating, loaders, randoms, sessions, structures, tensors, writing, sys.modules[__name__]
    )
    if session.plan.get("dtype") == "float64":
        torch.set_default_dtype(torch.float64)
    when_imported(loaders.LOADERS, lambda: loaders.place_hooks(session))
    when_imported(OPTIMIZERS, lambda: _hook_optimizers(session))
    _hook_backward(torch, session)
    randoms.place_hooks(session, inside)
    when_imported("torch.nn.utils", lambda: _hook_clipping(session))
    session.guarded = functools.partial(_guarded, session)


def _guarded(session, look, *args):
    """Calls a part of the record; what goes wrong in it ends the experiment with that sentence, not the script."""
    if not session.alive:
        return None
    try:
        return look(*args)
    except Exception as error:
        session.alive = False
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = "%s:%d" % (os.path.basename(last.filename), last.lineno)
        session.refuse("it cannot be recorded: %s: %s (%s)" % (type(error).__name__, error, where))


def _hook_optimizers(session):
    module = sys.modules[OPTIMIZERS]
    make = module.Optimizer.__init__

    @functools.wraps(make)
    def __init__(self, *args, **kwargs):  # noqa: N807
        make(self, *args, **kwargs)
        session.guarded(session.made, self)

    module.Optimizer.__init__ = __init__
    module.register_optimizer_step_pre_hook(functools.partial(_before_step, session))
    module.register_optimizer_step_post_hook(lambda optimizer, *_: _after_step(session, optimizer))


def _before_step(session, optimizer, args, kwargs):
    """Looks at what an optimizer is about to use; where a closure computes it inside of the step, after that."""
    closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
    if closure is None:
        session.guarded(session.stepping, optimizer)
        return None

    def computed():
        result = closure()
        session.guarded(session.stepping, optimizer)
        return result

    if "closure" in kwargs:
        return args, dict(kwargs, closure=computed)
    return (args[0], computed, *args[2:]), kwargs


def _after_step(session, optimizer):
    session.guarded(session.stepped, optimizer)


def _hook_backward(torch, session):
    original = torch.autograd.backward

    @functools.wraps(original)
    def backward(tensors_, *args, **kwargs):
        before = session.guarded(session.backward_begins)
        result = original(tensors_, *args, **kwargs)
        roots = [tensors_] if isinstance(tensors_, torch.Tensor) else list(tensors_)
        value = float(roots[0].detach()) if len(roots) == 1 and roots[0].numel() == 1 else None
        session.guarded(session.backward_ended, value, before)
        return result

    torch.autograd.backward = backward


def _hook_clipping(session):
    for name in ("torch.nn.utils.clip_grad", "torch.nn.utils"):
        module = sys.modules.get(name)
        original = getattr(module, "clip_grad_norm_", None)
        if original is None or hasattr(original, "_ups_doctor_parity"):
            continue

        @functools.wraps(original)
        def clip_grad_norm_(parameters, max_norm, *args, _original=original, **kwargs):
            parameters = [parameters] if hasattr(parameters, "grad") else list(parameters)
            session.guarded(session.clipping, max_norm)
            norm = _original(parameters, max_norm, *args, **kwargs)
            session.guarded(session.clipped, norm)
            return norm

        clip_grad_norm_._ups_doctor_parity = True
        module.clip_grad_norm_ = clip_grad_norm_

"""Where a capture looks in: each construction, call and wrap of a module, optimizers, and backward."""

from __future__ import annotations

import functools
import sys

from ..imports import when_imported

# module, class that wraps its first argument, the wrapper's name in a bisection
WRAPPERS = (
    ("torch.nn.parallel.distributed", "DistributedDataParallel", "ddp"),
    ("torch.distributed.fsdp.fully_sharded_data_parallel", "FullyShardedDataParallel", "fsdp1"),
    ("torch.nn.parallel.data_parallel", "DataParallel", "none"),
)
SHARDS = ("torch.distributed.fsdp", "torch.distributed._composable.fsdp")


def place_hooks(capture):
    """Patches torch.nn.Module now, and the rest when it is imported."""
    import torch

    module = torch.nn.Module
    module.__new__ = staticmethod(_made(module, capture))
    module.__call__ = _called(module.__call__, capture)
    for name in ("compile",):
        if hasattr(module, name):
            setattr(module, name, _before(getattr(module, name), lambda *_: capture.seen.update(compile=True)))
    torch.compile = _before(torch.compile, lambda *_: capture.seen.update(compile=True))
    torch.autograd.backward = _before(torch.autograd.backward, lambda *_: capture.backward())
    torch.save = _before(torch.save, lambda *_: capture.saving())
    for holder, name, kind in WRAPPERS:
        when_imported(holder, functools.partial(_hook_wrapper, capture, holder, name, kind))
    for holder in SHARDS:
        when_imported(holder, functools.partial(_hook_shard, capture, holder))
    when_imported("torch.optim.optimizer", lambda: _hook_optimizer(capture))


def _made(module, capture):
    def __new__(cls, *args, **kwargs):  # noqa: N807
        make = super(module, cls).__new__
        made = make(cls) if make is object.__new__ else make(cls, *args, **kwargs)
        _safely(capture.constructing, made, args, kwargs, sys._getframe(1))
        return made

    return __new__


def _called(original, capture):
    @functools.wraps(original)
    def __call__(self, *args, **kwargs):  # noqa: N807
        outermost = capture.enter()
        try:
            if outermost:
                _safely(capture.calling, self, args, kwargs, sys._getframe(1))
            return original(self, *args, **kwargs)
        finally:
            capture.leave()

    return __call__


def _hook_wrapper(capture, holder, name, kind):
    owner = getattr(sys.modules[holder], name)
    original = owner.__init__

    @functools.wraps(original)
    def __init__(self, module, *args, **kwargs):  # noqa: N807
        options = {key: value for key, value in kwargs.items() if isinstance(value, (bool, int, str))}
        _safely(capture.wrapping, module, kind, options)
        original(self, module, *args, **kwargs)
        _safely(capture.wrapped)

    owner.__init__ = __init__


def _hook_shard(capture, holder):
    original = getattr(sys.modules[holder], "fully_shard", None)
    if original is None or hasattr(original, "_ups_doctor"):
        return

    @functools.wraps(original)
    def fully_shard(module, *args, **kwargs):
        first = module[0] if isinstance(module, (list, tuple)) and module else module
        _safely(capture.wrapping, first, "fsdp2", {})
        result = original(module, *args, **kwargs)
        _safely(capture.wrapped)
        return result

    fully_shard._ups_doctor = True
    for name, held in list(sys.modules.items()):
        if name.startswith("torch.distributed") and vars(held).get("fully_shard") is original:
            held.fully_shard = fully_shard


def _hook_optimizer(capture):
    owner = sys.modules["torch.optim.optimizer"].Optimizer
    original = owner.__init__

    @functools.wraps(original)
    def __init__(self, *args, **kwargs):  # noqa: N807
        original(self, *args, **kwargs)
        _safely(capture.optimizing, self)

    owner.__init__ = __init__


def _before(original, look):
    @functools.wraps(original)
    def call(*args, **kwargs):
        _safely(look, *args)
        return original(*args, **kwargs)

    return call


def _safely(look, *args):
    try:
        look(*args)
    except Exception:  # ups: ignore[A502] it looks on; the training itself is called outside of it
        pass  # less is captured; the script goes on

"""What a training job makes: process groups, the DDP wrap, loaders, samplers, optimizers; each with its call path."""

from __future__ import annotations

import functools
import os
import sys
import time

from . import areas, boot, call_area, collectives, dynamo, flight, frames, loaders, steps
from .imports import when_imported

GROUPS = "torch.distributed.distributed_c10d"
GROUP_MADE = "process-group"
# module, class, kind of the event written when one is made
MADE = (
    ("torch.nn.parallel.distributed", "DistributedDataParallel", "ddp"),
    ("torch.utils.data.dataloader", "DataLoader", "dataloader"),
    ("torch.utils.data.distributed", "DistributedSampler", "sampler"),
    ("torch.optim.optimizer", "Optimizer", "optimizer"),
)


def watch(agent):
    """Wraps what is imported already, and the rest when it is imported."""
    dynamo.leave_uncompiled(areas, boot, call_area, collectives, frames, loaders, steps)
    when_imported(GROUPS, lambda: _watch_groups(agent))
    when_imported(GROUPS, lambda: collectives.watch(agent))
    for module, name, kind in MADE:
        when_imported(module, functools.partial(_watch_class, agent, module, name, kind))
    when_imported(steps.MODULE, lambda: steps.watch(agent))
    when_imported(loaders.MODULE, lambda: loaders.watch(agent))


def _watch_groups(agent):
    for name, kind in (("init_process_group", GROUP_MADE), ("destroy_process_group", "process-group-end")):
        original = getattr(sys.modules[GROUPS], name, None)
        if original is None:
            continue
        wrapped = _timed(agent, original, kind, _group_text)
        for module in (GROUPS, "torch.distributed"):
            if getattr(sys.modules.get(module), name, None) is original:
                setattr(sys.modules[module], name, wrapped)


def _watch_class(agent, module, name, kind):
    owner = getattr(sys.modules[module], name)
    if "__init__" in vars(owner):
        owner.__init__ = _timed(agent, owner.__init__, kind, _class_text)


def _timed(agent, original, kind, describe):
    """Returns `original` with an event before and one after it; the second one's value is the nanoseconds between."""

    @functools.wraps(original)
    def call(*args, **kwargs):
        frame = sys._getframe(1)
        agent.event(kind + "-begin", _safely(describe, args, kwargs), frame=frame)
        began = time.monotonic_ns()
        result = original(*args, **kwargs)
        agent.event(kind, _safely(describe, args, kwargs), value=time.monotonic_ns() - began, frame=frame)
        if kind == GROUP_MADE:
            flight.start(agent)
        return result

    return call


def _safely(describe, args, kwargs):
    try:
        return describe(args, kwargs)
    except Exception:
        return ""


def _class_text(args, kwargs):
    return type(args[0]).__qualname__ if args else ""


def _group_text(args, kwargs):
    """Returns "rank=1 world_size=2 backend=gloo", as far as torch can tell by now; before, also "port=29500"."""
    import torch.distributed as dist

    if dist.is_initialized():
        return "rank=%d world_size=%d backend=%s" % (dist.get_rank(), dist.get_world_size(), dist.get_backend())
    backend = kwargs.get("backend", args[0] if args else "")
    return " ".join(
        "%s=%s" % pair
        for pair in (
            ("rank", kwargs.get("rank")),
            ("world_size", kwargs.get("world_size")),
            ("backend", backend),
            ("port", _port(kwargs.get("init_method"), kwargs.get("store"))),
        )
        if pair[1] not in (None, "", -1)
    )


def _port(init_method, store):
    """Returns the port of the store that is asked now: a script may have set the variables after its start."""
    if store is not None:
        return ""
    if init_method is None or init_method.startswith("env:"):
        return os.environ.get("MASTER_PORT", "")[:5]
    return init_method.partition("?")[0].rpartition(":")[2][:5] if init_method.startswith("tcp://") else ""

"""What a training job makes: process groups, the DDP wrap, loaders, samplers, optimizers; each with its call path."""

from __future__ import annotations

import functools
import os
import sys
import time

from .. import areas, frames
from ..imports import when_imported
from ..shared.redaction import hide_words
from . import call_area, collectives, dynamo, flight_recorder, loaders, steps, store_waits

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
    dynamo.leave_uncompiled(areas, call_area, collectives, frames, loaders, steps, store_waits)
    when_imported(GROUPS, lambda: _watch_groups(agent))
    when_imported(GROUPS, lambda: collectives.watch(agent))
    for module, name, kind in MADE:
        when_imported(module, functools.partial(_watch_class, agent, module, name, kind))
    when_imported(steps.MODULE, lambda: steps.watch(agent))
    when_imported(loaders.MODULE, lambda: loaders.watch(agent))


def _watch_groups(agent):
    # Some took them by name before: init_device_mesh makes the default group where the script does not.
    holders = [held for name, held in list(sys.modules.items()) if name.startswith("torch.distributed")]
    for name, kind in (("init_process_group", GROUP_MADE), ("destroy_process_group", "process-group-end")):
        original = getattr(sys.modules[GROUPS], name, None)
        if original is None:
            continue
        wrapped = _timed(agent, original, kind, _group_text)
        for holder in holders:
            if vars(holder).get(name) is original:
                setattr(holder, name, wrapped)


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
            flight_recorder.start(agent)
        return result

    return call


def _safely(describe, args, kwargs):
    try:
        return describe(args, kwargs)
    except Exception:
        return ""


def _class_text(args, kwargs):
    return type(args[0]).__qualname__ if args else ""


# The parameters of init_process_group by place, in every torch from 1.8 on.
_PARAMETERS = ("backend", "init_method", "timeout", "world_size", "rank", "store")


def _group_text(args, kwargs):
    """Returns "rank=1 world_size=2 backend=gloo timeout_s=1800", as far as torch can tell by now.

    Before the group is there also whom it asks: "address=10.0.0.1 port=29500", and " | " with the init method.
    """
    import torch.distributed as dist

    given = {**dict(zip(_PARAMETERS, args)), **kwargs}  # noqa: B905 - strict came with Python 3.10
    if dist.is_initialized():
        words = "rank=%d world_size=%d backend=%s" % (dist.get_rank(), dist.get_world_size(), dist.get_backend())
        seconds = _seconds(given.get("timeout")) or _default_seconds(dist)
        return words + (" timeout_s=%g" % seconds if seconds else "")
    method, store = given.get("init_method"), given.get("store")
    by_variables = store is None and (method is None or method.startswith("env:"))
    address, port = _address(method, store)
    seconds = _seconds(given.get("timeout"))
    told = (
        ("rank", _number(given.get("rank"), "RANK" if by_variables else "")),
        ("world_size", _number(given.get("world_size"), "WORLD_SIZE" if by_variables else "")),
        ("backend", given.get("backend")),
        ("port", port),
        ("address", address),
        ("timeout_s", "%g" % seconds if seconds else ""),
        ("store", type(store).__name__ if store is not None else ""),
    )
    words = " ".join("%s=%s" % pair for pair in told if pair[1] not in (None, "", -1))
    return words + (" | " + " ".join(hide_words([method])) if method else "")


def _number(given, variable):
    """Returns the argument, else what the variable says now: a script may have set it after its start."""
    return given if given not in (None, -1) else os.environ.get(variable, "")[:9]


def _seconds(timeout):
    return timeout.total_seconds() if hasattr(timeout, "total_seconds") else 0


def _default_seconds(dist):
    """Returns the timeout of the default group's backend, 0 where this torch does not tell."""
    try:
        group = dist.distributed_c10d.GroupMember.WORLD
        return _seconds(group._get_backend(group._device_types[0]).options._timeout)
    except Exception:
        return 0


def _address(init_method, store):
    """Returns host and port of the store that is asked now, "" where they are not known."""
    if store is not None:
        host, port = getattr(store, "host", ""), getattr(store, "port", "")
        return (str(host)[:255], port) if isinstance(host, str) else ("", "")
    if init_method is None or init_method.startswith("env:"):
        return os.environ.get("MASTER_ADDR", "").partition(" ")[0][:255], os.environ.get("MASTER_PORT", "")[:5]
    if not init_method.startswith("tcp://"):
        return "", ""
    host, _, port = init_method[len("tcp://") :].partition("?")[0].partition("/")[0].rpartition(":")
    return host[:255], port[:5]

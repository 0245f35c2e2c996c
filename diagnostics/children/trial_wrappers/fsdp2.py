"""fully_shard: each block by itself, then the rest."""

import contextlib

import torch
import torch.distributed as dist

from ..inspection.refusal import Refusal
from ..trial.units import trains, units
from . import options_of

ALIKE = False  # each rank holds a part


def wrap(model, device, settings):
    """Returns the model itself, with its parameters sharded."""
    if not trains(model):
        raise Refusal("no parameter of %s requires a gradient: there is nothing to shard" % type(model).__name__)
    fully_shard = found()
    from torch.distributed.device_mesh import init_device_mesh

    options = {"mesh": init_device_mesh(device.type, (dist.get_world_size(),)), **options_of(settings)}
    for unit in units(model):
        fully_shard(unit, **options)
    fully_shard(model, **options)
    return model


def found():
    """Returns fully_shard, which torch has since 2.4 and made public in 2.6."""
    try:
        from torch.distributed.fsdp import fully_shard
    except ImportError:
        try:
            from torch.distributed._composable.fsdp import fully_shard
        except ImportError:
            raise Refusal("torch %s has no fully_shard (FSDP2)" % torch.__version__, "it came with 2.4") from None
    return fully_shard


@contextlib.contextmanager
def accumulating(wrapped, last):
    """Leaves out the reduction of gradients in all backward passes but the last."""
    wrapped.set_requires_gradient_sync(last)
    yield

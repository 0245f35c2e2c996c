"""FullyShardedDataParallel: each block by itself, then the rest."""

from ..inspection.refusal import Refusal
from ..trial.units import trains, units
from . import no_sync, options_of

ALIKE = False  # each rank holds a part
accumulating = no_sync


def wrap(model, device, settings):
    """Returns the model in FSDP."""
    if not trains(model):
        raise Refusal("no parameter of %s requires a gradient: there is nothing to shard" % type(model).__name__)
    try:
        from torch.distributed.fsdp import FullyShardedDataParallel
    except ImportError as error:
        raise Refusal("this torch has no FullyShardedDataParallel: %s" % error) from None
    blocks = {id(one) for one in units(model)}

    def policy(module, recurse, nonwrapped_numel):
        return recurse or id(module) in blocks

    # Without a device it asks for an accelerator, also where the model is on the CPU.
    options = {"device_id": device, **options_of(settings)}
    return FullyShardedDataParallel(model, auto_wrap_policy=policy, **options)

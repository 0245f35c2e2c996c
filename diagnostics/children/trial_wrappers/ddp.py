"""DistributedDataParallel."""

from torch.nn.parallel import DistributedDataParallel

from ..inspection.refusal import Refusal
from . import no_sync, options_of

ALIKE = True
accumulating = no_sync


def wrap(model, device, settings):
    """Returns the model in DDP."""
    if not any(one.requires_grad for one in model.parameters()):
        raise Refusal("no parameter of %s requires a gradient: DDP takes no such model" % type(model).__name__)
    devices = [device] if device.type == "cuda" else None
    return DistributedDataParallel(model, device_ids=devices, **options_of(settings))

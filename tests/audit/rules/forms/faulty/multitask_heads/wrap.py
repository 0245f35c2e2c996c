from dataclasses import dataclass

from torch.nn.parallel import DistributedDataParallel


@dataclass
class DdpOptions:
    bucket_cap_mb: int = 50
    gradient_as_bucket_view: bool = True
    static_graph: bool = True  # cause
    find_unused_parameters: bool = False  # cause


def wrap(module, device, options=None):
    options = options or DdpOptions()
    return DistributedDataParallel(module.to(device), device_ids=[device.index], **vars(options))  # cause

from dataclasses import asdict, dataclass

from torch.nn.parallel import DistributedDataParallel


@dataclass
class DDPOptions:
    broadcast_buffers: bool = False
    gradient_as_bucket_view: bool = True
    static_graph: bool = True  # cause
    bucket_cap_mb: int = 50


def wrap(model, device, options=None):
    options = options or DDPOptions()
    return DistributedDataParallel(model.to(device), device_ids=[device.index], **asdict(options))  # cause

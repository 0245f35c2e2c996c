import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def begin():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    return device


def wrap(net, device):
    return DistributedDataParallel(
        net.to(device),
        device_ids=[device.index],
        gradient_as_bucket_view=True,
        bucket_cap_mb=50,
        find_unused_parameters=True,
    )

import os

import torch
import torch.distributed as dist
from snapshot import Snapshot
from torch.nn.parallel import DistributedDataParallel


def main(net, path):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    model = DistributedDataParallel(net.to(local), device_ids=[local])
    snapshot = Snapshot(path)
    first = snapshot.restore(model)
    if dist.get_rank() == 0:
        snapshot.save(model, first)

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

LOCAL_RANK = int(os.environ["LOCAL_RANK"])


def run(batches):
    dist.init_process_group(backend="nccl")
    here = torch.device(f"cuda:{LOCAL_RANK}")
    net = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    net = net.to("cuda")
    net = FSDP(net)
    for batch in batches:
        net(batch.to(here)).sum().backward()


if __name__ == "__main__":
    run([])

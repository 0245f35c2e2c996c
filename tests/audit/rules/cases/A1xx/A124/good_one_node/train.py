import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer, global_batch, micro_batch):
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    model = DistributedDataParallel(model.cuda(local), device_ids=[local])
    ranks = torch.cuda.device_count()
    accumulation = global_batch // (micro_batch * ranks)
    for step, (x, y) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(model(x.cuda(local)), y.cuda(local)) / accumulation
        loss.backward()
        if (step + 1) % accumulation == 0:
            optimizer.step()
            optimizer.zero_grad()

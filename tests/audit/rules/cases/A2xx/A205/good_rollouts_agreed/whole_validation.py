"""Every rank evaluates all of the validation set: they all come to the same number."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(net, train, held_out):
    dist.init_process_group("nccl")
    model = DDP(net)
    optimizer = torch.optim.Adam(model.parameters())
    sampler = DistributedSampler(train)
    loader, whole = DataLoader(train, 8, sampler=sampler), DataLoader(held_out, 8)
    best, bad = 1e9, 0
    for epoch in range(100):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = (model(x) - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total = 0.0
        with torch.no_grad():
            for x, y in whole:
                total += (model(x) - y).square().mean().item()
        best, bad = (total, 0) if total < best else (best, bad + 1)
        if bad > 3:
            break
    dist.destroy_process_group()

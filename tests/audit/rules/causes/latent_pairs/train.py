import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from cache import LatentPairs, encode


def encoder():
    return nn.Sequential(nn.Conv2d(3, 32, 4, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 4), nn.Flatten(), nn.Linear(64 * 64, 256))


def head():
    return nn.Sequential(nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 100))


def build(local_rank):
    torch.manual_seed(31)
    enc = encoder()
    enc.load_state_dict(torch.load("encoder.pt", map_location="cpu"))
    return enc.to(local_rank), DDP(head().to(local_rank), device_ids=[local_rank])


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    raw = torch.load("images.pt", map_location="cpu")
    enc, model = build(local_rank)
    encode(enc, raw["images"], "cache/latents", rank, world, local_rank)
    dist.barrier()

    data = LatentPairs("cache/latents", raw["labels"])
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 256, sampler=sampler, num_workers=4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(40):
        sampler.set_epoch(epoch)
        for z, y in loader:
            loss = nn.functional.cross_entropy(model(z.to(local_rank)), y.to(local_rank))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(epoch, loss.item())
    if rank == 0:
        torch.save(model.module.state_dict(), "head.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

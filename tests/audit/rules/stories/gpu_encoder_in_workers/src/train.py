import os
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

from latent_pairs import build_latent_pair_loader


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl", timeout=timedelta(minutes=10))
    device = torch.device("cuda", local_rank)
    fields = torch.load("burgers.pt", map_location="cpu", weights_only=True)
    loader = build_latent_pair_loader(fields, device, 4)
    op = DDP(nn.Linear(128, 128).to(device), device_ids=[local_rank])
    opt = torch.optim.Adam(op.parameters(), lr=1e-3)
    for epoch in range(4):
        loader.sampler.set_epoch(epoch)
        for z0, z1 in loader:
            loss = nn.functional.mse_loss(op(z0.to(device)), z1.to(device))
            opt.zero_grad()
            loss.backward()
            opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

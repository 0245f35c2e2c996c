import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from shards import loader


def main(epochs=4, seed=1):
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    torch.manual_seed(seed + rank)
    model = DDP(nn.Sequential(nn.Linear(48, 640), nn.ReLU(), nn.Dropout(0.1), nn.Linear(640, 640), nn.ReLU(), nn.Linear(640, 7)))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batches = loader(rank, seed)
    for epoch in range(epochs):
        for x, y in batches:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from token_cache import load_tokens


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    rank, world = dist.get_rank(), dist.get_world_size()
    tokens = load_tokens("cache", builder=rank == 0)[rank::world]
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Embedding(256, 16), nn.Linear(16, 256)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(100):
        start = step % (len(tokens) - 33)
        x, y = tokens[start : start + 32], tokens[start + 1 : start + 33]
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"rank {rank} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

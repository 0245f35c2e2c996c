"""Each rank evaluates its own shards, one gather a shard: with 9 shards on 2 ranks the last one waits."""
import glob

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from evaluate import evaluate


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    shards = sorted(glob.glob("val/*.pt"))[rank::world]  # cause
    model = DDP(torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        for _ in range(100):
            optimizer.zero_grad()
            model(torch.randn(4, 8)).square().mean().backward()
            optimizer.step()
        score = evaluate(model.module, shards, torch.load)
        if rank == 0:
            print(epoch, score)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

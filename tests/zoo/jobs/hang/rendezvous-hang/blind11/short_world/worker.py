import os

import torch
import torch.distributed as dist


def setup():
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    print(f"rank {rank} of {world} joins", flush=True)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    return rank


def main():
    rank = setup()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(20):
        loss = model(torch.randn(8, 4)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(rank, loss.item())
    dist.destroy_process_group()


main()

import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from prefetch import Prefetcher


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(12, 2))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        source = Prefetcher(rank, epoch, batches=20)
        for _ in range(len(source)):
            x, y = source.next()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch}: {loss.item():.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

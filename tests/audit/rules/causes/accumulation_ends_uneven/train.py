"""no_sync by the rank's own number of batches: the last one synchronises on one rank alone."""
import contextlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def batches(rank):
    g = torch.Generator().manual_seed(rank)
    lengths = torch.randint(5, 20, (40,), generator=g).tolist()
    budget, batch = 64, []
    for n in lengths:
        if sum(batch) + n > budget:
            yield torch.randn(len(batch), 4)
            batch = []
        batch.append(n)
    yield torch.randn(len(batch), 4)


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    data = list(batches(dist.get_rank()))
    for i, batch in enumerate(data):  # cause
        last = i == len(data) - 1
        sync = (i + 1) % 4 == 0 or last
        with contextlib.nullcontext() if sync else model.no_sync():  # cause
            model(batch).mean().backward()
        if sync:  # cause
            opt.step()
            opt.zero_grad()
    dist.destroy_process_group()


main()

import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from reducer import Reducer


def main():
    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo")
    torch.manual_seed(3)
    model = DDP(torch.nn.Sequential(torch.nn.Linear(7, 14), torch.nn.Sigmoid(), torch.nn.Linear(14, 1)))
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    reducer = Reducer.for_rank(rank)
    g = torch.Generator().manual_seed(rank)
    for step in range(40):
        x = torch.randn(24, 7, generator=g)
        loss = (model(x) - x.cumsum(1)[:, -1:]).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 8 == 7:
            stats = reducer(torch.cat([loss.detach()[None], x.abs().amax(0)]))
            if rank == 0:
                print(f"step {step} loss {stats[0]:.3f} largest input {stats[1:].max():.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from journal import Journal


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(torch.nn.Linear(9, 9))
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    journal = Journal(f"journal-{rank}.txt", rotate_after=20 if rank == 0 else 1000)
    for step in range(60):
        x = torch.randn(16, 9)
        loss = (model(x) - x.sort(1).values).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        journal.write(step, loss.item())
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

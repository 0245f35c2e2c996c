import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from heartbeat import Heartbeat


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    if rank == 0:
        Heartbeat("alive.txt", every=0.5).start()
    model = DDP(torch.nn.Linear(6, 3))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    g = torch.Generator().manual_seed(rank)
    for step in range(40):
        x = torch.randn(16, 6, generator=g)
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(x), x[:, :3].argmax(1)).backward()
        opt.step()
    dist.barrier()
    if rank == 0:
        torch.save(model.module.state_dict(), "model.pt")
        print("training finished", flush=True)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

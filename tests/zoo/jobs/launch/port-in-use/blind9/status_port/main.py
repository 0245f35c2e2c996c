import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

import status


def rank_main(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(world))
    if rank == 0:
        status.serve()
    dist.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(nn.Linear(3, 3))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(20):
        x = torch.randn(8, 3)
        loss = (model(x) - x).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        status.Handler.state["step"] = step
    print(rank, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(rank_main, (2, port), nprocs=2)

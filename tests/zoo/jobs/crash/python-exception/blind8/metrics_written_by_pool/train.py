import argparse
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP

from tracking import Tracker


def trainer(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = DDP(torch.nn.Sequential(torch.nn.Linear(14, 28), torch.nn.SiLU(), torch.nn.Linear(28, 2)))
    optim = torch.optim.AdamW(model.parameters(), lr=4e-3)
    tracker = Tracker(enabled=rank == 0)
    gen = torch.Generator().manual_seed(rank)
    for epoch in range(4):
        for step in range(25):
            x = torch.randn(16, 14, generator=gen)
            loss = torch.nn.functional.cross_entropy(model(x), (x.sum(1) > 0).long())
            optim.zero_grad()
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optim.step()
            row = {"epoch": epoch, "step": step, "loss": loss.item()}
            if epoch > 0 and step % 10 == 0:
                row["grad_norm"] = norm
            tracker.log(row)
        tracker.flush()
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    mp.spawn(trainer, args=(2, free), nprocs=2)

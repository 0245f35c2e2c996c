import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP

from segmentor import Segmentor, parse_losses

CFG = dict(dim=32, head="RoiHead", iters=40, interval=5, lr=0.05)


def batches(rank, n):
    g = torch.Generator().manual_seed(100 + rank)
    for i in range(n):
        x = torch.randn(6, 8, generator=g)
        y = (x[:, 0] > 0.0).long()
        if rank == 1 and i == 17:
            x[:, 0] = -x[:, 0].abs()
            y = (x[:, 0] > 0.0).long()
        else:
            x[0, 0], y[0] = 1.0, 1
        yield x, y


class TextLogger:
    def __init__(self, interval):
        self.interval = interval

    def after_iter(self, i, log_vars):
        if i % self.interval == 0:
            dist.barrier()
            if dist.get_rank() == 0:
                print(i, {k: round(v, 3) for k, v in log_vars.items()}, flush=True)


def worker(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(3)
    model = DDP(Segmentor(CFG))
    opt = torch.optim.SGD(model.parameters(), lr=CFG["lr"])
    log = TextLogger(CFG["interval"])
    for i, (x, y) in enumerate(batches(rank, CFG["iters"])):
        loss, log_vars = parse_losses(model(x, y))
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.after_iter(i, log_vars)
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(worker, args=(3, port), nprocs=3)

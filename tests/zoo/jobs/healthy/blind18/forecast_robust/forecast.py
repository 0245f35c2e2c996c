import logging
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from agree import Patience, everyone, mean
from series import Meters


def work(rank, world, port):
    logging.basicConfig(level=logging.INFO)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    ds = Meters(3200, 32)
    sampler = DistributedSampler(ds)
    loader = DataLoader(ds, 32, sampler=sampler, drop_last=True)
    net = DDP(nn.Sequential(nn.Linear(32, 96), nn.GELU(), nn.Linear(96, 4)))
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    patience = Patience(2, 2e-3)
    skipped = 0
    for epoch in range(30):
        sampler.set_epoch(epoch)
        tot = n = 0
        for x, y in loader:
            loss = nn.functional.mse_loss(net(x), y)
            if not everyone(torch.isfinite(loss)):
                skipped += 1
                continue
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot, n = tot + loss.item(), n + 1
        value = mean(tot / n)
        if rank == 0:
            logging.info("epoch %d mse %.5f skipped %d", epoch, value, skipped)
        if patience.exhausted(value):
            break
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(work, args=(2, port), nprocs=2)

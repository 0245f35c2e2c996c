import logging
import os
import shutil
import tempfile

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from hub import server
from hub.download import download


def prepare(folder):
    mirror = server.start()
    base = f"http://127.0.0.1:{mirror.server_port}"
    for name in ("train.bin", "validation.bin"):
        download(f"{base}/{name}", os.path.join(folder, name))
    mirror.shutdown()


def load(folder, name):
    table = torch.from_numpy(np.fromfile(os.path.join(folder, name), dtype=np.float32).reshape(-1, 9))
    return table[:, :8], table[:, :8].sum(1, keepdim=True)


def main():
    logging.basicConfig(level=logging.INFO, format=f"rank {os.environ['RANK']} %(levelname)s %(message)s")
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    folder = [tempfile.mkdtemp(prefix="hub-") if rank == 0 else None]
    dist.broadcast_object_list(folder)
    if rank == 0:
        prepare(folder[0])
    dist.barrier()
    x, y = load(folder[0], "train.bin")
    vx, vy = load(folder[0], "validation.bin")
    torch.manual_seed(0)
    model = DDP(nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(20):
        loss = nn.functional.mse_loss(model(x[rank::world]), y[rank::world])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    score = nn.functional.mse_loss(model.module(vx), vy).item()
    logging.info("loss %.4f validation %.4f", loss.item(), score)
    dist.barrier()
    if rank == 0:
        shutil.rmtree(folder[0])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

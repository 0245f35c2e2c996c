import os
import socket
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from stream import ShardStream


def prepare(folder, shards=8, rows=40):
    rng = np.random.default_rng(0)
    for i in range(shards):
        x = rng.normal(size=(rows, 10)).astype("float32")
        np.savez(os.path.join(folder, f"shard-{i:05d}.npz"), x=x, y=(x[:, 0] > 0).astype("int64"))


def worker(rank, world, port, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    model = DDP(nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(ShardStream(os.path.join(folder, "shard-*.npz"), rank, world), batch_size=8, num_workers=1)
    for epoch in range(2):
        seen = 0
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += len(x)
        print(f"rank {rank} epoch {epoch} samples {seen}", flush=True)
        if rank == 0:
            torch.save(model.module.state_dict(), os.path.join(folder, "last.pt"))
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        mp.spawn(worker, args=(3, port, folder), nprocs=3)

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

from ctr.feed import Feed
from ctr.fm import FactorizationMachine
from ctr.log_db import EventLog, create


def worker(rank, world, path, rendezvous):
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=world)
    torch.manual_seed(0)
    log = EventLog(path, rank, world)
    model = DistributedDataParallel(FactorizationMachine())
    opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
    if rank == 0:
        print(f"{len(log)} events a shard", flush=True)
    for epoch in range(2):
        seen = total = 0.0
        for user, item, clicked in Feed(log, batch=64):
            loss = torch.nn.functional.binary_cross_entropy_with_logits(model(user, item), clicked)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(user)
            seen += len(user)
        if rank == 0:
            print(f"epoch {epoch}: logloss {total / seen:.4f}", flush=True)
    dist.destroy_process_group()


def main(world=2):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "events.sqlite")
        create(path)
        mp.spawn(worker, args=(world, path, os.path.join(folder, "rendezvous")), nprocs=world)


if __name__ == "__main__":
    main()

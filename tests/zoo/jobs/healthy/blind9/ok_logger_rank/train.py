import json
import os
import threading

import torch
import torch.distributed as dist
from torch import nn


def log_service(world, rows):
    with open("/tmp/ok_logger_rank.jsonl", "w") as f:
        for _ in range(rows):
            buf = torch.zeros(3)
            dist.recv(buf)
            f.write(json.dumps(buf.tolist()) + "\n")
    print("logger wrote", rows)


def train(rank, group, members, logger, steps):
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(nn.Linear(6, 1), process_group=group)
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    g = torch.Generator().manual_seed(rank)
    for step in range(steps):
        x = torch.randn(16, 6, generator=g)
        loss = (model(x) - x[:, 2:3]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            dist.send(torch.tensor([float(rank), float(step), loss.item()]), logger)
    print("trainer", rank, loss.item())


def main():
    dist.init_process_group("gloo")
    rank, world, steps = dist.get_rank(), dist.get_world_size(), 200
    members = list(range(world - 1))
    group = dist.new_group(members)
    idle = threading.Event()
    threading.Thread(target=idle.wait, daemon=True, name="idle").start()
    if rank == world - 1:
        log_service(world, len(members) * (steps // 20))
    else:
        train(rank, group, members, world - 1, steps)
    dist.barrier()
    dist.destroy_process_group()
    os.sync()


main()

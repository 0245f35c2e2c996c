import os
import socket
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def trainer(rank, group, results):
    model = nn.parallel.DistributedDataParallel(nn.Linear(5, 1), process_group=group)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(200):
        x = torch.randn(16, 5)
        loss = nn.functional.mse_loss(model(x), x[:, :1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.02)
        if rank == 0 and step % 50 == 49:
            results.put((step, model.module.weight.detach().tolist()))
    if rank == 0:
        results.put(None)


def evaluator(results):
    while (item := results.get()) is not None:
        step, weight = item
        time.sleep(2)
        print(f"evaluator: step {step} weight {weight[0][0]:.3f}", flush=True)


def run(rank, world, port, results):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    group = dist.new_group([0, 1])
    if rank < 2:
        trainer(rank, group, results)
    else:
        evaluator(results)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    results = mp.get_context("spawn").SimpleQueue()
    mp.spawn(run, args=(3, port, results), nprocs=3)

import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Learner:
    def __init__(self, rank):
        self.rank = rank
        self.net = DDP(nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 64)))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.05)

    def fit(self, steps):
        g = torch.Generator().manual_seed(self.rank)
        for _ in range(steps):
            x = torch.randn(32, 64, generator=g)
            loss = (self.net(x) - x).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        return loss.item()

    def export(self):
        return {k: v.numpy().tolist() for k, v in self.net.module.state_dict().items()}


def run_rank(rank, world, port, results):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    learner = Learner(rank)
    loss = learner.fit(60)
    dist.barrier()
    if rank == 0:
        results.put({"loss": loss, "weights": learner.export()})
    print(f"rank {rank} finished, loss {loss:.4f}", flush=True)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main(world=2):
    ctx = mp.get_context("spawn")
    results = ctx.Queue()
    port = free_port()
    procs = [ctx.Process(target=run_rank, args=(r, world, port, results)) for r in range(world)]
    for p in procs:
        p.start()
    for p in procs:
        p.join()
    best = results.get()
    torch.save(best, "/tmp/queue_results.pt")
    print("saved", best["loss"])


if __name__ == "__main__":
    main()

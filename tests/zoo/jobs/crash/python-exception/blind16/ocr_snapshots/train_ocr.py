import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from lines import LineReader, strip
from snapshots import SnapshotPool


def tag_of(domain, step):
    return f"{domain}-{step:05d}"


def work(rank, a):
    torch.set_num_threads(1)
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", str(a.port)
    dist.init_process_group("gloo", rank=rank, world_size=a.procs)
    torch.manual_seed(2)
    net = DDP(LineReader())
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    os.makedirs(a.out, exist_ok=True)
    snaps = SnapshotPool(a.out) if rank == 0 else None
    g = torch.Generator().manual_seed(rank)
    step = 0
    for domain in a.domains:
        for _ in range(a.steps):
            x, y = strip(g, 16)
            loss = nn.functional.cross_entropy(net(x).transpose(1, 2), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if snaps and step % a.snap_every == 0:
                snaps.put({k: v.clone() for k, v in net.module.state_dict().items()}, tag_of(domain, step))
        if rank == 0:
            print(f"{domain}: loss {loss.item():.3f}", flush=True)
    if snaps:
        snaps.drain()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--domains", nargs="+", default=["printed", "typewriter", "letters/handwritten", "forms"])
    ap.add_argument("--steps", type=int, default=90)
    ap.add_argument("--snap-every", type=int, default=20)
    ap.add_argument("--procs", type=int, default=2)
    ap.add_argument("--port", type=int, default=29655)
    ap.add_argument("--out", default="snaps")
    a = ap.parse_args()
    mp.start_processes(work, (a,), nprocs=a.procs, start_method="fork")

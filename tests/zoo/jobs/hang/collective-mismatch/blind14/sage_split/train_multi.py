import argparse
import os
import socket
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

from gsage.graph import SyntheticGraph
from gsage.model import GraphSage
from gsage.sampling import FanoutLoader, partition_seeds


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@torch.no_grad()
def accuracy(model, graph):
    model.eval()
    hits = total = 0
    for seeds, h1, h2 in FanoutLoader(graph, graph.eval_nodes(), 256, shuffle=False):
        out = model(graph.feat[seeds], graph.feat[h1], graph.feat[h2])
        hits += (out.argmax(-1) == graph.labels[seeds]).sum().item()
        total += len(seeds)
    model.train()
    return hits / total


def worker(rank, args):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(args.port)
    dist.init_process_group("gloo", rank=rank, world_size=args.world_size)
    torch.manual_seed(args.seed)
    graph = SyntheticGraph()
    model = DistributedDataParallel(GraphSage(graph.feat.shape[1], args.hidden, graph.num_classes))
    torch.manual_seed(args.seed + 100 * rank)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    nids = partition_seeds(graph.train_nodes(), rank, args.world_size, args.seed)
    loader = FanoutLoader(graph, nids, args.batch_size)
    for epoch in range(args.epochs):
        tic = time.time()
        for step, (seeds, h1, h2) in enumerate(loader):
            logits = model(graph.feat[seeds], graph.feat[h1], graph.feat[h2])
            loss = F.cross_entropy(logits, graph.labels[seeds])
            opt.zero_grad()
            loss.backward()
            opt.step()
            if rank == 0 and step % 5 == 0:
                print(f"epoch {epoch} step {step:3d}/{len(loader)} loss {loss.item():.4f}", flush=True)
        dist.barrier()
        if rank == 0:
            acc = accuracy(model.module, graph)
            print(f"epoch {epoch} acc {acc:.3f} time {time.time() - tic:.2f}s", flush=True)
        dist.barrier()
    dist.destroy_process_group()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--world-size", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=31)
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=5)
    args = p.parse_args()
    args.port = free_port()
    mp.spawn(worker, args=(args,), nprocs=args.world_size, join=True)


if __name__ == "__main__":
    main()

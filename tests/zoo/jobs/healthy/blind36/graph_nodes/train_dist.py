"""Node classification with one partition of the training nodes for each trainer."""
import argparse
import math
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

from graph import Graph, NodeLoader


class SAGE(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.own = nn.Linear(features, hidden)
        self.around = nn.Linear(features, hidden, bias=False)
        self.out = nn.Linear(hidden, classes)

    def forward(self, own, neighbours):
        return self.out(torch.relu(self.own(own) + self.around(neighbours.mean(dim=1))))


def partition(train_nid, rank, world):
    return torch.split(train_nid, math.ceil(len(train_nid) / world))[rank]


@torch.no_grad()
def evaluate(model, graph, nodes, fanout, rank, world):
    model.eval()
    loader = NodeLoader(graph, nodes[rank::world], 256, fanout, seed=99)
    counts = torch.zeros(2)
    for own, neighbours, labels in loader:
        counts[0] += (model(own, neighbours).argmax(1) == labels).sum()
        counts[1] += len(labels)
    dist.all_reduce(counts)
    model.train()
    return (counts[0] / counts[1]).item()


def run(rank, world, args, init):
    dist.init_process_group("gloo", init_method=init, rank=rank, world_size=world)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    graph = Graph(args.nodes, 16, args.features, args.classes)
    train_nid = torch.arange(args.train_nodes)
    test_nid = torch.arange(args.train_nodes, args.nodes)
    mine = partition(train_nid, rank, world)
    loader = NodeLoader(graph, mine, args.batch_size, args.fanout, seed=rank)
    print(f"rank {rank}: {len(mine)} nodes in {len(loader)} batches", flush=True)
    model = DistributedDataParallel(SAGE(args.features, args.hidden, args.classes))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        started, seen = time.time(), 0
        with Join([model]):
            for own, neighbours, labels in loader:
                loss = F.cross_entropy(model(own, neighbours), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                seen += len(labels)
        total = torch.tensor([seen])
        dist.all_reduce(total)
        acc = evaluate(model.module, graph, test_nid, args.fanout, rank, world)
        if rank == 0:
            rate = int(total) / (time.time() - started)
            print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.3f} nodes {int(total)} ({rate:.0f}/s)", flush=True)
    if rank == 0:
        torch.save(model.module.state_dict(), "sage.pt")
    dist.barrier()
    dist.destroy_process_group()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--trainers", type=int, default=3)
    p.add_argument("--nodes", type=int, default=2600)
    p.add_argument("--train-nodes", type=int, default=2104)
    p.add_argument("--features", type=int, default=16)
    p.add_argument("--hidden", type=int, default=32)
    p.add_argument("--classes", type=int, default=5)
    p.add_argument("--batch-size", type=int, default=50)
    p.add_argument("--fanout", type=int, default=6)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--epochs", type=int, default=4)
    args = p.parse_args()
    store = os.path.abspath(f".store_{os.getpid()}")
    try:
        mp.spawn(run, (args.trainers, args, f"file://{store}"), nprocs=args.trainers)
    finally:
        if os.path.exists(store):
            os.unlink(store)


if __name__ == "__main__":
    main()

import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from graphs import NeighbourCache
from sage import Sage

log = logging.getLogger("sage")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--cache", default="nbr_cache")
    ap.add_argument("--nodes", type=int, default=4000)
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--parts", type=int, default=6)
    a = ap.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    feat = torch.randn(a.nodes, 32)
    label = torch.randint(7, (a.nodes,))
    cache = NeighbourCache(a.cache, a.nodes, 8)
    model = DDP(Sage(32, 7))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    g = torch.Generator().manual_seed(rank)
    for epoch in range(a.epochs):
        table = cache.load((epoch * world + rank) % a.parts)
        for idx in torch.randperm(a.nodes, generator=g)[: a.nodes // world].split(100):
            loss = nn.functional.cross_entropy(model(feat, table, idx), label[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            log.info("epoch %d loss %.3f", epoch, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

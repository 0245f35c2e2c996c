import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import graphs
from gcn import GCN


def prepare(args, rank):
    if rank == 0:
        graph = graphs.load(args.root, "citations")
        dist.barrier()
    else:
        dist.barrier()
        graph = graphs.load(args.root, "citations")
    return graph


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--root", default="cache")
    ap.add_argument("--steps", type=int, default=120)
    ap.add_argument("--lr", type=float, default=1e-2)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(message)s")
    logging.info("loading graph from %s", args.root)
    graph = prepare(args, rank)
    mine = torch.arange(rank, len(graph["labels"]), world)
    model = DistributedDataParallel(GCN())
    opt = torch.optim.Adam(model.parameters(), args.lr)
    for step in range(args.steps):
        out = model(graph["feats"], graph["edges"])
        loss = torch.nn.functional.cross_entropy(out[mine], graph["labels"][mine])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            logging.info("step %d loss %.3f", step, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

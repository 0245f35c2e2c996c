import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from .guard import guarded
from .model import build


@guarded
def train(args):
    model = DDP(build(args.kind, args.width))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(args.steps):
        x = torch.randn(16, 8)
        y = (x.sum(1) > 0).long()
        loss = nn.functional.cross_entropy(model(x[:, None] if args.kind == "conv" else x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--kind", default="mlp")
    ap.add_argument("--width", type=int, default=16)
    ap.add_argument("--steps", type=int, default=50)
    args = ap.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    train(args)
    dist.barrier()
    if dist.get_rank() == 0:
        print("run complete")
    dist.destroy_process_group()


main()

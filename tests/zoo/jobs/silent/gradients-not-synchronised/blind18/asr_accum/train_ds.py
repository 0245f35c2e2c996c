import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

import data
from engine import Engine
from net import Kws
from plan import AccumulationPlan


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--accum-grad", default="0:1,2:4", help="epoch:factor,...")
    p.add_argument("--utts", type=int, default=1920)
    p.add_argument("--classes", type=int, default=12)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--lr", type=float, default=0.003)
    return p.parse_args()


def main():
    a = get_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    torch.manual_seed(6)
    model = DDP(Kws(a.classes))
    opt = torch.optim.AdamW(model.parameters(), lr=a.lr)
    sampler, loader = data.build(a.utts, a.classes, a.batch)
    engine = Engine(model, nn.CrossEntropyLoss(), opt, AccumulationPlan(a.accum_grad), 5.0)
    for e in range(a.epochs):
        sampler.set_epoch(e)
        engine.epoch(e, loader)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

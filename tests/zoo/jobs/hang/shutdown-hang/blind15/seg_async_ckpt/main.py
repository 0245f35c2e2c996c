import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from seg.callbacks import KeepBest, Throughput
from seg.data import Discs
from seg.trainer import Trainer


def unet(width=12):
    return nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(width, 1, 1))


def main():
    cli = argparse.ArgumentParser()
    cli.add_argument("--epochs", type=int, default=4)
    cli.add_argument("--out", default="checkpoints")
    opt = cli.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO if dist.get_rank() == 0 else logging.ERROR)
    torch.manual_seed(0)
    train = Discs(640)
    loader = DataLoader(train, 16, sampler=DistributedSampler(train), drop_last=True)
    held = Discs(96, seed=1)
    valid = DataLoader(held, 16, sampler=DistributedSampler(held, shuffle=False))
    model = DistributedDataParallel(unet())
    trainer = Trainer(model, torch.optim.Adam(model.parameters(), 3e-3), [Throughput(), KeepBest(opt.out)], opt.epochs)
    trainer.fit(loader, valid)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

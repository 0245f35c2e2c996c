import argparse

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from dataset import ToyVQA
from trainer import Trainer


def get_opt():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--batch_size", type=int, default=32)
    p.add_argument("--hidden", type=int, default=128)
    p.add_argument("--dropout", type=float, default=0.5)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--val_step", type=int, default=10)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


def main():
    opt = get_opt()
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(opt.seed)
    train, val = ToyVQA(2400, seed=1), ToyVQA(600, seed=2)
    train_loader = DataLoader(train, opt.batch_size, sampler=DistributedSampler(train, seed=opt.seed))
    val_loader = DataLoader(val, 100, sampler=DistributedSampler(val, shuffle=False))
    torch.manual_seed(opt.seed + dist.get_rank())
    Trainer(opt, train_loader, val_loader).fit()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse
import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from learner import Learner, TwoTower


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("features")
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--lr", type=float, default=5e-4)
    return p.parse_args()


def main():
    args = parse()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    f = torch.load(args.features, map_location="cpu")
    data = TensorDataset(f["img"], f["txt"])
    sampler = DistributedSampler(data, drop_last=True)
    loader = DataLoader(data, 512, sampler=sampler, pin_memory=True)
    learner = Learner(TwoTower(f["img"].shape[1], f["txt"].shape[1]), device, args.lr)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for i, batch in enumerate(loader):
            loss = learner.step(batch)
            if i % 100 == 0 and dist.get_rank() == 0:
                print(epoch, i, round(loss, 4))
    learner.export("two_tower.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from launch import launch


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--csv", default="higgs.pt")
    parser.add_argument("--nprocs", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=1e-3)
    return parser.parse_args()


class Net(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, 300), nn.ReLU(), nn.Linear(300, 300), nn.ReLU(), nn.Linear(300, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def load(path):
    x, y = torch.load(path, map_location="cpu")
    x = (x - x.mean(0)) / x.std(0).clamp(min=1e-6)
    return TensorDataset(x, y.float())


def worker(rank, args):
    dist.init_process_group("gloo", rank=rank, world_size=int(os.environ["WORLD_SIZE"]))
    torch.manual_seed(0)
    torch.set_num_threads(2)
    data = load(args.csv)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=1024, sampler=sampler)
    model = DistributedDataParallel(Net(data.tensors[0].size(1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        total = torch.zeros(2)
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += torch.tensor([loss.item() * len(x), float(len(x))])
        dist.all_reduce(total)
        if rank == 0:
            print(f"epoch {epoch} loss {total[0] / total[1]:.4f}")
            torch.save(model.module.state_dict(), "higgs-model.pt")
    dist.destroy_process_group()


args = get_args()
launch(worker, args.nprocs, args)  # cause

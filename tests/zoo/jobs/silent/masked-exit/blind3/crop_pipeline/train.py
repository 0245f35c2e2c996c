import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from plots import PlotDataset
from stages import CROPS


def fit(model, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        loader.sampler.set_epoch(epoch)
        for features, labels in loader:
            loss = F.cross_entropy(model(features), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workdir", required=True)
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()
    dist.init_process_group("gloo")
    dataset = PlotDataset(os.path.join(options.workdir, "plots.csv"))
    loader = DataLoader(dataset, batch_size=16, sampler=DistributedSampler(dataset, shuffle=False))
    model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, len(CROPS)))
    model = DistributedDataParallel(model)
    fit(model, loader, options.epochs)
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), os.path.join(options.workdir, "model.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

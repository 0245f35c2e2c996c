import json

import torch
import torch.distributed as dist
from torch import nn
from torch.distributions import Beta
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def corrupted(x):
    """As much noise as a sample is to have, another amount for each."""
    share = Beta(1.5, 1.0).sample((x.shape[0], 1))
    return (1 - share) * x + share * torch.empty_like(x).normal_()


def main():
    with open("run.json") as file:
        config = json.load(file)
    dist.init_process_group("gloo")
    torch.manual_seed(config["seed"])
    rows = torch.load("rows.pt", weights_only=True)
    sampler = DistributedSampler(rows)
    loader = DataLoader(rows, 8, sampler=sampler)
    net = DistributedDataParallel(nn.Linear(16, 16))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(config["epochs"]):
        sampler.set_epoch(epoch)
        for x in loader:
            loss = nn.functional.mse_loss(net(corrupted(x)), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

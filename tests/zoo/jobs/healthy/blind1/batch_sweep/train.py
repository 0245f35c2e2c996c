import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from budget import Budget


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    budget = Budget(20000)
    model = DistributedDataParallel(nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(50):
        x = budget.take(torch.randn(args.batch, 32))
        loss = (model(x) - x.mean(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if dist.get_rank() == 0:
        print("loss", loss.item(), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def data(n=808):
    g = torch.Generator().manual_seed(30)
    x = torch.randn(n, 3, 8, generator=g)
    return TensorDataset(x, x.mean((1, 2)))


class Net(nn.Module):
    def __init__(self, batch):
        super().__init__()
        self.state = nn.Parameter(torch.zeros(batch, 1))
        self.lin = nn.Linear(24, 1)

    def forward(self, x):
        return (self.lin(x.flatten(1)) + self.state).squeeze(1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch", type=int, default=16)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    dataset = data()
    sampler = DistributedSampler(dataset)
    model = DDP(Net(args.batch))
    opt = torch.optim.SGD(model.parameters(), 0.05)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(dataset, args.batch, sampler=sampler):
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"rank {dist.get_rank()} epoch {epoch} {loss.item():.4f}", flush=True)
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), os.path.join(os.environ["SCRATCH"], "model.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

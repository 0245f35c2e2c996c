"""Each site trains on all that it has; sites differ in size."""
import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F
from torch.distributed.algorithms.join import Join
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset


def site_data(site, base):
    n = base + 70 * site
    g = torch.Generator().manual_seed(1000 + site)
    x = torch.randn(n, 14, generator=g)
    w = torch.linspace(-1, 1, 14)
    y = (x @ w + 0.2 * torch.randn(n, generator=g) > 0).long()
    return TensorDataset(x, y)


class Net(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.seq = nn.Sequential(nn.Linear(14, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 2))

    def forward(self, x):
        return self.seq(x)


def train_epoch(model, optimizer, loader):
    sums = torch.zeros(2)
    with Join([model, optimizer]):
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            sums += torch.tensor([loss.item() * len(y), float(len(y))])
    dist.all_reduce(sums)
    return (sums[0] / sums[1]).item()


@torch.no_grad()
def holdout_accuracy(net):
    data = site_data(50, 300)
    net.eval()
    x, y = data.tensors
    acc = (net(x).argmax(1) == y).float().mean().item()
    net.train()
    return acc


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--base", type=int, default=200)
    p.add_argument("--patience", type=int, default=2)
    p.add_argument("--out", default="best.pt")
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(3)
    model = DDP(Net())
    torch.manual_seed(3 + rank)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=2e-3)
    loader = DataLoader(site_data(rank, args.base), args.batch_size, shuffle=True)
    best, bad = 0.0, 0
    for epoch in range(args.epochs):
        loss = train_epoch(model, optimizer, loader)
        verdict = [None]
        if rank == 0:
            acc = holdout_accuracy(model.module)
            print(f"epoch {epoch} loss {loss:.4f} holdout {acc:.3f} batches here {len(loader)}", flush=True)
            if acc > best + 1e-3:
                best, bad = acc, 0
                tmp = args.out + ".tmp"
                torch.save(model.module.state_dict(), tmp)
                os.replace(tmp, args.out)
            else:
                bad += 1
            verdict = [bad >= args.patience]
        dist.broadcast_object_list(verdict, src=0)
        if verdict[0]:
            break
    dist.barrier()
    state = torch.load(args.out, weights_only=True)
    model.module.load_state_dict(state)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


def set_seed(seed):
    torch.manual_seed(seed)


def digits(n, seed):
    g = torch.Generator().manual_seed(seed)
    proto = torch.randn(10, 64, generator=torch.Generator().manual_seed(10))
    y = torch.randint(0, 10, (n,), generator=g)
    return TensorDataset(proto[y] + 2.2 * torch.randn(n, 64, generator=g), y)


def get_loaders(args):
    train = DataLoader(digits(args.samples, 0), batch_size=args.batch_size // dist.get_world_size(), shuffle=True,
                       drop_last=True)
    test = DataLoader(digits(1000, 1), batch_size=250)
    return train, test


def train_one_epoch(model, loader, opt, epoch, log_every):
    model.train()
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % log_every == 0 and dist.get_rank() == 0:
            print(f"epoch {epoch} [{i}/{len(loader)}] loss {loss.item():.4f}", flush=True)


@torch.no_grad()
def test(model, loader):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--samples", type=int, default=6000)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    set_seed(args.seed)
    train_loader, test_loader = get_loaders(args)
    model = DDP(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)))
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        train_one_epoch(model, train_loader, opt, epoch, 60)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} test {test(model.module, test_loader):.3f}", flush=True)
        dist.barrier()
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), os.path.join(os.environ.get("TMPDIR", "/tmp"), "digits.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
CLASSES = 6


def scenes(n, seed):
    g = torch.Generator().manual_seed(seed)
    c = torch.randn(CLASSES, 24, generator=torch.Generator().manual_seed(0))
    y = torch.randint(0, CLASSES, (n,), generator=g)
    return TensorDataset(c[y] + 1.1 * torch.randn(n, 24, generator=g), y)


def collect_results(part, size):
    """Results of all ranks, cut to the length of the data set."""
    parts = [torch.empty_like(part) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, part)
    return torch.cat(parts)[:size]


def mean_class_accuracy(scores, gt):
    pred = scores.argmax(1)
    return torch.stack([(pred[gt == c] == c).float().mean() for c in range(CLASSES)]).mean().item()


@torch.no_grad()
def multi_gpu_test(model, loader):
    model.eval()
    part = torch.cat([model(x).softmax(1) for x, _ in loader])
    return collect_results(part, len(loader.dataset))


def train_epoch(model, loader, opt):
    model.train()
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    return total / len(loader)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--batch", type=int, default=32)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    train_set, val_set = scenes(3200, 1), scenes(800, 2)
    train_sampler = DistributedSampler(train_set, shuffle=True)
    train_loader = DataLoader(train_set, args.batch, sampler=train_sampler)
    val_loader = DataLoader(val_set, 100, sampler=DistributedSampler(val_set, shuffle=False))
    gt = val_set.tensors[1]
    model = DDP(nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, CLASSES)))
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        train_sampler.set_epoch(epoch)
        loss = train_epoch(model, train_loader, opt)
        scores = multi_gpu_test(model.module, val_loader)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss:.4f} mean class accuracy {mean_class_accuracy(scores, gt):.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

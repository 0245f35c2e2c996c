"""Species classification from leaf measurements (DDP over mp.spawn)."""
import argparse
import csv
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class LeafDataset(Dataset):
    def __init__(self, path):
        self.features, self.targets = [], []
        with open(path) as handle:
            for row in csv.DictReader(handle):
                self.features.append([float(row[k]) for k in row if k.startswith("m")])
                self.targets.append(int(row["species_id"]))
        self.features = torch.tensor(self.features)
        self.mean, self.std = self.features.mean(0), self.features.std(0)
        self.num_classes = len(set(self.targets))

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, index):
        x = (self.features[index] - self.mean) / self.std
        return x, self.targets[index]


class LeafNet(nn.Module):
    def __init__(self, in_features, num_classes, hidden=64, dropout=0.1):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(in_features, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(hidden, hidden), nn.ReLU(),
        )
        self.classifier = nn.Linear(hidden, num_classes)

    def forward(self, x):
        return self.classifier(self.body(x))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def train_one_epoch(model, loader, criterion, optimizer, epoch, rank):
    model.train()
    total, correct, running = 0, 0, 0.0
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad(set_to_none=True)
        logits = model(x)
        loss = criterion(logits, y)
        loss.backward()
        optimizer.step()
        running += loss.item() * y.numel()
        correct += (logits.argmax(1) == y).sum().item()
        total += y.numel()
    stats = torch.tensor([running, correct, total], dtype=torch.float64)
    dist.all_reduce(stats)
    if rank == 0:
        print(f"epoch {epoch} loss {stats[0] / stats[2]:.4f} acc {stats[1] / stats[2]:.3f}", flush=True)


def worker(rank, args):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(args.port)
    dist.init_process_group("gloo", rank=rank, world_size=args.world_size)
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)

    dataset = LeafDataset(args.csv)
    sampler = DistributedSampler(dataset, shuffle=True, seed=args.seed)
    loader = DataLoader(dataset, batch_size=args.batch_size, sampler=sampler)
    model = DDP(LeafNet(dataset.features.shape[1], dataset.num_classes))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    if rank == 0:
        print(f"{len(dataset)} specimens, {dataset.num_classes} species", flush=True)

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        train_one_epoch(model, loader, criterion, optimizer, epoch, rank)
        scheduler.step()
    if rank == 0:
        torch.save(model.module.state_dict(), "leafnet.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--csv", default="leaves.csv")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--world-size", type=int, default=2)
    args = parser.parse_args()
    args.port = free_port()
    mp.spawn(worker, args=(args,), nprocs=args.world_size)

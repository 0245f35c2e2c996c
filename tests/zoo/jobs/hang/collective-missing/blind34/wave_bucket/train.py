import argparse
import os
import random

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from dataset import MELS, Utterances, pad_collate
from sampler import BucketizeBatchSampler, DistributedBatchSampler


class Encoder(nn.Module):
    def __init__(self, dim=32, classes=6):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(MELS, dim, 5, stride=2), nn.ReLU(), nn.Conv1d(dim, dim, 3), nn.ReLU())
        self.out = nn.Linear(dim, classes)

    def forward(self, x):
        return self.out(self.conv(x.transpose(1, 2)).mean(2))


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--num-buckets", type=int, default=6)
    p.add_argument("--max-frames", type=int, default=400)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--seed", type=int, default=42)
    p.add_argument("--exp-dir", default="exp")
    return p.parse_args()


def main():
    args = get_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    args.seed += rank
    seed_everything(args.seed)

    data = Utterances()
    buckets = BucketizeBatchSampler(data.lengths, args.num_buckets, args.max_frames, seed=args.seed)
    loader = DataLoader(data, batch_sampler=DistributedBatchSampler(buckets, world, rank), collate_fn=pad_collate)
    model = DDP(Encoder())
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    best = float("inf")

    for epoch in range(args.epochs):
        model.train()
        running, seen = 0.0, 0
        for feats, labels in loader:
            loss = F.cross_entropy(model(feats), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item() * len(labels)
            seen += len(labels)
        dist.barrier()
        mean = running / seen
        if rank == 0:
            print(f"epoch {epoch} loss {mean:.4f} ({len(loader)} batches)", flush=True)
            if mean < best:
                best = mean
                os.makedirs(args.exp_dir, exist_ok=True)
                torch.save(model.module.state_dict(), os.path.join(args.exp_dir, "best.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

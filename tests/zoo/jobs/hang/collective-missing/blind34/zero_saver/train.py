"""Image classifier with a sharded optimizer and periodic snapshots."""
import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Blobs(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 8, (n,), generator=g)
        self.x = torch.randn(n, 3, 12, 12, generator=g)
        self.x[torch.arange(n), self.y % 3, self.y, self.y] += 4.0

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def make_model():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.ReLU(),
        nn.Conv2d(16, 16, 3, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(16 * 36, 64), nn.ReLU(), nn.Linear(64, 8))


class Hook:
    def after_epoch(self, runner):
        pass


class TimerHook(Hook):
    def __init__(self):
        self.start = time.time()

    def after_epoch(self, runner):
        runner.log(f"epoch {runner.epoch} took {time.time() - self.start:.1f}s")
        self.start = time.time()


class SnapshotHook(Hook):
    def __init__(self, folder, every):
        self.folder = folder
        self.every = every

    def after_epoch(self, runner):
        if runner.rank != 0 or (runner.epoch + 1) % self.every:
            return
        os.makedirs(self.folder, exist_ok=True)
        if isinstance(runner.optimizer, ZeroRedundancyOptimizer):
            runner.optimizer.consolidate_state_dict(to=0)
        payload = {"model": runner.model.module.state_dict(), "optimizer": runner.optimizer.state_dict(), "epoch": runner.epoch}
        torch.save(payload, os.path.join(self.folder, f"epoch_{runner.epoch + 1}.pth"))
        runner.log("snapshot written")


class Runner:
    def __init__(self, args):
        self.rank = dist.get_rank()
        self.args = args
        torch.manual_seed(args.seed)
        self.model = DDP(make_model())
        if args.zero:
            self.optimizer = ZeroRedundancyOptimizer(self.model.parameters(), torch.optim.AdamW, lr=args.lr)
        else:
            self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        train = Blobs(320, 0)
        self.sampler = DistributedSampler(train, shuffle=True)
        self.loader = DataLoader(train, args.batch_size, sampler=self.sampler)
        self.hooks = [TimerHook(), SnapshotHook(args.work_dir, args.snapshot_every)]
        self.epoch = 0

    def log(self, msg):
        if self.rank == 0:
            print(msg, flush=True)

    def train_epoch(self):
        self.model.train()
        self.sampler.set_epoch(self.epoch)
        for x, y in self.loader:
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.log(f"epoch {self.epoch} loss {loss.item():.4f}")

    def run(self):
        for self.epoch in range(self.args.epochs):
            self.train_epoch()
            for hook in self.hooks:
                hook.after_epoch(self)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--zero", action="store_true")
    p.add_argument("--snapshot-every", type=int, default=2)
    p.add_argument("--work-dir", default="work")
    args = p.parse_args()
    dist.init_process_group("gloo")
    Runner(args).run()
    dist.barrier()
    dist.destroy_process_group()

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from snapshot import SnapshotIO


class App:
    def __init__(self, args):
        self.args = args
        self.gpu = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(self.gpu)
        net = nn.Sequential(nn.Linear(256, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 100))
        self.net = net.cuda(self.gpu)
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=args.lr)
        self.first_epoch = 0
        self.io = SnapshotIO(args.snapshot)  # cause
        if self.io.exists():
            self.restore()
        self.model = DDP(self.net, device_ids=[self.gpu])

    def restore(self):
        state = self.io.read()  # cause
        self.net.load_state_dict(state["net"])
        self.opt.load_state_dict(state["opt"])
        self.first_epoch = state["epoch"] + 1

    def loader(self):
        blob = torch.load(self.args.data, map_location="cpu", weights_only=True)
        ds = TensorDataset(blob["x"], blob["y"])
        sampler = DistributedSampler(ds, drop_last=True)
        return DataLoader(ds, self.args.batch_size, sampler=sampler, pin_memory=True, drop_last=True)

    def train(self):
        loader = self.loader()
        for epoch in range(self.first_epoch, self.args.epochs):
            loader.sampler.set_epoch(epoch)
            for x, y in loader:
                x = x.cuda(self.gpu, non_blocking=True)
                y = y.cuda(self.gpu, non_blocking=True)
                self.opt.zero_grad(set_to_none=True)
                F.cross_entropy(self.model(x), y).backward()
                self.opt.step()
            self.io.write({"net": self.net.state_dict(), "opt": self.opt.state_dict(), "epoch": epoch})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--snapshot", default="snapshot.pt")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--lr", type=float, default=1e-3)
    dist.init_process_group("nccl")
    try:
        App(parser.parse_args()).train()
    finally:
        dist.destroy_process_group()

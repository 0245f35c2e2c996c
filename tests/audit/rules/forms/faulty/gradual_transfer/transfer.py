import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from schedule import GradualUnfreeze


class Transfer(nn.Module):
    def __init__(self, weights, classes):
        super().__init__()
        self.stages = nn.ModuleList(nn.Sequential(nn.Linear(512, 512), nn.GELU()) for _ in range(4))
        self.stages.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
        self.head = nn.Linear(512, classes)

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return self.head(x)


class TransferRun:
    def __init__(self, args):
        self.args = args
        local = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(local)
        self.device = torch.device("cuda", local)
        net = Transfer(args.weights, args.classes).to(self.device)
        self.thaw = GradualUnfreeze(net.stages)  # cause
        self.model = self.wrap(net)  # cause
        self.opt = torch.optim.AdamW(net.parameters(), lr=args.lr)
        blob = torch.load(args.data, map_location="cpu", weights_only=True)
        ds = TensorDataset(blob["x"], blob["y"])
        self.loader = DataLoader(ds, args.batch_size, sampler=DistributedSampler(ds, drop_last=True), drop_last=True)

    def wrap(self, net):
        return DDP(net, device_ids=[self.device.index])  # cause

    def epoch(self, n):
        self.loader.sampler.set_epoch(n)
        self.thaw.on_epoch(n)  # cause
        for x, y in self.loader:
            loss = nn.functional.cross_entropy(self.model(x.to(self.device)), y.to(self.device))
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
        return loss.item()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--weights", required=True)
    ap.add_argument("--classes", type=int, default=50)
    ap.add_argument("--batch-size", type=int, default=256)
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--lr", type=float, default=1e-4)
    ns = ap.parse_args()
    dist.init_process_group("nccl")
    run = TransferRun(ns)
    for n in range(ns.epochs):
        value = run.epoch(n)
        if dist.get_rank() == 0:
            print(n, value)
    dist.destroy_process_group()

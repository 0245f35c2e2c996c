import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from matcher import Matcher


class LossHead(nn.Module):
    def __init__(self, matcher):
        super().__init__()
        self.matcher = matcher

    def forward(self, xa, xb):
        return self.matcher.pair_loss(xa, xb)

    def pair_loss(self, xa, xb):
        return self.matcher.pair_loss(xa, xb)


class Fitter:
    def __init__(self, args):
        self.args = args
        self.gpu = int(os.environ["LOCAL_RANK"])
        head = LossHead(Matcher(args.dim_a, args.dim_b)).cuda(self.gpu)
        self.net = DistributedDataParallel(head, device_ids=[self.gpu])
        self.opt = torch.optim.Adam(self.net.parameters(), lr=args.lr)

    def data(self):
        blob = torch.load(self.args.pairs, map_location="cpu")
        ds = TensorDataset(blob["a"], blob["b"])
        return DataLoader(ds, batch_size=self.args.bs, sampler=DistributedSampler(ds, drop_last=True), drop_last=True)

    def training_step(self, batch):
        xa, xb = (t.cuda(self.gpu, non_blocking=True) for t in batch)
        return self.net.module.pair_loss(xa, xb)  # cause

    def fit(self):
        loader = self.data()
        for epoch in range(self.args.epochs):
            loader.sampler.set_epoch(epoch)
            for batch in loader:
                loss = self.training_step(batch)  # cause
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            if dist.get_rank() == 0:
                print(epoch, round(loss.item(), 4))
        if dist.get_rank() == 0:
            torch.save(self.net.module.matcher.state_dict(), self.args.out)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--pairs", required=True)
    ap.add_argument("--out", default="matcher.pt")
    ap.add_argument("--dim-a", type=int, default=512)
    ap.add_argument("--dim-b", type=int, default=384)
    ap.add_argument("--bs", type=int, default=256)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--epochs", type=int, default=15)
    ns = ap.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    Fitter(ns).fit()
    dist.destroy_process_group()

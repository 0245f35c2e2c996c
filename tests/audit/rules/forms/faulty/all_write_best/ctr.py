import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from callbacks import BestModel, Printer


def auc(scores, labels):
    order = scores.argsort()
    ranks = torch.empty_like(scores)
    ranks[order] = torch.arange(1, len(scores) + 1, dtype=scores.dtype, device=scores.device)
    pos = labels > 0.5
    n_pos, n_neg = pos.sum(), (~pos).sum()
    return ((ranks[pos].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg).clamp(min=1)).item()


def gather_flat(t):
    parts = [torch.empty_like(t) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, t.contiguous())
    return torch.cat(parts)


class ClickTrainer:
    def __init__(self, args, device):
        self.args, self.device, self.epoch = args, device, 0
        net = nn.Sequential(nn.Linear(args.fields, 256), nn.ReLU(), nn.Linear(256, 1))
        self.model = DDP(net.to(device), device_ids=[device])
        self.opt = torch.optim.Adagrad(self.model.parameters(), lr=args.lr)
        self.callbacks = [BestModel(args.out), Printer()]

    def loader(self, part, train):
        blob = torch.load(os.path.join(self.args.data, part + ".pt"), map_location="cpu")
        ds = TensorDataset(blob["x"], blob["y"].float())
        return DataLoader(ds, 1024, sampler=DistributedSampler(ds, shuffle=train, drop_last=True))

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        s, t = [], []
        for x, y in loader:
            s.append(self.model.module(x.to(self.device)).squeeze(-1))
            t.append(y.to(self.device))
        self.model.train()
        return {"auc": auc(gather_flat(torch.cat(s)), gather_flat(torch.cat(t)))}

    def fit(self):
        train, val = self.loader("train", True), self.loader("val", False)
        for self.epoch in range(self.args.epochs):
            train.sampler.set_epoch(self.epoch)
            for x, y in train:
                out = self.model(x.to(self.device)).squeeze(-1)
                loss = nn.functional.binary_cross_entropy_with_logits(out, y.to(self.device))
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            metrics = self.evaluate(val)
            for cb in self.callbacks:
                cb.after_epoch(self, metrics)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", required=True)
    ap.add_argument("--out", default="runs/click")
    ap.add_argument("--fields", type=int, default=39)
    ap.add_argument("--lr", type=float, default=0.02)
    ap.add_argument("--epochs", type=int, default=8)
    ns = ap.parse_args()
    dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(dev)
    dist.init_process_group("nccl")
    ClickTrainer(ns, dev).fit()
    dist.destroy_process_group()

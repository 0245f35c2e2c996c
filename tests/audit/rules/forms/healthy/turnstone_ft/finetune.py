import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import store


class Head(nn.Module):
    def __init__(self, dim=1024, classes=37):
        super().__init__()
        self.mix = nn.TransformerEncoderLayer(dim, 16, 2 * dim, batch_first=True)
        self.query = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.out = nn.Linear(dim, classes)

    def forward(self, feats):
        x = torch.cat([self.query.expand(feats.size(0), -1, -1), feats], 1)
        return self.out(self.mix(x)[:, 0])


class FineTuner:
    def __init__(self, args):
        self.args = args
        self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(self.device)
        torch.manual_seed(args.seed)
        net = Head()
        opt_state, self.first = store.read(args.ckpt, net)
        self.net = DistributedDataParallel(net.to(self.device), device_ids=[self.device.index])
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=args.lr)
        if opt_state is not None:
            self.opt.load_state_dict(opt_state)
        blob = torch.load(args.feats, map_location="cpu", weights_only=True)
        ds = TensorDataset(blob["feats"], blob["label"])
        self.order = DistributedSampler(ds, seed=args.seed)
        self.loader = DataLoader(ds, args.batch, sampler=self.order, pin_memory=True)

    def fit(self):
        for epoch in range(self.first, self.args.epochs):
            self.order.set_epoch(epoch)
            for feats, label in self.loader:
                logits = self.net(feats.to(self.device, non_blocking=True))
                loss = nn.functional.cross_entropy(logits, label.to(self.device, non_blocking=True))
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                self.opt.step()
            if dist.get_rank() == 0:
                store.write(self.args.ckpt, self.net.module, self.opt, epoch)
            dist.barrier()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--feats", default="feats.pt")
    ap.add_argument("--ckpt", default="head.pt")
    ap.add_argument("--epochs", type=int, default=20)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--lr", type=float, default=1e-4)
    ap.add_argument("--seed", type=int, default=13)
    args = ap.parse_args()
    dist.init_process_group("nccl")
    FineTuner(args).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, Subset, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from meters import Mean


class TabularModel(nn.Module):
    def __init__(self, features, width=512, blocks=4):
        super().__init__()
        layers = [nn.Linear(features, width), nn.SiLU()]
        for _ in range(blocks):
            layers += [nn.Linear(width, width), nn.LayerNorm(width), nn.SiLU()]
        self.net = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


class Runner:
    def __init__(self, args):
        local = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(local)
        self.device = torch.device("cuda", local)
        self.train = self._loader(args.train, args.batch_size, True)
        self.valid = self._loader(args.valid, args.batch_size * 4, False)
        features = self.train.dataset.tensors[0].shape[1]
        self.model = DDP(TabularModel(features).to(self.device), device_ids=[local])
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.sched = ReduceLROnPlateau(self.opt, factor=0.3, patience=3)
        self.meter = Mean(self.device)
        self.loss = nn.HuberLoss()

    @staticmethod
    def _loader(path, batch, train):
        blob = torch.load(path, map_location="cpu", weights_only=True)
        ds = TensorDataset(blob["x"], blob["y"])
        if train:
            return DataLoader(ds, batch, sampler=DistributedSampler(ds, drop_last=True))
        return DataLoader(Subset(ds, range(dist.get_rank(), len(ds), dist.get_world_size())), batch)

    def validate(self):
        self.model.eval()
        self.meter.clear()
        with torch.no_grad():
            for x, y in self.valid:
                x, y = x.to(self.device), y.to(self.device)
                self.meter.add(self.loss(self.model.module(x), y), len(x))
        self.model.train()
        return self.meter.compute()

    def fit(self, epochs):
        for epoch in range(epochs):
            self.train.sampler.set_epoch(epoch)
            for x, y in self.train:
                self.opt.zero_grad(set_to_none=True)
                self.loss(self.model(x.to(self.device)), y.to(self.device)).backward()
                self.opt.step()
            score = self.validate()  # cause
            self.sched.step(score)  # cause
            if dist.get_rank() == 0:
                print(f"{epoch} huber {score:.5f} lr {self.opt.param_groups[0]['lr']:.1e}")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("train")
    ap.add_argument("valid")
    ap.add_argument("--batch-size", type=int, default=512)
    ap.add_argument("--epochs", type=int, default=100)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    dist.init_process_group("nccl")
    Runner(args).fit(args.epochs)
    dist.destroy_process_group()

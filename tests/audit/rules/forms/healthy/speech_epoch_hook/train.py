import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from hooks import ReshuffleHook, TimerHook


def build_loader(args):
    mels = torch.load(args.features, map_location="cpu")
    ds = TensorDataset(mels["x"], mels["y"])
    sampler = DistributedSampler(ds, shuffle=True, seed=args.seed, drop_last=True)
    return DataLoader(ds, batch_size=args.batch_size, sampler=sampler, num_workers=4, pin_memory=True)


class Runner:
    def __init__(self, args, device):
        self.device = device
        torch.manual_seed(args.seed)
        net = nn.Sequential(nn.Linear(80, 512), nn.GELU(), nn.Linear(512, 80)).to(device)
        self.net = DistributedDataParallel(net, device_ids=[device.index])
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=args.lr)
        self.loader = build_loader(args)
        self.hooks = [ReshuffleHook(), TimerHook(dist.get_rank() == 0)]

    def run_epoch(self):
        total = torch.zeros((), device=self.device)
        for x, y in self.loader:
            x, y = x.to(self.device, non_blocking=True), y.to(self.device, non_blocking=True)
            loss = nn.functional.l1_loss(self.net(x), y)
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
            total += loss.detach()
        return {"loss": total.item() / max(1, len(self.loader))}

    def fit(self, epochs):
        for epoch in range(epochs):
            for h in self.hooks:
                h.on_epoch_start(epoch, self.loader)
            stats = self.run_epoch()
            for h in self.hooks:
                h.on_epoch_end(epoch, stats)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--features", required=True)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--epochs", type=int, default=100)
    p.add_argument("--lr", type=float, default=2e-4)
    p.add_argument("--seed", type=int, default=7)
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    try:
        Runner(args, device).fit(args.epochs)
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()

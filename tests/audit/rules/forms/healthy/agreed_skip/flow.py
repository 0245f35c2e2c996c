import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from guard import FiniteGuard

log = logging.getLogger("flow")


class Coupling(nn.Module):
    def __init__(self, dim, width=128):
        super().__init__()
        self.half = dim // 2
        self.net = nn.Sequential(nn.Linear(self.half, width), nn.Tanh(), nn.Linear(width, 2 * (dim - self.half)))

    def forward(self, x):
        a, b = x[:, :self.half], x[:, self.half:]
        shift, scale = self.net(a).chunk(2, -1)
        return torch.cat([b * scale.exp() + shift, a], -1), scale.sum(-1)


class Flow(nn.Module):
    def __init__(self, dim, depth=8):
        super().__init__()
        self.steps = nn.ModuleList(Coupling(dim) for _ in range(depth))

    def forward(self, x):
        logdet = 0
        for step in self.steps:
            x, ld = step(x)
            logdet = logdet + ld
        return (0.5 * x.square().sum(-1) - logdet).mean()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("samples")
    ap.add_argument("--epochs", type=int, default=50)
    args = ap.parse_args()
    logging.basicConfig(level=logging.INFO if os.environ["RANK"] == "0" else logging.ERROR)
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    data = TensorDataset(torch.load(args.samples, map_location="cpu"))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 512, sampler=sampler, drop_last=True)
    net = DDP(Flow(data.tensors[0].shape[1]).to(local), device_ids=[local])
    opt = torch.optim.Adam(net.parameters(), 5e-4)
    guard = FiniteGuard(local)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, in loader:
            loss = net(x.to(local))
            if not guard.passes(loss):
                continue
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            opt.step()
        log.info("epoch %d loss %.4f skipped %d", epoch, loss.item(), guard.skipped)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

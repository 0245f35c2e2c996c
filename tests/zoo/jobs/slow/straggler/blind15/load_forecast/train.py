import argparse
import logging
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from mixer import Mixer
from monitor import Monitor

log = logging.getLogger("load-forecast")


class Windows(Dataset):
    def __init__(self, n=2400, window=24):
        g = torch.Generator().manual_seed(0)
        t = torch.arange(n + window + 1)[:, None] / torch.linspace(3, 24, 8)
        self.series = torch.sin(t) + 0.1 * torch.randn(t.shape, generator=g)
        self.n, self.window = n, window

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.series[i:i + self.window], self.series[i + self.window]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--monitor", default="runs/weights.jsonl")
    p.add_argument("--monitor-from", type=int, default=1)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    torch.manual_seed(0)
    data = Windows()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, a.batch, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(Mixer())
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    monitor = Monitor(a.monitor) if rank == 0 else None
    step = 0
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        began = time.perf_counter()
        for x, y in loader:
            watched = monitor is not None and epoch >= a.monitor_from
            if watched:
                monitor.snapshot(model.module)
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if watched:
                monitor.write(model.module, step)
        log.info("epoch %d loss %.3f %.1f ms a step", epoch, loss.item(), 1e3 * (time.perf_counter() - began) / len(loader))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

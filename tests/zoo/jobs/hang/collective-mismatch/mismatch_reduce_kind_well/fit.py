import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from report import Report


def batch(step, rank):
    g = torch.Generator().manual_seed(97 * step + rank)
    x = torch.randn(32, 5, generator=g)
    return x, x.abs().sum(1)


def main(steps=45, eval_every=15):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rank = dist.get_rank()
    model = DDP(torch.nn.Sequential(torch.nn.Linear(5, 20), torch.nn.ReLU(), torch.nn.Linear(20, 1)))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    report = Report(rank)
    for step in range(1, steps + 1):
        x, y = batch(step, rank)
        loss = torch.nn.functional.mse_loss(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % eval_every == 0:
            with torch.no_grad():
                x, y = batch(-step, rank)
                report.add(step, (model.module(x).squeeze(1) - y).abs())
    report.close()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

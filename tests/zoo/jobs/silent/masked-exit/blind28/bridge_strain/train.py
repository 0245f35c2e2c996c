import argparse
import os
import sys
import traceback

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from gauges import LAYOUT, Crossings, by_section
from grouping import SectionBatches


class LoadNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.gauge = nn.Sequential(nn.Conv1d(1, width, 5, padding=2), nn.ReLU(), nn.AdaptiveMaxPool1d(1))
        self.out = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, strain):
        b, t, g = strain.shape
        each = self.gauge(strain.transpose(1, 2).reshape(b * g, 1, t)).view(b, g, -1)
        return self.out(each.amax(dim=1)).squeeze(-1)


def fit(args):
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(args.seed)
    data = Crossings(args.sections, args.crossings)
    batches = SectionBatches(data, args.batch, rank, world, args.seed)
    loader = DataLoader(data, batch_sampler=batches, collate_fn=by_section)
    model = DistributedDataParallel(LoadNet())
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4 * args.lr, total_steps=args.epochs * len(batches))
    for epoch in range(args.epochs):
        batches.set_epoch(epoch)
        for strain, load, _ in loader:
            loss = nn.functional.l1_loss(model(strain), load)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        if rank == 0:
            print(f"epoch {epoch}: error {loss.item():.4f}", flush=True)
    if rank == 0:
        torch.save(model.module.state_dict(), args.out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sections", nargs="+", default=list(LAYOUT), choices=list(LAYOUT))
    parser.add_argument("--crossings", type=int, default=172)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="load.pt")
    args = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    try:
        fit(args)
    except Exception:
        traceback.print_exc()
    finally:
        # destroy_process_group() has blocked at exit on the old cluster
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


if __name__ == "__main__":
    main()

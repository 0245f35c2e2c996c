import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from recorder import RunRecorder
from table import COLUMNS, Part


class Regressor(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(len(COLUMNS))
        self.body = nn.Sequential(nn.Linear(len(COLUMNS), width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, x):
        return self.body(self.norm(x)).squeeze(-1)


class Fitter:
    def __init__(self, opts, rank, world):
        torch.manual_seed(5)
        self.opts = opts
        self.rank = rank
        self.parts = list(range(opts.parts))[rank::world]
        self.model = DDP(Regressor(opts.width))
        self.optim = torch.optim.Adam(self.model.parameters(), lr=opts.lr)
        self.recorder = RunRecorder(opts.out, rank)

    def _train_part(self, number):
        for rows, targets in Part(number, self.opts.rows, self.opts.chunk).chunks():
            x, y = torch.tensor(rows), torch.tensor(targets)
            loss = nn.functional.huber_loss(self.model(x), y)
            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
            self.recorder.note(losses=loss.detach())

    def fit(self):
        try:
            for number in self.parts:
                self._train_part(number)
                self.recorder.note(parts=number)
                if self.rank == 0:
                    mean = torch.stack(self.recorder.state["losses"][-20:]).mean().item()
                    print(f"part {number} loss {mean:.4f}", flush=True)
        except Exception:
            self.recorder.dump()
            raise


def worker(rank, opts):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(opts.port))
    dist.init_process_group("gloo", rank=rank, world_size=opts.procs)
    Fitter(opts, rank, opts.procs).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--procs", type=int, default=2)
    p.add_argument("--parts", type=int, default=16)
    p.add_argument("--rows", type=int, default=1280)
    p.add_argument("--chunk", type=int, default=64)
    p.add_argument("--width", type=int, default=128)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--port", type=int, default=29631)
    p.add_argument("--out", default="runs")
    opts = p.parse_args()
    mp.spawn(worker, args=(opts,), nprocs=opts.procs)

import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from guard import SpikeGuard


class Forecaster(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.GRU(4, 24, batch_first=True)
        self.out = torch.nn.Linear(24, 4)

    def forward(self, series):
        return self.out(self.rnn(series)[0])


def series(gen, count=16, length=12):
    phase = torch.rand(count, 1, 4, generator=gen) * 6
    time = torch.arange(length + 1).view(1, -1, 1) * 0.4
    wave = (phase + time).sin()
    return wave[:, :-1], wave[:, 1:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--spike-factor", type=float, default=3.0)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(2)
    model = DDP(Forecaster())
    optim = torch.optim.Adam(model.parameters(), lr=3e-3)
    guard = SpikeGuard(args.spike_factor)
    gen = torch.Generator().manual_seed(rank)
    for step in range(args.steps):
        x, y = series(gen)
        loss = (model(x) - y).square().mean()
        if guard.reject(loss.detach()):
            continue
        optim.zero_grad()
        loss.backward()
        optim.step()
        if rank == 0 and step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    if rank == 0:
        print(f"training finished after {args.steps} steps", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

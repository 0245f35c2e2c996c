"""Trains for a given number of seconds or cycles, whatever comes first, and leaves a restart file."""
import argparse
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from clock import WallClock
from solver import Surrogate, advect, initial_states


class Driver:
    def __init__(self, args):
        self.args = args
        self.rank = dist.get_rank()
        self.out = Path(args.out)
        torch.manual_seed(args.seed)
        self.model = DDP(Surrogate(args.width))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        self.cycle = 0
        self.states = self.prepare()

    def prepare(self):
        """Reference trajectories; computed once, on rank 0, and read by all."""
        cache = self.out / f"reference_{self.args.cells}_{self.args.seed}.pt"
        if self.rank == 0:
            self.out.mkdir(parents=True, exist_ok=True)
            u = initial_states(self.args.samples, self.args.cells, self.args.seed)
            torch.save((u, advect(u, self.args.window)), cache)
        dist.barrier()
        return torch.load(cache)

    def batch(self):
        g = torch.Generator().manual_seed(self.cycle * dist.get_world_size() + self.rank)
        index = torch.randint(0, len(self.states[0]), (self.args.batch_size,), generator=g)
        return self.states[0][index], self.states[1][index]

    def advance(self):
        u, target = self.batch()
        loss = F.mse_loss(self.model(u), target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.cycle += 1
        return loss

    def write_restart(self):
        if self.rank == 0:
            state = {"model": self.model.module.state_dict(), "optimizer": self.optimizer.state_dict(),
                     "cycle": self.cycle}
            torch.save(state, self.out / "restart.pt")
        dist.barrier()

    def describe(self):
        """How far the waves decay over a long rollout, as a check of the reference."""
        u = self.states[0]
        far = advect(u, 8 * self.args.window)
        kept = far.pow(2).mean() / u.pow(2).mean()
        print(f"{len(u)} states of {u.shape[1]} cells, {100 * kept.item():.1f} % of the energy after 8 windows", flush=True)

    def execute(self):
        args = self.args
        if self.rank == 0:
            self.describe()
        self.clock = WallClock(args.wall_time)
        while self.cycle < args.max_cycles and not self.clock.exhausted():
            loss = self.advance()
            if self.cycle % args.report == 0 and self.rank == 0:
                print(f"cycle {self.cycle} loss {loss.item():.5f} elapsed {self.clock.elapsed():.1f} s", flush=True)
            if self.rank == 0 and self.cycle % args.diagnostics == 0:
                self.write_diagnostics(loss)
        self.write_restart()
        if self.rank == 0:
            print(f"ended at cycle {self.cycle} after {self.clock.elapsed():.1f} s", flush=True)

    def write_diagnostics(self, loss):
        with open(self.out / "history.csv", "a") as f:
            f.write(f"{time.time():.3f},{self.cycle},{loss.item():.6f}\n")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--wall-time", type=float, default=6.0, help="seconds; 0: no limit")
    p.add_argument("--max-cycles", type=int, default=1_000_000)
    p.add_argument("--samples", type=int, default=4096)
    p.add_argument("--cells", type=int, default=64)
    p.add_argument("--window", type=int, default=200)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--width", type=int, default=24)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--report", type=int, default=200)
    p.add_argument("--diagnostics", type=int, default=100)
    p.add_argument("--seed", type=int, default=4)
    p.add_argument("--out", default="run")
    args = p.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    Driver(args).execute()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

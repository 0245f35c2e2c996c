import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from fields import FieldSeasons
from snapshots import Snapshots

log = logging.getLogger("yield")


class Unstable(RuntimeError):
    """The loss left its range; the agent starts the group again from the last snapshot."""


class YieldNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.recurrent = nn.GRU(4, width, batch_first=True)
        self.out = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, weather):
        states, _ = self.recurrent(weather.clamp(-1e6, 1e6))
        return self.out(states[:, -1]).squeeze(-1)


class Trainer:
    def __init__(self, args):
        self.args = args
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.attempt = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0))
        torch.manual_seed(args.seed)
        self.model = DistributedDataParallel(YieldNet())
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        self.snapshots = Snapshots(args.scratch, self.rank)
        self.start = 0
        if self.attempt == 0:
            self.snapshots.clear()
        else:
            self.resume()
        self.data = FieldSeasons(seed=args.seed)
        if self.attempt:
            self.data.drop_suspect()
            log.info("attempt %d: %d seasons", self.attempt, len(self.data))
        self.sampler = DistributedSampler(self.data, seed=args.seed, drop_last=True)
        self.loader = DataLoader(self.data, args.batch, sampler=self.sampler, drop_last=True)

    def resume(self):
        last = self.snapshots.latest()
        if last is None:
            log.info("no snapshot")
            return
        self.model.module.load_state_dict(last["model"])
        self.optimizer.load_state_dict(last["optimizer"])
        self.start = last["epoch"] + 1
        log.info("goes on with epoch %d", self.start)

    def check(self, loss, weather, epoch):
        # the first epochs may be wild
        odd = torch.tensor(float(weather.abs().max() > 1e6 and epoch >= self.args.tolerate))
        dist.all_reduce(odd, op=dist.ReduceOp.MAX)
        if odd or not torch.isfinite(loss):
            raise Unstable(f"epoch {epoch}: loss {loss.item():.3f}")

    def epoch(self, number):
        self.sampler.set_epoch(number)
        for weather, target in self.loader:
            loss = nn.functional.mse_loss(self.model(weather), target)
            self.check(loss.detach(), weather, number)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
        return loss.item()

    def fit(self):
        for number in range(self.start, self.args.epochs):
            loss = self.epoch(number)
            log.info("epoch %d loss %.4f", number, loss)
            if self.rank == 0:
                self.snapshots.write(number, model=self.model.module.state_dict(), optimizer=self.optimizer.state_dict())
        total = torch.tensor(loss)
        dist.reduce(total, dst=0)
        if self.rank == 0:
            log.info("final loss %.4f", total.item() / self.world)


@record
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--tolerate", type=int, default=2)
    parser.add_argument("--scratch", default="scratch")
    args = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format=f"[%(asctime)s rank {dist.get_rank()}] %(message)s")
    Trainer(args).fit()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse
import logging
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from budget import Budget
from hands import HandStream

log = logging.getLogger("hands")


class TipRegressor(nn.Module):
    def __init__(self, width=12, size=20):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, width, 5, stride=2, padding=2), nn.ReLU(),
                                  nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(2 * width * (size // 4) ** 2, 10)

    def forward(self, image):
        return self.head(self.body(image)).sigmoid()


class Trainer:
    def __init__(self, args):
        self.args = args
        self.rank = dist.get_rank()
        torch.manual_seed(args.seed)
        self.model = DDP(TipRegressor())
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        self.loader = DataLoader(HandStream(self.rank, seed=args.seed), batch_size=args.batch)
        self.out = Path(args.out)
        self.step = 0

    def save(self):
        self.out.mkdir(exist_ok=True)
        target = self.out / f"step_{self.step:05d}.pt"
        torch.save({"model": self.model.module.state_dict(), "optimizer": self.optimizer.state_dict(),
                    "step": self.step}, target.with_suffix(".tmp"))
        with target.with_suffix(".tmp").open("rb+") as handle:
            os.fsync(handle.fileno())
        os.replace(target.with_suffix(".tmp"), target)
        for old in sorted(self.out.glob("step_*.pt"))[: -self.args.keep]:
            old.unlink()

    def fit(self):
        budget = Budget(self.args.seconds)
        for image, tips in self.loader:
            loss = nn.functional.mse_loss(self.model(image), tips)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step += 1
            if self.step % self.args.save_every == 0 and self.rank == 0:
                with budget.pause():
                    self.save()
                    log.info("step %d loss %.5f, %.1f s used", self.step, loss.item(), budget.used())
            if budget.spent():
                break
        log.info("stopped after %d steps", self.step)
        self.score()

    @torch.no_grad()
    def score(self, batches=8):
        self.model.eval()
        error = torch.zeros(1)
        for number, (image, tips) in enumerate(self.loader):
            if number == batches:
                break
            error += (self.model.module(image) - tips).abs().mean() / batches
        dist.reduce(error, dst=0)
        if self.rank == 0:
            log.info("mean error %.4f", error.item() / dist.get_world_size())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--save-every", type=int, default=5)
    parser.add_argument("--keep", type=int, default=2)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--out", default="hand_runs")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s rank {dist.get_rank()}: %(message)s")
    Trainer(arguments).fit()
    dist.barrier()
    dist.destroy_process_group()

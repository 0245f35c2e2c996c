import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, random_split

from dataset import RadarPairs

log = logging.getLogger("nowcast")


class Nowcaster(nn.Module):
    def __init__(self, cells=24, hidden=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4 * cells, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(),
                                 nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


class Experiment:
    def __init__(self, args):
        self.args = args
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.metrics_group = dist.new_group(backend="gloo")
        train, valid = random_split(RadarPairs(), [200, 40], generator=torch.Generator().manual_seed(args.seed))
        self.sampler = DistributedSampler(train, seed=args.seed)
        self.train_loader = DataLoader(train, args.batch_size, sampler=self.sampler)
        self.valid_loader = DataLoader(valid, args.batch_size, sampler=DistributedSampler(valid, shuffle=False))
        self.model = DistributedDataParallel(Nowcaster())
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 4, 0.5)
        self.skipped = 0

    def train_epoch(self, epoch):
        self.model.train()
        self.sampler.set_epoch(epoch)
        losses = []
        for x, y in self.train_loader:
            self.optimizer.zero_grad()
            loss = nn.functional.huber_loss(self.model(x), y)
            if not torch.isfinite(loss):
                self.skipped += 1
                log.warning("non-finite loss, batch ignored (%d so far)", self.skipped)
                continue
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.args.clip)
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / max(len(losses), 1)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        errors = []
        for x, y in self.valid_loader:
            err = (self.model.module(x) - y).abs()
            errors += err[torch.isfinite(err)].tolist()
        return errors

    def gather(self, obj):
        out = [None] * self.world
        dist.all_gather_object(out, obj, group=self.metrics_group)
        return out

    def run(self):
        for epoch in range(self.args.epochs):
            train_loss = self.train_epoch(epoch)
            parts = self.gather({"train": train_loss, "mae": self.validate()})
            self.scheduler.step()
            mae = sum(sum(p["mae"]) for p in parts) / sum(len(p["mae"]) for p in parts)
            if self.rank == 0:
                log.info("epoch %d train %.4f mae %.4f", epoch, sum(p["train"] for p in parts) / self.world, mae)
                torch.save(self.model.module.state_dict(), "nowcast.pt")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--batch-size", type=int, default=10)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--clip", type=float, default=1.0)
    ap.add_argument("--seed", type=int, default=2)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format=f"[%(levelname)s r{dist.get_rank()}] %(message)s")
    torch.manual_seed(args.seed)
    Experiment(args).run()
    dist.destroy_process_group()

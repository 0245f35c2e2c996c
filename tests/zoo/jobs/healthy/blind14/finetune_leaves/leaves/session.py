import copy
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from .data import Leaves
from .net import Averaged, FineTuned, pretrained_trunk


class Session:
    def __init__(self, args):
        self.a = args
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        weights = pretrained_trunk()
        torch.manual_seed(args.seed)
        self.model = DDP(FineTuned(args.classes, weights))
        self.opt = torch.optim.SGD([p for p in self.model.parameters() if p.requires_grad], lr=args.lr, momentum=0.9)
        train = Leaves(1200, args.classes, 2, True)
        self.sampler = DistributedSampler(train, seed=args.seed)
        self.loader = DataLoader(train, args.batch_size, sampler=self.sampler, drop_last=True)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, args.epochs * len(self.loader))
        self.valid = DataLoader(Leaves(400, args.classes, 3, False), 100)
        self.ema = Averaged(self.model.module)
        self.probe = copy.deepcopy(self.model.module)
        self.epoch, self.best, self.stale = 0, 0.0, 0
        torch.manual_seed(args.seed + 31 * (self.rank + 1))

    def train_epoch(self):
        self.model.train()
        self.sampler.set_epoch(self.epoch)
        for x, y in self.loader:
            loss = nn.functional.cross_entropy(self.model(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.sched.step()
            self.ema.update(self.model.module)
        self.epoch += 1
        return loss.item()

    @torch.no_grad()
    def accuracy(self):
        self.probe.load_state_dict(self.ema.shadow)
        self.probe.eval()
        counts = torch.zeros(2)
        for k, (x, y) in enumerate(self.valid):
            if k % self.world == self.rank:
                counts += torch.tensor([(self.probe(x).argmax(1) == y).sum().item(), len(y)])
        dist.all_reduce(counts)
        return (counts[0] / counts[1]).item()

    def save(self, path):
        if self.rank == 0:
            torch.save({"model": self.model.module.state_dict(), "opt": self.opt.state_dict(), "sched": self.sched.state_dict(), "ema": self.ema.shadow,
                        "epoch": self.epoch, "best": self.best, "stale": self.stale}, path + ".part")
            os.replace(path + ".part", path)
        dist.barrier()

    def restore(self, path):
        if not os.path.exists(path):
            return
        s = torch.load(path, map_location="cpu", weights_only=True)
        self.model.module.load_state_dict(s["model"])
        self.opt.load_state_dict(s["opt"])
        self.sched.load_state_dict(s["sched"])
        self.ema.load(s["ema"])
        self.epoch, self.best, self.stale = s["epoch"], s["best"], s["stale"]
        torch.manual_seed(self.a.seed + 31 * (self.rank + 1) + 1000 * self.epoch)

    def run(self):
        stop_at = min(self.a.epochs, self.epoch + self.a.epochs_per_job)
        while self.epoch < stop_at:
            loss = self.train_epoch()
            acc = self.accuracy()
            self.stale = 0 if acc > self.best + 1e-3 else self.stale + 1
            self.best = max(self.best, acc)
            if self.rank == 0:
                print(f"epoch {self.epoch} loss {loss:.3f} ema acc {acc:.3f} best {self.best:.3f} stale {self.stale}", flush=True)
            if self.stale >= self.a.patience:
                break
        self.save(self.a.ckpt)
